package examples_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/examples"
	"github.com/postern-id/postern/internal/datatest"
)

func get(t *testing.T, method, path string) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	examples.Try("app-1", true).ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTryServesEachFileWithItsType(t *testing.T) {
	entries, err := os.ReadDir("try")
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
	for _, entry := range entries {
		path := "/try/" + strings.TrimSuffix(entry.Name(), "index.html")
		r := get(t, "GET", path)
		want := datatest.ReadFile(t, filepath.Join("try", entry.Name()))
		if r.StatusCode != http.StatusOK || body(t, r) != string(want) {
			t.Errorf("GET %s: status %d, or other bytes than %s", path, r.StatusCode, entry.Name())
		}
		if got := r.Header.Get("Content-Type"); got != types[filepath.Ext(entry.Name())] {
			t.Errorf("GET %s: Content-Type %q", path, got)
		}
	}
}

func TestTryNamesItsApplication(t *testing.T) {
	r := get(t, "GET", "/try/config.json")
	var config map[string]any
	datatest.Unmarshal(t, []byte(body(t, r)), &config)
	if len(config) != 2 || config["applicationId"] != "app-1" || config["mailbox"] != true {
		t.Errorf("config.json is %v", config)
	}
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
}

func TestTryGuardsEveryReply(t *testing.T) {
	want := map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
		"X-Content-Type-Options":  "nosniff",
		"Referrer-Policy":         "no-referrer",
	}
	for _, test := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/try/", 200},
		{"HEAD", "/try/", 200},
		{"GET", "/try/try.js", 200},
		{"GET", "/try/config.json", 200},
		{"GET", "/try/nothing", 404},
		{"GET", "/try/index.html", 404},
		{"GET", "/try/../examples.go", 307},
		{"GET", "/", 404},
		{"POST", "/try/", 405},
	} {
		r := get(t, test.method, test.path)
		if r.StatusCode != test.status {
			t.Errorf("%s %s: status %d, want %d", test.method, test.path, r.StatusCode, test.status)
		}
		for name, value := range want {
			if got := r.Header.Get(name); got != value {
				t.Errorf("%s %s: %s is %q", test.method, test.path, name, got)
			}
		}
	}
}

// The policy forbids inline code and foreign resources; a page that used them would fail in
// the browser only.
func TestTryWorksUnderItsPolicy(t *testing.T) {
	paths, err := filepath.Glob("try/*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files: %v", err)
	}
	forbidden := regexp.MustCompile(`<style|style=|<script>|<script [^>]*>[^<]|\son[a-z]+=|(src|href)="(https?:)?//|@import|url\(|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function`)
	size := 0
	for _, path := range paths {
		text := datatest.ReadFile(t, path)
		size += len(text)
		if found := forbidden.Find(text); found != nil {
			t.Errorf("%s contains %q", path, found)
		}
	}
	if size > 32_000 {
		t.Errorf("the page has %d bytes; it is meant to be read, keep it below 32,000", size)
	}
}
