// Package examples holds small clients of Postern that show how it is used.
//
// Try is a page that drives the flows and the passkey endpoints of one
// application from a browser. It has no build step: what is in try/ is what
// the browser runs.
package examples

import (
	"embed"
	"encoding/json"
	"net/http"
	"path"
)

//go:embed try
var files embed.FS

// tryPolicy lets the page load its own scripts and styles and talk to its own
// origin, and nothing else. connect-src is also what keeps a link with ?api=
// from sending what a person enters to somebody else's server.
const tryPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// Try serves the page under /try/, for the application of the given id, which
// the page reads from /try/config.json. Paths are taken as they come: mount it
// without stripping a prefix.
func Try(applicationID string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /try/{$}", file("index.html"))
	for _, name := range []string{"try.css", "try.js", "step.js", "passkey.js", "wire.js", "dom.js"} {
		mux.HandleFunc("GET /try/"+name, file(name))
	}
	mux.HandleFunc("GET /try/config.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		// A client that is gone is the only way for this to fail.
		_ = json.NewEncoder(w).Encode(map[string]string{"applicationId": applicationID})
	})
	return guard(mux)
}

// file serves one file of try/. Its type is set rather than guessed: what the
// system's MIME table says of .js may be something that browsers refuse to run.
func file(name string) http.HandlerFunc {
	types := map[string]string{".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
	contentType := types[path.Ext(name)] + "; charset=utf-8"
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		http.ServeFileFS(w, r, files, "try/"+name)
	}
}

// guard sets the headers of every reply, refusals among them.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", tryPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		next.ServeHTTP(w, r)
	})
}
