package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// services returns the test's answers, and records queries and notifications.
type services struct {
	names []string
	reply *schemas.CallReply
	err   error
	calls []schemas.Call
}

func (s *services) Names() []string { return s.names }

func (s *services) Call(_ context.Context, c schemas.Call) (*schemas.CallReply, error) {
	s.calls = append(s.calls, c)
	return s.reply, s.err
}

func (s *services) NewDelivery(c schemas.Call, now time.Time) (schemas.Delivery, error) {
	s.calls = append(s.calls, c)
	return schemas.Delivery{ID: c.ID, Target: c.Target, CreatedAt: now}, s.err
}

// serve adds services to the world.
func (w *fixture) serve(names ...string) *services {
	s := &services{names: names, reply: &schemas.CallReply{Status: 200, JSON: json.RawMessage(`{}`)}}
	w.deps.Targets = s
	w.kinds = Kinds(w.deps)
	return s
}

func TestTargetsAreThoseOfTheServer(t *testing.T) {
	w := newFixture(t)
	try := func(target string) string {
		_, problems := w.try("http-request", `{"target": "`+target+`", "mode": "notify"}`, nil, schemas.Next{To: "next"})
		return texts(problems)
	}
	if got := try("any"); got != "" {
		t.Errorf("without a server: %s", got)
	}
	w.serve("crm", "risk")
	if got := try("crm"); got != "" {
		t.Errorf("a target there is: %s", got)
	}
	if got := try("crn"); !strings.Contains(got, `target: this server has no target "crn"; did you mean "crm"?`) {
		t.Errorf("a target there is not: %s", got)
	}
	w.serve()
	w.deps.Targets.(*services).names = []string{}
	if got := try("crm"); got == "" {
		t.Error("a server without targets takes any")
	}
}

// Bodies contain the types of expressions.
func TestBodies(t *testing.T) {
	w := newFixture(t)
	w.users["ada"].Attributes["tags"] = []any{"a", map[string]any{"b": 1.5}}
	s := w.serve()
	body := map[string]string{
		"text": "user.id", "dynamic": "user.attributes.email", "number": "1.5 + 1.0", "integer": "9007199254740993", "yes": "user.isNew || true",
		"null": "null", "list": "[user.id, user.type]", "map": `{"a": 1}`, "nested": "user.attributes.tags", "of": "application.name", "typed": "inputs.note",
		"missing": "user.attributes.nothing", "perhaps": "has(user.attributes.nothing) ? 'yes' : 'no'", "language": "request.language",
	}
	with, _ := json.Marshal(map[string]any{"target": "crm", "path": "/a?b=c", "mode": "notify", "event": "a.b", "body": body})
	exec := w.make(t, "http-request", string(with), map[string]schemas.InputType{"note": schemas.TextInput})
	d := left(t, run(t, exec, visit(known("ada"), inputs("note", "hello"))), "queued")
	if len(d.Changes) != 1 {
		t.Fatalf("changes %+v", d.Changes)
	}
	call := s.calls[0]
	if queued := d.Changes[0].(schemas.QueueDelivery).Delivery; queued.ID != call.ID || call.Target != "crm" || call.Path != "/a?b=c" || call.Method != "POST" {
		t.Errorf("queued %+v for %+v", queued, call)
	}
	var got struct {
		Type      string
		Timestamp time.Time
		Data      map[string]any
	}
	if err := json.Unmarshal(call.Body, &got); err != nil || got.Type != "a.b" || !got.Timestamp.Equal(noon) {
		t.Errorf("got %s, %v", call.Body, err)
	}
	want := map[string]any{
		"text": "ada", "dynamic": "ada@example.org", "number": 2.5, "integer": float64(9007199254740993), "yes": true, "null": nil,
		"list": []any{"ada", "Person"}, "map": map[string]any{"a": 1.0}, "nested": []any{"a", map[string]any{"b": 1.5}}, "of": "Shop", "typed": "hello",
		"perhaps": "no", "language": "",
	}
	if !reflect.DeepEqual(got.Data, want) {
		t.Errorf("got\n%v\nwant\n%v", got.Data, want)
	}
	if !strings.Contains(string(call.Body), "9007199254740993") {
		t.Errorf("the integer is another in %s", call.Body)
	}
}

// If a body cannot be built, a query fails like one without a reply, and a notification
// ends the run.
func TestBodiesThatFail(t *testing.T) {
	w := newFixture(t)
	s := w.serve()
	for _, text := range []string{"1 / int(user.attributes.username == 'bob')", "user.attributes.username + 1", "1.0 / 0.0", "[b'x']"} {
		for _, mode := range []string{"query", "notify"} {
			with, _ := json.Marshal(map[string]any{"target": "crm", "mode": mode, "body": map[string]string{"x": text}})
			exec, problems := w.try("http-request", string(with), nil, schemas.Next{To: "next"})
			if len(problems) > 0 {
				continue // the user is known
			}
			d, err := exec.Execute(t.Context(), visit(known("ada")))
			if err != nil || mode == "query" && (d.Outcome != "failure" || reason(d) != "body") {
				t.Errorf("%s, %s: got %+v and %v", mode, text, d, err)
			}
			if mode == "notify" {
				checkExpressionFailed(t, d, `the member "x" of the body`)
			}
		}
	}
	if len(s.calls) > 0 {
		t.Errorf("called %v", s.calls)
	}
}

