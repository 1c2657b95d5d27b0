package gate

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const accountApp = "01900000-0000-7000-8000-000000000001"

func get(t *testing.T, method, path string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	New(Options{AccountApplicationID: accountApp}).ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestEveryReplyIsGuarded(t *testing.T) {
	version, _ := prepareFiles(nil)
	for _, test := range []struct {
		method, path string
		status       int
		caching      string
	}{
		{"GET", "/gate", 307, "no-cache"},
		{"GET", "/gate/", 307, "no-cache"},
		{"GET", "/gate/signin", 200, "no-cache"},
		{"HEAD", "/gate/signin", 200, "no-cache"},
		{"GET", "/gate/signup", 200, "no-cache"},
		{"GET", "/gate/recover", 200, "no-cache"},
		{"GET", "/gate/consent", 200, "no-cache"},
		{"GET", "/gate/error", 400, "no-store"},
		{"HEAD", "/gate/error?error=access_denied", 400, "no-store"},
		{"GET", "/gate/signout", 200, "no-cache"},
		{"GET", "/gate/signedout", 200, "no-cache"},
		{"GET", "/gate/account", 200, "no-cache"},
		{"GET", "/gate/lock", 200, "no-cache"},
		{"GET", "/gate/preview", 200, "no-cache"},
		{"GET", "/gate/callback?code=1&state=2", 200, "no-store"},
		{"GET", "/gate/signin/", 404, "no-store"},
		{"GET", "/gate/absent", 404, "no-store"},
		{"GET", "/gate/index.html", 404, "no-store"},
		{"GET", "/gate/files/" + version + "/main.js", 200, forever},
		{"GET", "/gate/files/0123456789ab/main.js", 200, "no-store"},
		{"GET", "/gate/files/" + version + "/index.html", 404, "no-store"},
		{"GET", "/gate/files/" + version + "/../gate.go", 404, "no-store"},
		{"GET", "/gate/files/main.js", 404, "no-store"},
		{"POST", "/gate/signin", 405, ""},
	} {
		r := get(t, test.method, test.path)
		if r.StatusCode != test.status || r.Header.Get("Cache-Control") != test.caching {
			t.Errorf("%s %s: status %d, Cache-Control %q, want %d, %q", test.method, test.path, r.StatusCode, r.Header.Get("Cache-Control"), test.status, test.caching)
		}
		expected := policy
		if test.path == "/gate/preview" {
			expected = previewPolicy
		}
		for name, want := range map[string]string{
			"Content-Security-Policy":      expected,
			"Permissions-Policy":           features,
			"X-Content-Type-Options":       "nosniff",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s %s: %s is %q", test.method, test.path, name, got)
			}
		}
		if test.method == "HEAD" && body(t, r.Body) != "" {
			t.Errorf("HEAD %s has a body", test.path)
		}
	}
}

func TestPolicyIsClosed(t *testing.T) {
	for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "connect-src 'self'", "script-src 'self'", "require-trusted-types-for 'script'"} {
		if !slices.Contains(strings.Split(policy, "; "), want) {
			t.Errorf("the policy lacks %q", want)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
		t.Errorf("the policy is open: %s", policy)
	}
}

func TestAccountLinkIsRelative(t *testing.T) {
	for path, want := range map[string]string{"/gate": "gate/account", "/gate/": "account"} {
		if got := get(t, "GET", path).Header.Get("Location"); got != want {
			t.Errorf("%s leads to %q, want %q", path, got, want)
		}
	}
}

func TestPagesNameWhatTheyLoad(t *testing.T) {
	for path, up := range map[string]string{
		"/gate/account": "", "/gate/nothing": "", "/gate/a/b": "../", "/gate/a/b/": "../../",
		"/gate/" + strings.Repeat("/", 1000): strings.Repeat("../", 8),
	} {
		page := body(t, get(t, "GET", path).Body)
		if !strings.Contains(page, `data-account="`+accountApp+`"`) {
			t.Errorf("%s does not name the application of accounts", path)
		}
		loaded := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(page, -1)
		if len(loaded) < 5 {
			t.Errorf("%s loads %q", path, loaded)
		}
		for _, match := range loaded {
			below, ok := strings.CutPrefix(match[1], up+"files/")
			if !ok {
				t.Errorf("%s loads %s, want it below %sfiles/", path, match[1], up)
			}
			if r := get(t, "GET", "/gate/files/"+below); r.StatusCode != 200 || r.Header.Get("Cache-Control") != forever {
				t.Errorf("%s loads %s: status %d, Cache-Control %q", path, match[1], r.StatusCode, r.Header.Get("Cache-Control"))
			}
		}
	}
}

