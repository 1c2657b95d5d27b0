package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/logtest"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/mcp"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

const publicURL = "https://id.example.com"

// The ids of what every world has.
const (
	unitID     = "01900000-0000-7000-8000-000000000010"
	signInID   = "01900000-0000-7000-8000-000000000060"
	signUpID   = "01900000-0000-7000-8000-000000000061"
	readOnlyID = "01900000-0000-7000-8000-000000000062"
	waivedID   = "01900000-0000-7000-8000-000000000063"
	shopID     = "01900000-0000-7000-8000-0000000000a0"
	ada        = "01900000-0000-7000-8000-00000000ada0"
)

// fixture is a tool server over a real store, behind HTTP.
type fixture struct {
	t         testing.TB
	db        *store.Store
	directory *directory.Directory
	tools     *mcp.Server
	http      *httptest.Server
	caller    directory.Call
	log       *logtest.Buffer

	mu  sync.Mutex
	now time.Time
}

func newFixture(t testing.TB, change ...func(*mcp.Options)) *fixture {
	t.Helper()
	db := storetest.OpenEmpty(t, store.Config{Driver: "sqlite", DSN: ":memory:"})
	w := &fixture{t: t, db: db, log: &logtest.Buffer{}, now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.caller = directory.Call{
		Actor: schemas.Actor{Type: schemas.UserActor, ID: ada, Client: "assistant"}, Permissions: []string{"system"}, TraceID: "a-trace",
	}
	kinds := nodes.Kinds(nodes.Deps{})
	w.directory = directory.New(directory.Options{
		Store: db, DigestKey: make([]byte, 32), Now: w.clock,
		CheckFlow: func(text []byte, yaml bool, subflows schemas.Subflows) (*schemas.Flow, []schemas.Problem) {
			flow, _, problems := engine.CheckUsing(text, yaml, kinds, subflows)
			return flow, problems
		},
	})
	o := mcp.Options{PublicURL: publicURL, Version: "1.0.0", Directory: w.directory, Kinds: kinds, Log: w.logger()}
	for _, f := range change {
		f(&o)
	}
	w.tools = mcp.New(o)
	w.furnish()
	w.http = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.http.Close)
	return w
}

// serve is what stands before the tools in the server: it says who calls, and
// writes the errors.
func (w *fixture) serve(rw http.ResponseWriter, r *http.Request) {
	err := w.tools.Serve(rw, r, w.caller)
	if err == nil {
		return
	}
	e := schemas.AsError(err)
	rw.Header().Set("X-Code", e.Code)
	rw.Header().Set("X-Retry-After", e.RetryAfter.String())
	rw.WriteHeader(map[schemas.Class]int{schemas.Throttled: 429, schemas.Unavailable: 503, schemas.TooLarge: 413}[e.Class])
}

func (w *fixture) logger() *slog.Logger { return slog.New(slog.NewTextHandler(w.log, nil)) }

func (w *fixture) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// furnish puts into the store what every store begins with, and a little more.
func (w *fixture) furnish() {
	w.t.Helper()
	unit := &schemas.OrganizationUnit{ID: unitID, Handle: directory.DefaultUnit, Name: "Default", CreatedAt: w.clock(), UpdatedAt: w.clock()}
	person := schemas.Person()
	person.OUID, person.CreatedAt, person.UpdatedAt = unitID, w.clock(), w.clock()
	system := &schemas.ResourceServer{ID: schemas.NewID(), Handle: "system", Name: "System", OUID: unitID, IsReadOnly: true, CreatedAt: w.clock(), UpdatedAt: w.clock()}
	for _, handle := range []string{"applications", "flows"} {
		system.Resources = append(system.Resources, schemas.Resource{Handle: handle, Actions: []schemas.ResourceAction{{Handle: "read"}, {Handle: "write"}}})
	}
	must(w.t, w.db.Update(w.t.Context(), func(tx *store.Tx) error {
		return errors.Join(store.Units().Insert(tx, unit), store.UserTypes().Insert(tx, &person), store.ResourceServers().Insert(tx, system))
	}))
	const key = `{"id": "key", "use": "passkey-authenticate", "next": "done"}, {"id": "done", "use": "authorization-code"}`
	const form = `{"inputs": [{"identifier": "username", "type": "TEXT_INPUT", "required": true}], "actions": [{"ref": "go", "label": "Go"}]}`
	w.make(w.directory.Flows, `{"id": "`+signInID+`", "handle": "sign-in", "name": "Sign in", "flowType": "AUTHENTICATION", "nodes": [`+key+`]}`)
	w.make(w.directory.Flows, `{"id": "`+signUpID+`", "handle": "passkey-sign-up", "name": "Sign up", "flowType": "REGISTRATION", "nodes": [
		{"id": "who", "use": "prompt", "with": `+form+`, "next": "create"},
		{"id": "create", "use": "user-create", "next": {"created": "key", "taken": "who"}},
		{"id": "key", "use": "passkey-register", "next": "done"}, {"id": "done", "use": "authorization-code"}]}`)
	w.make(w.directory.Flows, `{"id": "`+readOnlyID+`", "handle": "kept", "name": "Kept", "flowType": "AUTHENTICATION", "isReadOnly": true, "nodes": [`+key+`]}`)
	w.make(w.directory.Flows, `{"id": "`+waivedID+`", "handle": "counter", "name": "At the counter", "flowType": "REGISTRATION",
		"waive": [{"rule": "takeover", "node": "key", "reason": "a clerk checks the passport"}], "nodes": [
		{"id": "who", "use": "prompt", "with": `+form+`, "next": "find"},
		{"id": "find", "use": "user-resolve", "with": {"by": ["username"], "from": "username"}, "next": {"found": "key", "missing": "who"}},
		{"id": "key", "use": "passkey-register", "next": "end"}]}`)
	w.make(w.directory.Applications, `{"id": "`+shopID+`", "name": "Shop", "type": "SERVER", "url": "https://shop.example.com", "clientId": "shop",
		"clientSecret": "`+shopSecret+`", "inboundAuthConfig": [{"type": "oauth2", "config": {"redirectUris": ["https://shop.example.com/callback"], "scopes": ["openid"]}}]}`)
}

