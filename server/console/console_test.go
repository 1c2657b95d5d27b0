package console

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestConsole(t *testing.T) {
	h := New(Options{PublicURL: "https://example.com/id"})
	page := get(h, "GET", "/console")
	asset := between(page.Body.String(), `src="./`, `"`)
	for name, tt := range map[string]struct {
		method, path string
		status       int
		caching      string
		contains     string
	}{
		"the page":           {"GET", "/console", 200, "no-store", `<base href="/id/console/">`},
		"a page below it":    {"GET", "/console/users/7", 200, "no-store", `<div id="root">`},
		"HEAD":               {"HEAD", "/console", 200, "no-store", ""},
		"a file":             {"GET", "/console/" + asset, 200, "public, max-age=31536000, immutable", "Skip to content"},
		"a missing file":     {"GET", "/console/assets/absent.js", 404, "", "404"},
		"the files' folder":  {"GET", "/console/assets/", 404, "", "404"},
		"outside the folder": {"GET", "/console/assets/../index.html", 404, "", "404"},
		"another method":     {"POST", "/console", 405, "", ""},
	} {
		rec := get(h, tt.method, tt.path)
		if rec.Code != tt.status || rec.Header().Get("Cache-Control") != tt.caching || !strings.Contains(rec.Body.String(), tt.contains) || rec.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", name, rec.Code, rec.Header())
		}
	}
}

// The nonce of the policy is that of the page, and another one in each reply. No script runs that is
// not a file.
func TestPolicy(t *testing.T) {
	h := New(Options{PublicURL: "https://example.com"})
	seen := map[string]bool{}
	for range 3 {
		rec := get(h, "GET", "/console")
		nonce := between(rec.Body.String(), `nonce="`, `"`)
		policy := rec.Header().Get("Content-Security-Policy")
		if len(nonce) < 20 || seen[nonce] || !strings.Contains(policy, "style-src 'self' 'nonce-"+nonce+"';") {
			t.Errorf("the nonce is %q, and the policy %s", nonce, policy)
		}
		seen[nonce] = true
		for _, directive := range []string{"default-src 'none'", "script-src 'self';", "worker-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(policy, directive) {
				t.Errorf("%s lacks %s", policy, directive)
			}
		}
	}
}

// The built files are those of the source.
func TestBuiltFilesAreCurrent(t *testing.T) {
	if _, err := os.Stat("web/node_modules/vite"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("vite is not there: run `make npm`")
		}
		t.Skip("vite is not there: run `make npm`")
	}
	out := t.TempDir()
	for _, args := range [][]string{{"node_modules/typescript/bin/tsc", "--noEmit"}, {"node_modules/vite/bin/vite.js", "build", "--outDir", out}} {
		cmd := exec.CommandContext(t.Context(), "node", args...)
		cmd.Dir = "web"
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, said)
		}
	}
	want, got := contents(t, out), contents(t, "dist")
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("dist/%s is not what the source builds: run `make console`", name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("dist has %d files, and the source builds %d: run `make console`", len(got), len(want))
	}
}

// The scripts that the browser loads for every page are small.
func TestInitialScriptsAreSmall(t *testing.T) {
	c := New(Options{}).(*console)
	total := 0
	for _, asset := range regexp.MustCompile(`(?:src|modulepreload" crossorigin href)="\./([^"]+\.js)"`).FindAllStringSubmatch(string(c.page()), -1) {
		r := httptest.NewRequest("GET", "/console/"+asset[1], nil)
		r.Header.Set("Accept-Encoding", "gzip")
		rec := httptest.NewRecorder()
		c.ServeHTTP(rec, r)
		total += rec.Body.Len()
	}
	if total > 260_000 || total < 150_000 {
		t.Errorf("the scripts have %d bytes", total)
	}
}

func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func get(h http.Handler, method, path string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(method, path, nil))
	return rec
}

// between returns the text after the first mark up to the next end.
func between(text, mark, end string) string {
	_, rest, _ := strings.Cut(text, mark)
	found, _, _ := strings.Cut(rest, end)
	return found
}