func TestFilesAreTypedPackedAndRevalidated(t *testing.T) {
	version, files := prepareFiles(nil)
	types := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
	texts := sources(nil)
	for name := range files {
		want := texts[name]
		path := "/gate/files/" + version + "/" + name
		plain, packed := get(t, "GET", path), get(t, "GET", path, "Accept-Encoding", "br;q=1.0, gzip;q=0.8")
		if got := plain.Header.Get("Content-Type"); got != types[filepath.Ext(name)] {
			t.Errorf("%s is of type %q", name, got)
		}
		if body(t, plain.Body) != string(want) {
			t.Errorf("%s has other bytes than its source", name)
		}
		unpacked, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if packed.Header.Get("Content-Encoding") != "gzip" || body(t, unpacked) != string(want) {
			t.Errorf("%s has other bytes than its source when it is packed", name)
		}
		if plain.Header.Get("ETag") == packed.Header.Get("ETag") || plain.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: caches cannot tell its encodings apart", name)
		}
		if r := get(t, "GET", path, "If-None-Match", plain.Header.Get("ETag")); r.StatusCode != http.StatusNotModified {
			t.Errorf("%s: status %d for one who has it", name, r.StatusCode)
		}
	}
}

// A sign-in loads at most 30 KB of scripts.
func TestSignInLoadsLittle(t *testing.T) {
	const most = 30 << 10
	version, _ := prepareFiles(nil)
	size, loaded := 0, map[string]bool{}
	var load func(name string)
	load = func(name string) {
		if loaded[name] {
			return
		}
		loaded[name] = true
		size += len(body(t, get(t, "GET", "/gate/files/"+version+"/"+name, "Accept-Encoding", "gzip").Body))
		for _, match := range regexp.MustCompile(`(?m)^(?:import|export) .*from "\./(.+)"`).FindAllStringSubmatch(string(sources(nil)[name]), -1) {
			load(match[1])
		}
	}
	for _, name := range append(coreModules(), "main.js", "run.js", "de.js") { // the longest texts
		load(name)
	}
	if len(loaded) < 12 || size > most {
		t.Errorf("a sign-in loads %d bytes of %v, want at most %d", size, loaded, most)
	}
	t.Logf("%d bytes", size)
}

// The pages must load on slow connections, and be short enough to review.
func TestPagesAreSmall(t *testing.T) {
	const most = 86 << 10
	size := 0
	for name, text := range webFiles(t) {
		size += len(text)
		if len(text) > most/6 {
			t.Errorf("%s has %d bytes; give one subject a file of its own", name, len(text))
		}
	}
	if size > most {
		t.Errorf("all files together have %d bytes, want at most %d, in all languages and before they are packed", size, most)
	}
}

func webFiles(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := fs.WalkDir(web, "web", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := web.ReadFile(path)
		texts[filepath.Base(path)] = string(text)
		return err
	})
	if err != nil || len(texts) == 0 {
		t.Fatalf("%d files: %v", len(texts), err)
	}
	return texts
}

// The policy forbids inline code and foreign resources; a page with them would fail in the browser
// only.
func TestPagesWorkUnderThePolicy(t *testing.T) {
	forbidden := regexp.MustCompile(`<style|style="|<script>|<script [^>]*>[^<]|\son[a-z]+="|(src|href)="(https?:)?//|@import|url\(|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|cssText|srcdoc`)
	for name, text := range webFiles(t) {
		text = strings.ReplaceAll(text, "url(\"${new URL(", "") // an address that an administrator sets
		if found := forbidden.FindString(text); found != "" {
			t.Errorf("%s contains %q", name, found)
		}
	}
}
