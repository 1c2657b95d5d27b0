package gate

import (
	"net/http"
	"slices"
	"strings"
)

// AtRoot also serves the pages at the root: /signin is /gate/signin. All other requests go to the
// server unchanged, so that the pages call the API at their own origin.
func AtRoot(server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		if name != "" && !slices.Contains(pageNames(), name) && !strings.HasPrefix(name, "files/") {
			server.ServeHTTP(w, r)
			return
		}
		inside := r.Clone(r.Context())
		inside.URL.Path, inside.URL.RawPath = root+name, ""
		server.ServeHTTP(w, inside)
	})
}
