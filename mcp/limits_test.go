package mcp_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/mcp"
	"github.com/postern-id/postern/schemas"
)

// blockedServer is a world in which every proof of a flow waits until it is let go.
type blockedServer struct {
	tools   *mcp.Server
	began   chan struct{}
	letGo   chan struct{}
	letOnce sync.Once
}

func newBlockedServer(t *testing.T, most, mostPerClient int) *blockedServer {
	t.Helper()
	db := storetest.OpenEmpty(t, store.Config{Driver: "sqlite", DSN: ":memory:"})
	s := &blockedServer{began: make(chan struct{}), letGo: make(chan struct{})}
	s.tools = mcp.New(mcp.Options{PublicURL: publicURL, Kinds: engine.Kinds{}, MaxCalls: most, MaxCallsPerClient: mostPerClient,
		Directory: directory.New(directory.Options{Store: db, CheckFlow: func([]byte, bool, schemas.Subflows) (*schemas.Flow, []schemas.Problem) {
			s.began <- struct{}{}
			<-s.letGo
			return nil, []schemas.Problem{{Message: "no flow"}}
		}})})
	t.Cleanup(s.release)
	return s
}

func (s *blockedServer) release() { s.letOnce.Do(func() { close(s.letGo) }) }

// serve sends a request of a client, and returns the error.
func (s *blockedServer) serve(client, body string) (*httptest.ResponseRecorder, error) {
	r := httptest.NewRequestWithContext(context.Background(), "POST", "/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	rec := httptest.NewRecorder()
	err := s.tools.Serve(rec, r, directory.Call{Actor: schemas.Actor{Type: schemas.UserActor, ID: ada, Client: client}, Permissions: []string{"system"}})
	return rec, err
}

const (
	slow  = `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "service_create_flow", "arguments": {}}}`
	quick = `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`
)

// A client has its share of the places and no more, and when all are taken
// everybody is refused, at once and with the time after which to try again.
// Places that are left are free again.
func TestLimits(t *testing.T) {
	s := newBlockedServer(t, 3, 2)
	var running sync.WaitGroup
	for _, client := range []string{"one", "one", "two"} {
		running.Go(func() {
			if rec, err := s.serve(client, slow); err != nil || rec.Code != 200 {
				t.Errorf("%s: %d, %v", client, rec.Code, err)
			}
		})
		<-s.began
		want := map[string]schemas.Class{}
		if client == "two" {
			want = map[string]schemas.Class{"one": schemas.Throttled, "two": schemas.Unavailable, "three": schemas.Unavailable}
		}
		for who, class := range want {
			_, err := s.serve(who, quick)
			if !schemas.HasClass(err, class) || schemas.AsError(err).RetryAfter != time.Second {
				t.Errorf("%s: %v", who, err)
			}
		}
	}
	s.release()
	running.Wait()
	for range 10 {
		for _, who := range []string{"one", "two", "three"} {
			if rec, err := s.serve(who, quick); err != nil || !bytes.Contains(rec.Body.Bytes(), []byte("service_list_flows")) {
				t.Errorf("%s afterwards: %d, %v", who, rec.Code, err)
			}
		}
	}
}

// A panic in a tool, which runs in its own goroutine, ends neither the program nor the request, and
// only the log contains it.
func TestPanics(t *testing.T) {
	w := newFixture(t, func(o *mcp.Options) {
		o.Directory = &directory.Directory{}
	})
	reply, body := w.post(`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "service_list_flows", "arguments": {}}}`)
	if reply.StatusCode != 200 || !strings.Contains(string(body), "-32603") || strings.Contains(string(body), "nil pointer") {
		t.Errorf("%d %s", reply.StatusCode, body)
	}
	if log := w.log.String(); !strings.Contains(log, "nil pointer") || !strings.Contains(log, "traceId=a-trace") {
		t.Errorf("logged: %s", log)
	}
}

// Only the log contains server faults, with the trace id.
func TestInternalErrors(t *testing.T) {
	w := newFixture(t)
	broken, err := store.Open(t.Context(), store.Config{Driver: "sqlite", DSN: ":memory:"})
	must(t, err)
	must(t, broken.Close())
	w.tools = mcp.New(mcp.Options{PublicURL: publicURL, Kinds: engine.Kinds{}, Log: w.logger(), Directory: directory.New(directory.Options{Store: broken})})
	e := w.refused("service_list_flows", `{}`, "internal_error")
	if strings.Contains(e.Description.DefaultValue, "database") {
		t.Errorf("got: %s", e.Description.DefaultValue)
	}
	_, body := w.post(`{"jsonrpc": "2.0", "id": 1, "method": "resources/list"}`)
	if !strings.Contains(string(body), "-32603") || strings.Contains(string(body), "database") {
		t.Errorf("got: %s", body)
	}
	if log := w.log.String(); strings.Count(log, "traceId=a-trace") != 2 || !strings.Contains(log, "database is closed") {
		t.Errorf("logged: %s", log)
	}
}
