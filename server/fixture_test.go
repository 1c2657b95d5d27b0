package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/logtest"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
	"github.com/postern-id/postern/server/oauth"
	"github.com/postern-id/postern/server/runs"
)

const (
	publicURL = "https://id.example.com"
	rpOrigin  = "https://app.example.com"
	// clientOrigin is the origin of an untrusted client.
	clientOrigin = "https://client.example.net"
	spaOrigin    = "https://spa.example.com"
	ada          = "0190b9f0-0000-7000-8000-00000000ada0"
	bob          = "0190b9f0-0000-7000-8000-00000000b0b0"
)

// console is the application with which administrators manage the server.
const console = "console"

// nodeStore is the store of the nodes.
type nodeStore struct {
	nodes.Store
	*memory
}

func (s nodeStore) User(ctx context.Context, id string) (*schemas.User, error) {
	return s.memory.User(ctx, id)
}

func (s nodeStore) Permissions(ctx context.Context, id string) ([]string, error) {
	return s.memory.Permissions(ctx, id)
}

func (s nodeStore) Credential(ctx context.Context, id schemas.Bytes) (*schemas.Credential, error) {
	return s.memory.Credential(ctx, id)
}

func (s nodeStore) Credentials(ctx context.Context, userID string) ([]schemas.Credential, error) {
	return s.memory.Credentials(ctx, userID)
}

func (s nodeStore) RegisteredScopes(context.Context, string) ([]string, error) {
	return []string{"openid", "system"}, nil
}

// passkeyFixture is a server over a real engine and an in-memory store.
type passkeyFixture struct {
	t       testing.TB
	handler http.Handler
	store   *memory
	log     *logtest.Buffer

	mu  sync.Mutex
	now time.Time
}

// newPasskeyFixture makes a world; change may alter the options before New.
func newPasskeyFixture(t testing.TB, change ...func(*server.Options)) *passkeyFixture {
	t.Helper()
	w := &passkeyFixture{t: t, store: newMemory(t), log: &logtest.Buffer{}, now: time.Date(2030, 1, 2, 3, 4, 5, 678e6, time.UTC)}
	ceremonies, err := passkey.New(passkey.Config{Origins: []string{rpOrigin}, RPID: "example.com", Now: w.clock})
	if err != nil {
		t.Fatal(err)
	}
	o := server.Options{
		PublicURL:      publicURL,
		AllowedOrigins: []string{spaOrigin, "null", "*"},
		OriginTrust: func(_ context.Context, origin string) oauth.OriginTrust {
			return map[string]oauth.OriginTrust{rpOrigin: oauth.TrustedOrigin, clientOrigin: oauth.ClientOrigin}[origin]
		},
		Runs: &runs.Starter{
			Engine:  engine.NewEngine(engine.Engine{Runs: w.store, Graphs: w.store, Applications: w.store, MaxFailures: 2, Now: w.clock}),
			Catalog: w.store, Applications: w.store,
		},
		Passkeys: ceremonies, Store: w.store, Tokens: fakeTokens{},
		Log: slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now: w.clock,
	}
	for _, f := range change {
		f(&o)
	}
	var reads nodes.Store = nodeStore{memory: w.store}
	if stored, ok := o.Store.(nodes.Store); ok {
		reads = stored
	}
	deps := nodes.Deps{Store: reads, Asserter: o.Tokens.(nodes.Asserter), Ceremonies: o.Passkeys, BaseURL: publicURL}
	o.PasskeyFlow = nodes.PasskeyFlow(deps, func(ctx context.Context) (*schemas.Application, *engine.Graph, error) {
		return o.Runs.Published(ctx, console, schemas.Authentication)
	})
	w.handler = server.New(o)
	return w
}

func (w *passkeyFixture) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *passkeyFixture) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// do sends a request; headers are "Name: value". A body makes it JSON unless a
// header says otherwise.
func (w *passkeyFixture) do(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	w.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, target, reader)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Del(name)
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	rec := record(w, r)
	checkDescribed(w.t, method, target, r.Header.Get("Content-Type"), body, rec)
	return rec
}

// post sends JSON and decodes a reply of status 200 into into.
func (w *passkeyFixture) post(path string, body, into any, headers ...string) {
	w.t.Helper()
	rec := w.do("POST", path, asJSON(w.t, body), headers...)
	if rec.Code != http.StatusOK {
		w.t.Fatalf("POST %s: %d %s", path, rec.Code, rec.Body)
	}
	if err := json.Unmarshal(rec.Body.Bytes(), into); err != nil {
		w.t.Fatalf("POST %s: %v in %s", path, err, rec.Body)
	}
}

// failure is an error reply.
type failure struct {
	Code        string            `json:"code"`
	Message     schemas.Text      `json:"message"`
	Description schemas.Text      `json:"description"`
	Errors      []schemas.Problem `json:"errors"`
	TraceID     string            `json:"traceId"`
}

// fails checks that a reply is an error in the common form and returns it.
func fails(t testing.TB, rec *httptest.ResponseRecorder, status int, code string) failure {
	t.Helper()
	var f failure
	d := json.NewDecoder(bytes.NewReader(rec.Body.Bytes()))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		t.Fatalf("not an error body: %v\n%d %s", err, rec.Code, rec.Body)
	}
	if rec.Code != status || f.Code != code {
		t.Errorf("got %d %s (%s), want %d %s", rec.Code, f.Code, f.Description.DefaultValue, status, code)
	}
	if f.Message.Key != "error."+f.Code || f.Message.DefaultValue == "" || f.Description.Key == "" || f.Description.DefaultValue == "" {
		t.Errorf("message or description is missing: %s", rec.Body)
	}
	if f.TraceID == "" || f.TraceID != rec.Header().Get("X-Trace-Id") {
		t.Errorf("traceId %q, header %q", f.TraceID, rec.Header().Get("X-Trace-Id"))
	}
	if got := rec.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
	return f
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	if s, ok := v.(string); ok {
		return s
	}
	return string(datatest.Marshal(t, v))
}

// fakeTokens knows the tokens "system", "user <id>" and "busy".
type fakeTokens struct{ oauth.Tokens }

func (fakeTokens) Assert(_ context.Context, a schemas.Assertion) (string, error) {
	text, err := json.Marshal(a)
	return string(text), err
}

func (fakeTokens) AssertionTTL() time.Duration { return time.Hour }

func (fakeTokens) Verify(_ context.Context, raw, audience string) (*token.Claims, error) {
	if audience != publicURL {
		return nil, fmt.Errorf("asked for the audience %q", audience)
	}
	if raw == "system" {
		return &token.Claims{Subject: "machine", Scope: []string{"openid", "system"}}, nil
	}
	if raw == "busy" {
		e := schemas.Errorf(schemas.Unavailable, schemas.CodeOverloaded, "too much to do")
		e.RetryAfter = 1500 * time.Millisecond
		return nil, e
	}
	if id, ok := strings.CutPrefix(raw, "user-"); ok {
		return &token.Claims{Subject: id, Scope: []string{"openid", "system:users:read"}}, nil
	}
	return nil, schemas.Errorf(schemas.Unauthenticated, "invalid_token", "the token is not one of \"ours\"")
}

// record serves a request that a test built.
func record(w *passkeyFixture, r *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	return rec
}
