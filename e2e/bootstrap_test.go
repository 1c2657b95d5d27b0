package e2e_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/postern-id/postern/internal/logtest"
	"github.com/postern-id/postern/internal/store/storetest"
)

// A bootstrap over HTTP of a store that is empty and open, killed again and
// again, each time some requests further on, ends where an undisturbed one does;
// and further ones change nothing.
func TestBootstrapKilled(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		bootstrapKilled(t, func(*testing.T) []string { return nil })
	})
	t.Run("postgres", func(t *testing.T) {
		bootstrapKilled(t, func(t *testing.T) []string {
			return []string{"POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN=" + storetest.Postgres(t)}
		})
	})
}

// bootstrapKilled is the test on stores that database gives, a new one each time.
func bootstrapKilled(t *testing.T, database func(*testing.T) []string) {
	undisturbed := serveOpen(t, database(t)...)
	undisturbed.bootstrap(0)
	want := undisturbed.export()

	disturbed := serveOpen(t, database(t)...)
	for round := range 10 {
		disturbed.bootstrap(1 + 3*round)
	}
	for range 10 {
		disturbed.bootstrap(0)
	}
	if got := disturbed.export(); got != want {
		t.Errorf("the store differs from one that was bootstrapped undisturbed:\n%s\nexpected\n%s", got, want)
	}
}

// openServer is a server whose store is left to be bootstrapped, by way of a
// proxy that counts.
type openServer struct {
	*postern
	proxy  *httptest.Server
	served atomic.Int64 // requests since the last bootstrap began
	limit  atomic.Int64 // of them; after the last one the bootstrap is killed

	mu     sync.Mutex
	client *os.Process // the bootstrap that runs
}

func serveOpen(t *testing.T, env ...string) *openServer {
	t.Helper()
	env = append(env, "SKIP_SECURITY=true", "POSTERN_THROTTLE_ENABLED=false")
	s := &openServer{postern: serveWith(t, []string{"serve"}, "http", "localhost", env...)}
	target, err := url.Parse(s.base)
	if err != nil {
		t.Fatal(err)
	}
	// It adds nothing about proxies: an open server is closed to those.
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: s.postern.client.Transport}
	s.proxy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := s.served.Add(1); n == s.limit.Load() {
			// What the request asks for is done, and nobody hears of it.
			w = httptest.NewRecorder()
			defer s.killClient()
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(s.proxy.Close)
	return s
}

// bootstrap runs `postern bootstrap`, and kills it after so many requests; 0 lets
// it end.
func (s *openServer) bootstrap(requests int) {
	s.t.Helper()
	path, err := binary()
	if err != nil {
		s.t.Fatal(err)
	}
	s.served.Store(0)
	s.limit.Store(int64(requests))
	cmd := exec.Command(path, "bootstrap", "--base-url", s.proxy.URL, "--samples",
		"--console-redirect-uris", "https://console.example.org/back")
	var out logtest.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.t.TempDir(), s.env, &out, &out
	s.mu.Lock()
	err = cmd.Start()
	s.client = cmd.Process
	s.mu.Unlock()
	if err == nil {
		err = cmd.Wait()
	}
	if cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	if killed := !cmd.ProcessState.Exited(); killed != (requests > 0) || requests == 0 && err != nil {
		s.t.Fatalf("killed after %d requests: %v; it sent %d, and ended with %v\n%s", requests, killed, s.served.Load(), err, &out)
	}
}

func (s *openServer) killClient() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.client.Kill() // it waits for the reply, so it is there
}

// export returns the store as files, one after the other. The administrator's id
// is each store's own, and so is the address it was bootstrapped at.
func (s *openServer) export() string {
	s.t.Helper()
	path, err := binary()
	if err != nil {
		s.t.Fatal(err)
	}
	dir := filepath.Join(s.t.TempDir(), "resources")
	cmd := exec.Command(path, "export", dir)
	cmd.Dir, cmd.Env = s.dir, s.env
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	var all strings.Builder
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		rel, _ := filepath.Rel(dir, file)
		all.WriteString("== " + rel + "\n" + string(text))
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	id := regexp.MustCompile(`== users/admin\.yaml\nid: (.*)`).FindStringSubmatch(all.String())
	if id == nil {
		s.t.Fatalf("no administrator among\n%s", all.String())
	}
	return strings.NewReplacer(id[1], "ADMINISTRATOR", s.proxy.URL, "PROXY", s.base, "SERVER").Replace(all.String())
}
