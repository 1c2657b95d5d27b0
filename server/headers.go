package server

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// setSecurityHeaders sets the header fields of every reply, pages included. Pages of other origins
// cannot embed a reply; requests with CORS are not affected.
func (s *server) setSecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if s.hsts {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

// hardenReply sets the header fields of the API's own replies: no caching, no loading of resources,
// no framing.
func hardenReply(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
}

// isPublicHTTPS reports whether browsers reach the server over https under its own name. On
// localhost, Strict-Transport-Security would apply to all ports, and so to a developer's other
// servers.
func isPublicHTTPS(public *url.URL) bool {
	host := strings.ToLower(public.Hostname())
	return public.Scheme == "https" && host != "localhost" && !strings.HasSuffix(host, ".localhost") && net.ParseIP(host) == nil
}
