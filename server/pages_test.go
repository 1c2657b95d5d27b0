package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/postern-id/postern/server"
)

// What pages refuse in plain text is refused as the API does; what they have made
// themselves stays.
func TestRefusalsOfPages(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /pages/one", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("one")) })
	mux.HandleFunc("/pages/html", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte("<p>not here"))
	})
	mux.HandleFunc("/pages/broken", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the disk is on fire", http.StatusInternalServerError)
	})
	w := newPasskeyFixture(t, func(o *server.Options) { o.Pages = map[string]http.Handler{"/pages/": mux} })

	if rec := w.do("GET", "/pages/one", ""); rec.Code != 200 || rec.Body.String() != "one" {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	if rec := w.do("GET", "/pages/html", ""); rec.Code != 404 || rec.Body.String() != "<p>not here" {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	fails(t, w.do("GET", "/pages/two", ""), 404, "not_found")
	rec := w.do("POST", "/pages/one", "")
	fails(t, rec, 405, "method_not_allowed")
	if allow := rec.Header().Get("Allow"); allow != "GET, HEAD" {
		t.Errorf("Allow: %q", allow)
	}
	rec = w.do("GET", "/pages/broken", "")
	fails(t, rec, 500, "internal_error")
	if strings.Contains(rec.Body.String(), "fire") || rec.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%v %s", rec.Header(), rec.Body)
	}
}
