// Package examples contains small clients of Postern that show how to use it.
//
// Try is a page that runs the flows and calls the passkey endpoints of one application in a
// browser. It has no build step: the browser runs the files in try/ as they are.
package examples

import (
	"embed"
	"encoding/json"
	"io"
	"net/http"
	"path"

	"github.com/postern-id/postern/internal/design"
)

//go:embed try
var files embed.FS

// tryPolicy lets the page load its own scripts and styles and connect to its own origin
// only. connect-src also prevents a link with ?api= from sending user input to another
// server.
const tryPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// Try serves the page under /try/ for the application with the given id, which the page
// reads from /try/config.json. With mailbox it links to /try/mail, which the caller serves.
// It matches full paths: mount it without stripping a prefix.
func Try(applicationID string, mailbox bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /try/{$}", file("index.html"))
	for _, name := range []string{"try.css", "try.js", "step.js", "passkey.js", "wire.js", "dom.js"} {
		mux.HandleFunc("GET /try/"+name, file(name))
	}
	mux.HandleFunc("GET /try/design.css", shared("text/css; charset=utf-8", design.Compatible()))
	mux.HandleFunc("GET /try/icon.svg", shared("image/svg+xml", design.Favicon()))
	mux.HandleFunc("GET /try/config.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		// It fails only for a disconnected client.
		_ = json.NewEncoder(w).Encode(map[string]any{"applicationId": applicationID, "mailbox": mailbox})
	})
	return guard(mux)
}

// file serves one file of try/. It sets the content type, because the system's MIME table
// may have a type for .js that browsers refuse to run.
func file(name string) http.HandlerFunc {
	types := map[string]string{".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
	contentType := types[path.Ext(name)] + "; charset=utf-8"
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		http.ServeFileFS(w, r, files, "try/"+name)
	}
}

// shared serves a part of the design of all pages.
func shared(contentType, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, text) // it fails only for a disconnected client
	}
}

// guard sets the security headers of every response, errors included.
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
