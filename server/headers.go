package server

import (
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// setSecurityHeaders sets the header fields of every reply, pages included. Pages of other origins
// cannot embed a reply; requests with CORS are not affected.
func setSecurityHeaders(next http.Handler, hsts bool) http.Handler {
	fields := http.Header{
		"X-Content-Type-Options":       {"nosniff"},
		"Referrer-Policy":              {"no-referrer"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
	}
	if hsts {
		fields.Set("Strict-Transport-Security", "max-age=31536000")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), fields) // replies share the values: nothing changes a value in place
		next.ServeHTTP(w, r)
	})
}

// hardenedFields returns the header fields of the API's own replies: no caching, no loading of resources,
// no framing.
func hardenedFields() http.Header {
	return http.Header{
		"Cache-Control":           {"no-store"},
		"Content-Security-Policy": {"default-src 'none'; frame-ancestors 'none'"},
	}
}

// isPublicHTTPS reports whether browsers reach the server over https under its own name. On
// localhost, Strict-Transport-Security would apply to all ports, and so to a developer's other
// servers.
func isPublicHTTPS(public *url.URL) bool {
	host := strings.ToLower(public.Hostname())
	return public.Scheme == "https" && host != "localhost" && !strings.HasSuffix(host, ".localhost") && net.ParseIP(host) == nil
}