// reason returns why a query failed.
func reason(d *engine.Decision) string {
	return d.Changes[0].(schemas.RecordEvent).Event.Detail["reason"]
}

const asksRisk = `{"target": "risk", "mode": "query", "as": "risk", "reply": {"score": {"at": "/a~1b/0/score", "type": "%s"}}}`

func TestReplies(t *testing.T) {
	w := newFixture(t)
	s := w.serve()
	in := func(value string) string { return `{"a/b": [{"score": ` + value + `}]}` }
	tests := []struct {
		typ    string
		status int
		reply  string // "" for none that is JSON
		want   any    // the value, or the reason in angle brackets
	}{
		{"number", 200, in("1.5"), 1.5},
		{"number", 201, in("7"), 7.0},
		{"number", 200, in("1e400"), "<does_not_fit>"},
		{"number", 200, in(`"7"`), "<does_not_fit>"},
		{"integer", 200, in("7"), 7.0},
		{"integer", 200, in("7.0"), 7.0},
		{"integer", 200, in("7.5"), "<does_not_fit>"},
		{"integer", 200, in("9007199254740991"), 9007199254740991.0},
		{"integer", 200, in("9007199254740993"), "<does_not_fit>"},
		{"boolean", 200, in("true"), true},
		{"boolean", 200, in("0"), "<does_not_fit>"},
		{"string", 200, in(`"high"`), "high"},
		{"string", 200, in("null"), "<does_not_fit>"},
		{"string", 200, in(`"` + strings.Repeat("é", maxReplyText) + `"`), strings.Repeat("é", maxReplyText)},
		{"string", 200, in(`"` + strings.Repeat("a", maxReplyText+1) + `"`), "<does_not_fit>"},
		{"string", 200, `{"a/b": []}`, "<does_not_fit>"},
		{"string", 200, `{"a/b": {"0": {"score": "high"}}}`, "high"},
		{"string", 200, `"high"`, "<does_not_fit>"},
		{"string", 200, "", "<not_json>"},
		{"string", 199, in(`"high"`), "<status 199>"},
		{"string", 302, in(`"high"`), "<status 302>"},
		{"string", 404, in(`"high"`), "<status 404>"},
		{"string", 500, "", "<status 500>"},
	}
	for _, test := range tests {
		s.reply = &schemas.CallReply{Status: test.status}
		if test.reply != "" {
			s.reply.JSON = json.RawMessage(test.reply)
		}
		d := run(t, w.make(t, "http-request", fmt.Sprintf(asksRisk, test.typ), nil), visit())
		got := d.Replies["risk"]["score"]
		if d.Outcome == "failure" {
			got = "<" + reason(d) + ">"
		}
		if got != test.want || (d.Outcome == "failure") != (d.Replies == nil) {
			t.Errorf("%s of %.60s with %d: got %v, want %v", test.typ, test.reply, test.status, got, test.want)
		}
	}
}

func TestNoReply(t *testing.T) {
	w := newFixture(t)
	s := w.serve()
	exec := w.make(t, "http-request", `{"target": "risk", "mode": "query"}`, nil)
	s.err = schemas.Errorf(schemas.Unavailable, "outbound_failed", "ada@example.org lives at 10.0.0.1")
	d := left(t, run(t, exec, visit(known("ada"))), "failure")
	if event := d.Changes[0].(schemas.RecordEvent).Event; event.Action != "http_request.failed" || event.UserID != "ada" ||
		!reflect.DeepEqual(event.Detail, map[string]string{"node": "node", "target": "risk", "reason": "outbound_failed"}) {
		t.Errorf("the event is %+v", event)
	}
	if d.Notice != nil || d.Failed {
		t.Error("the user sees a notice, or a failure is counted")
	}
	s.err = errors.New("a defect")
	if d, err := exec.Execute(t.Context(), visit()); err == nil {
		t.Errorf("a defect of ours: left by %s", d.Outcome)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.err = schemas.Errorf(schemas.Unavailable, "outbound_failed", "the request was given up")
	if _, err := exec.Execute(ctx, visit()); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller has canceled: got %v", err)
	}
	s.err, s.reply = nil, &schemas.CallReply{Status: 204}
	left(t, run(t, exec, visit()), "success")
}

