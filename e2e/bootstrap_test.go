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
)

// A bootstrap over HTTP of an empty open store, killed repeatedly and each time some
// requests later, has the same result as an undisturbed one, and further ones change
// nothing.
func TestBootstrapKilled(t *testing.T) {
	undisturbed := serveOpen(t)
	undisturbed.bootstrap(0)
	want := undisturbed.export()

	disturbed := serveOpen(t)
	for round := range 5 {
		disturbed.bootstrap(1 + 6*round)
	}
	for range 2 {
		disturbed.bootstrap(0)
	}
	if got := disturbed.export(); got != want {
		t.Errorf("the store differs from one that was bootstrapped undisturbed:\n%s\nexpected\n%s", got, want)
	}
}

// openServer is a server with a store to bootstrap, behind a proxy that counts requests.
type openServer struct {
	*postern
	proxy  *httptest.Server
	served atomic.Int64 // requests since the last bootstrap began
	limit  atomic.Int64 // number of requests after which the bootstrap is killed

	mu     sync.Mutex
	client *os.Process // the running bootstrap
}

func serveOpen(t *testing.T) *openServer {
	t.Helper()
	s := &openServer{postern: serveWith(t, []string{"serve"}, "http", "localhost", "SKIP_SECURITY=true", "POSTERN_THROTTLE_ENABLED=false")}
	target, err := url.Parse(s.base)
	if err != nil {
		t.Fatal(err)
	}
	// It adds no proxy headers: an open server rejects requests with them.
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: s.postern.client.Transport}
	s.proxy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := s.served.Add(1); n == s.limit.Load() {
			// The request is executed, and its reply is dropped.
			w = httptest.NewRecorder()
			defer s.killClient()
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(s.proxy.Close)
	return s
}

// bootstrap runs `postern bootstrap`, and kills it after a number of requests; 0 lets it
// finish.
func (s *openServer) bootstrap(requests int) {
	s.t.Helper()
	s.served.Store(0)
	s.limit.Store(int64(requests))
	cmd := exec.Command(binary(s.t), "bootstrap", "--base-url", s.proxy.URL, "--samples",
		"--console-redirect-uris", "https://console.example.org/back")
	var out logtest.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.t.TempDir(), s.env, &out, &out
	s.mu.Lock()
	err := cmd.Start()
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
	_ = s.client.Kill() // it waits for the reply, so it is running
}

// export returns the exported files in one text, without the parts that differ between
// stores: the administrator's id and the server's address.
func (s *openServer) export() string {
	s.t.Helper()
	dir := filepath.Join(s.t.TempDir(), "resources")
	s.command("export", dir)
	var all strings.Builder
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
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
