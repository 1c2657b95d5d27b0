package main

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/postern-id/postern/internal/document"
	"github.com/postern-id/postern/nodes"
)

// schemasPath is the path of the published schemas, {name}.json. Editors read them for
// completion. They are public, so pages of any origin may read them too.
const schemasPath = "/schemas/"

// publishedSchemas are the schemas of hand-written files.
func publishedSchemas() []string {
	return append(slices.Sorted(maps.Keys(fixedSchemas())), "flow")
}

// schemaPages serves the published schemas. Each is built on its first request.
func schemaPages() http.Handler {
	pages := map[string]func() (*document.Document, error){}
	for _, name := range publishedSchemas() {
		pages[name+".json"] = sync.OnceValues(func() (*document.Document, error) {
			text, err := schemaText(name, nodes.Kinds(nodes.Deps{}))
			return document.New("application/schema+json", text), err
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page := pages[strings.TrimPrefix(r.URL.Path, schemasPath)]
		if page == nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "405: schemas are read-only", http.StatusMethodNotAllowed)
			return
		}
		schema, err := page()
		if err != nil {
			http.Error(w, "500: the schema cannot be written", http.StatusInternalServerError)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		schema.Serve(w, r, "public, max-age=3600")
	})
}
