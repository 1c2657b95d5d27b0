package server

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// setSecurityHeaders sets the headers that every reply has, pages among them.
func (s *server) setSecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		if s.hsts {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

// hardenReply sets the headers of the API's own replies: none is for a cache,
// and none is a document that loads something or may be framed.
func hardenReply(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
}

// publicHTTPS reports whether browsers reach the server by https under a name
// of its own. On localhost Strict-Transport-Security would bind every other
// port too, and with it whatever else a developer runs there.
func publicHTTPS(base string) bool {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "https" {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return host != "localhost" && !strings.HasSuffix(host, ".localhost") && net.ParseIP(host) == nil
}

// sitePath is the path under which the server is reached; "" if it has a site
// of its own.
func sitePath(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(u.EscapedPath(), "/")
}
