package console

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCheckerIsServed(t *testing.T) {
	var c checker
	files := fstest.MapFS{"checker.wasm.gz": {Data: packed(t, "program")}, "wasm_exec.js": {Data: []byte("start")}}
	if err := c.read(files); err != nil {
		t.Fatal(err)
	}
	folder := strings.TrimSuffix(c.address(), "worker.js")
	for name, tt := range map[string]struct {
		path, accept string
		status       int
		kind, body   string
	}{
		"the program":       {folder + "checker.wasm", "", 200, "application/wasm", "program"},
		"the worker":        {folder + "worker.js", "", 200, "text/javascript; charset=utf-8", "start\n// The worker"},
		"compressed":        {folder + "checker.wasm", "gzip", 200, "application/wasm", "\x1f\x8b"},
		"of another build":  {"checker/1234/checker.wasm", "", 404, "text/plain; charset=utf-8", "404"},
		"a file outside":    {folder + "../console.go", "", 404, "text/plain; charset=utf-8", "404"},
		"the folder itself": {folder, "", 404, "text/plain; charset=utf-8", "404"},
	} {
		r := httptest.NewRequest("GET", "/console/"+tt.path, nil)
		r.Header.Set("Accept-Encoding", tt.accept)
		rec := httptest.NewRecorder()
		c.serve(rec, r, tt.path)
		if rec.Code != tt.status || rec.Header().Get("Content-Type") != tt.kind || !strings.HasPrefix(rec.Body.String(), tt.body) {
			t.Errorf("%s: %d %v %.40q", name, rec.Code, rec.Header(), rec.Body)
		}
		if tt.status == http.StatusOK && (rec.Header().Get("Content-Security-Policy") != workerPolicy || rec.Header().Get("Cache-Control") != forever) {
			t.Errorf("%s: %v", name, rec.Header())
		}
	}
}

// Without the built files there is no address, and with damaged ones no console.
func TestCheckerIsOptional(t *testing.T) {
	var c checker
	if err := c.read(fstest.MapFS{"wasm/built/.gitignore": {}}); err != nil || c.address() != "" {
		t.Errorf("without files: %q, %v", c.address(), err)
	}
	for name, files := range map[string]fstest.MapFS{
		"no gzip":      {"checker.wasm.gz": {Data: []byte("program")}, "wasm_exec.js": {}},
		"one of two":   {"checker.wasm.gz": {Data: packed(t, "program")}},
		"a short file": {"checker.wasm.gz": {Data: []byte("\x1f\x8b")}, "wasm_exec.js": {}},
	} {
		if err := c.read(files); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// While the checker is being built, the page names that state; pages after that name the checker. One that is
// copied into the folder piece by piece, or damaged, is not served.
func TestCheckerThatIsBuiltLater(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "checker")
	h := New(Options{PublicURL: "https://example.com", Checker: dir})
	address := func() string {
		return between(get(h, "GET", "/console/flows/new").Body.String(), `<meta name="checker" content="`, `"`)
	}
	for _, step := range []func() error{
		func() error { return nil },
		func() error { return os.Mkdir(dir, 0o700) },
		func() error { return os.WriteFile(filepath.Join(dir, "checker.wasm.gz"), packed(t, "program"), 0o600) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		if got := address(); got != "pending" {
			t.Errorf("the address is %q", got)
		}
	}
	if rec := get(h, "GET", "/console/checker/checker.wasm"); rec.Code != http.StatusNotFound {
		t.Errorf("a file of the unfinished checker: %d", rec.Code)
	}
	if err := os.WriteFile(filepath.Join(dir, "wasm_exec.js"), []byte("start"), 0o600); err != nil {
		t.Fatal(err)
	}
	if rec := get(h, "GET", "/console/"+address()); rec.Code != http.StatusOK || !strings.HasPrefix(rec.Body.String(), "start\n") {
		t.Errorf("the worker: %d %.40q", rec.Code, rec.Body)
	}
}
