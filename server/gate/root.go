package gate

import (
	"net/http"
	"slices"
	"strings"
)

// AtRoot serves the pages at the root as well: /signin is /gate/signin. Everything
// else is left to the server as it comes, so that the pages call the API at the
// origin they are at.
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