// The same query at the same step has the same ID; IDs of different queries differ.
func TestIdsOfQuestions(t *testing.T) {
	w := newFixture(t)
	s := w.serve()
	post := w.make(t, "http-request", `{"target": "risk", "mode": "query", "body": {"id": "user.id"}}`, nil)
	get := w.make(t, "http-request", `{"target": "risk", "mode": "query", "method": "GET"}`, nil)
	later := func(v *engine.Visit) { v.Revision++ }
	other := func(v *engine.Visit) { v.ExecutionID = "run-2" }
	ids := map[string]bool{}
	for _, v := range []func() *engine.Visit{
		func() *engine.Visit { return visit(known("ada")) },
		func() *engine.Visit { return visit(known("bob")) },
		func() *engine.Visit { return visit(known("ada"), later) },
		func() *engine.Visit { return visit(known("ada"), other) },
	} {
		run(t, post, v())
		again := v()
		again.Now = again.Now.Add(time.Second)
		run(t, post, again)
		n := len(s.calls)
		if s.calls[n-1].ID != s.calls[n-2].ID {
			t.Errorf("one question has the ids %s and %s", s.calls[n-1].ID, s.calls[n-2].ID)
		}
		if id := s.calls[n-1].ID; ids[id] || strings.Contains(id, "run-") {
			t.Errorf("the id %s", id)
		}
		ids[s.calls[n-1].ID] = true
	}
	run(t, get, visit(known("ada")))
	if c := s.calls[len(s.calls)-1]; c.Method != "GET" || c.Body != nil || ids[c.ID] {
		t.Errorf("got %+v", c)
	}
}

func TestPaths(t *testing.T) {
	for text, good := range map[string]bool{
		"": true, "/": true, "/a": true, "/a/": true, "/a/b.c~d": true, "/caf%C3%A9": true, "/a?b=c&d=%2F..": true, "?a=b": true, "/a;v=1": true, "/...": true, "/.well-known/a": true,
		"a": false, "//": false, "//a": false, "/a//b": false, "/a//": false, "/.": false, "/..": false, "/../a": false, "/a/..": false, "/a/..;": false, "/a/.;x/b": false,
		"/%2e%2e/a": false, "/%2E./a": false, "/a%2fb": false, "/a%5Cb": false, `/a\b`: false, "/%252e": false, "/a%00": false, "/a%0d%0ab": false, "/a#b": false, "/a b": false,
		"/a\nb": false, "/é": false, "/a%zz": false, "/a%2": false, "https://a.example/": false, "@a.example/": false, ":80/": false, ".a.example/": false,
	} {
		if fault := pathFault(text); (fault == "") != good {
			t.Errorf("%q: got %q", text, fault)
		}
	}
}

// FuzzPath compares the check of paths with net/url: an accepted path stays below the URL
// of its target.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"/a", "/a/../b", "//a", "/%2e%2e/", "@b.example", "/a?b#c", "/..;/a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if pathFault(text) != "" {
			return
		}
		u, err := url.Parse("https://a.example/base" + text)
		if err != nil {
			t.Fatalf("%q cannot be read: %v", text, err)
		}
		if u.Host != "a.example" || u.User != nil || u.Fragment != "" || u.RequestURI() != "/base"+text {
			t.Errorf("%q leads to %s", text, u)
		}
		for range 3 { // repeated decoding stays safe
			if !strings.HasPrefix(u.JoinPath().Path+"/", "/base/") || strings.Contains("/"+u.Path+"/", "/../") {
				t.Errorf("%q leads out of the target: %s", text, u.Path)
			}
			if u.Path, err = url.PathUnescape(u.Path); err != nil {
				return
			}
		}
	})
}

// FuzzReply reads arbitrary replies: stored values have the declared type.
func FuzzReply(f *testing.F) {
	for _, seed := range []string{`{"score": 1}`, `[{"score": "x"}]`, `{"a": {"~": [true]}}`, "1e999", `""`} {
		f.Add([]byte(seed), "/score", "/a/~0/0")
	}
	f.Fuzz(func(t *testing.T, text []byte, one, two string) {
		const pointer = `^(/([^~/]|~[01])*)*$`
		x := &httpRequest{Reply: map[string]replyValue{}}
		for name, at := range map[string]string{"one": one, "two": two} {
			if schema := schemas.MustSchema("pointer", `{"type":"string","pattern":"`+pointer+`"}`); len(schema.Check(jsonText(at))) > 0 {
				return
			}
			x.Reply[name] = replyValue{At: at, Type: map[string]engine.ReplyType{"one": engine.IntegerReply, "two": engine.StringReply}[name]}
		}
		values, reason := x.read(text)
		if (values == nil) == (reason == "") {
			t.Fatalf("got %v and %q", values, reason)
		}
		if values == nil {
			return
		}
		n, number := values["one"].(float64)
		if _, is := values["two"].(string); !is || !number || n != float64(int64(n)) {
			t.Errorf("got %v", values)
		}
	})
}

func jsonText(text string) json.RawMessage {
	raw, _ := json.Marshal(text) // as a JSON string
	return raw
}
