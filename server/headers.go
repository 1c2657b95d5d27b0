package server

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// setSecurityHeaders sets the header fields of every reply, pages included. Pages of other origins
// cannot embed a reply; requests with CORS are not affected.
func setSecurityHeaders(next http.Handler, hsts bool) http.Handler {
	h := http.Header{
		"X-Content-Type-Options":       {"nosniff"},
		"Referrer-Policy":              {"no-referrer"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
	}
	if hsts {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	fields := listFields(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fields.set(w.Header())
		next.ServeHTTP(w, r)
	})
}

// fieldList contains header fields of many replies. Iterating over it costs less than over a map.
type fieldList []headerField

type headerField struct {
	name   string
	values []string
}

func listFields(h http.Header) (list fieldList) {
	for name, values := range h {
		list = append(list, headerField{name, values})
	}
	return list
}

// set sets the fields of a reply. Replies share the values: nothing changes a value in place.
func (l fieldList) set(h http.Header) {
	for _, f := range l {
		h[f.name] = f.values
	}
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
