package server

import (
	"net/http"
	"strings"
)

// A server can be a part of a site: its public URL then has a path, the base, such as https://example.com/auth.
// A proxy may remove the base from the paths of requests or keep it, and clients find the metadata of RFC 8414 §3.1
// and RFC 9728 §3.1 with the base behind /.well-known/oauth-authorization-server.

// wellKnown precedes the names of well-known addresses (RFC 8615).
const wellKnown = "/.well-known/"

// withoutBase returns the request without the base, if the proxy has kept it and the server has that path.
func (s *server) withoutBase(r *http.Request, routes func(*http.Request) bool) *http.Request {
	path, has := cutBase(s.public.Path, r.URL.Path)
	if !has || path == "/" && routes(r) { // the base is itself a path of the API, and the proxy has removed it
		return r
	}
	inside, address := *r, *r.URL
	inside.URL, address.Path, address.RawPath = &address, path, ""
	if path == "/" || routes(&inside) {
		return &inside
	}
	return r
}

// cutBase returns a path without the base; ok is false if the path does not have it.
func cutBase(base, path string) (without string, ok bool) {
	if base == "" {
		return "", false
	}
	before := ""
	if name, found := strings.CutPrefix(path, wellKnown); found {
		name, below, _ := strings.Cut(name, "/")
		before, path = wellKnown+name, "/"+below
	}
	rest, ok := strings.CutPrefix(path, base)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	if before == "" && rest == "" {
		rest = "/"
	}
	return before + rest, true
}