const shopSecret = "a-secret-that-is-made-up-for-the-tests-0123456789"

// make creates a resource.
func (w *fixture) make(of directory.Resource, text string) *directory.Item {
	w.t.Helper()
	d, problems := schemas.ParseJSON([]byte(text))
	if len(problems) > 0 {
		w.t.Fatal(problems)
	}
	item, err := of.Create(w.t.Context(), directory.SystemCall(), d)
	must(w.t, err)
	return item
}

// post sends a body, and returns the reply with its body. Headers are "Name: value".
func (w *fixture) post(body string, headers ...string) (*http.Response, []byte) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, w.http.URL+"/mcp", strings.NewReader(body))
	must(w.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	reply, err := w.http.Client().Do(r)
	must(w.t, err)
	defer func() { must(w.t, reply.Body.Close()) }()
	text, err := io.ReadAll(reply.Body)
	must(w.t, err)
	return reply, text
}

// result is what a tool answers.
type result struct {
	Content []struct{ Type, Text string }
	Data    json.RawMessage `json:"structuredContent"`
	IsError bool
}

// call calls a tool, with arguments that are JSON or are made into it.
func (w *fixture) call(tool string, args any) result {
	w.t.Helper()
	text, err := json.Marshal(args)
	must(w.t, err)
	if raw, is := args.(string); is {
		text = []byte(raw)
	}
	reply, body := w.post(`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "` + tool + `", "arguments": ` + string(text) + `}}`)
	var m struct {
		Result *result
		Error  *struct{ Message string }
	}
	if err := json.Unmarshal(body, &m); err != nil || reply.StatusCode != 200 || m.Result == nil {
		w.t.Fatalf("%s: %d %s, %v", tool, reply.StatusCode, body, err)
	}
	return *m.Result
}

// ok calls a tool that must do what it is asked to, and decodes what it answers.
func (w *fixture) ok(tool string, args any, into any) result {
	w.t.Helper()
	r := w.call(tool, args)
	if r.IsError {
		w.t.Fatalf("%s %v: %s", tool, args, r.Content[0].Text)
	}
	if into != nil {
		must(w.t, json.Unmarshal(r.Data, into))
	}
	if r.Content[0].Text != dropAnnotations(w.t, r.Data) {
		w.t.Errorf("%s: the text is not the object: %s", tool, r.Content[0].Text)
	}
	return r
}

// dropAnnotations is JSON without spaces and with < and & as they are.
func dropAnnotations(t testing.TB, text json.RawMessage) string {
	t.Helper()
	var compact bytes.Buffer
	must(t, json.Compact(&compact, text))
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(compact.String())
}

// refused calls a tool that must refuse with the code, and returns the error.
func (w *fixture) refused(tool string, args any, code string) schemas.Error {
	w.t.Helper()
	r := w.call(tool, args)
	if !r.IsError || r.Data != nil || len(r.Content) != 2 {
		w.t.Fatalf("%s %v: %+v, want an error of two texts and no structuredContent", tool, args, r)
	}
	var e schemas.Error
	must(w.t, json.Unmarshal([]byte(r.Content[1].Text), &e))
	if e.Code != code {
		w.t.Errorf("%s %v: %s, want %s", tool, args, r.Content[1].Text, code)
	}
	for _, p := range e.Errors {
		if !strings.Contains(r.Content[0].Text, "- "+p.String()) {
			w.t.Errorf("%s: the text has nothing of %s: %s", tool, p, r.Content[0].Text)
		}
	}
	if e.TraceID != w.caller.TraceID {
		w.t.Errorf("%s: trace id %q", tool, e.TraceID)
	}
	return e
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
