package engine_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// fixture is an engine over one flow, with a clock that the test sets.
type fixture struct {
	*engine.Engine
	t     *testing.T
	graph *engine.Graph
	mem   *memory
	now   time.Time
}

func newFixture(t *testing.T, ft schemas.FlowType, lines ...string) *fixture {
	t.Helper()
	g, problems := engine.Compile(flowOf(ft, lines...), testKinds())
	if g == nil {
		t.Fatalf("the flow does not compile: %v", problems)
	}
	return newFixtureOf(t, g)
}

func newFixtureOf(t *testing.T, g *engine.Graph) *fixture {
	w := &fixture{t: t, graph: g, mem: newMemory(g), now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.Engine = engine.NewEngine(engine.Engine{Runs: w.mem, Graphs: w.mem, Applications: w.mem, MaxFailures: 3, Now: func() time.Time { return w.now }})
	return w
}

func (w *fixture) start(inputs map[string]string) *schemas.Step {
	w.t.Helper()
	s, err := w.Start(context.Background(), w.graph, &schemas.Application{ID: "app"}, inputs, engine.Request{})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// send answers a step; inputs are key, value, key, value …
func (w *fixture) send(s *schemas.Step, action string, inputs ...string) *schemas.Step {
	w.t.Helper()
	next, err := w.trySend(s, action, inputs...)
	if err != nil {
		w.t.Fatal(err)
	}
	return next
}

func (w *fixture) trySend(s *schemas.Step, action string, inputs ...string) (*schemas.Step, error) {
	m := map[string]string{}
	for i := 0; i < len(inputs); i += 2 {
		m[inputs[i]] = inputs[i+1]
	}
	return w.Continue(context.Background(), engine.Reply{ExecutionID: s.ExecutionID, Action: action, Inputs: m, ChallengeToken: s.ChallengeToken}, engine.Request{})
}

func TestSignIn(t *testing.T) {
	w := newFixture(t, schemas.Authentication, "f form r", "r resolve found=key missing=f", "key prove done", "done finish")
	s := w.start(nil)
	if s.FlowStatus != schemas.Incomplete || s.Type != schemas.View || s.StepID != "f" || len(s.ChallengeToken) != 64 {
		t.Fatalf("first step: %+v", s)
	}
	s = w.send(s, "a", "name", "nobody")
	if s.StepID != "f" || s.Error == nil || s.Error.Code != schemas.CodeUserNotFound || len(s.Data.FieldErrors) != 1 || s.FailureReason != s.Error.Description.DefaultValue {
		t.Fatalf("an unknown user: %+v", s)
	}
	s = w.send(s, "a", "name", "grace")
	if s.StepID != "key" || s.Error != nil || s.Data.AdditionalData["challenge"] != "guess" {
		t.Fatalf("a known user: %+v", s)
	}
	s = w.send(s, "a", "secret", "wrong")
	if s.StepID != "key" || s.Error == nil || s.FlowStatus != schemas.Incomplete {
		t.Fatalf("a wrong secret: %+v", s)
	}
	s = w.send(s, "a", "secret", "right")
	if s.FlowStatus != schemas.Complete || s.Assertion != "grace by sec" || s.SignedIn != "grace" || s.StepID != "" || s.ChallengeToken != "" {
		t.Fatalf("the right secret: %+v", s)
	}
	if rec := w.mem.runs[s.ExecutionID]; rec.State != nil || rec.UserID != "grace" {
		t.Errorf("a run that is over keeps %+v", rec)
	}
}

func TestStartInputsAnswerTheFirstQuestion(t *testing.T) {
	w := newFixture(t, schemas.Authentication, "f form r", "r resolve found=key missing=f", "key prove done", "done finish")
	if s := w.start(map[string]string{"name": "grace", "locale": "en"}); s.StepID != "key" {
		t.Errorf("the run stands at %q, want key", s.StepID)
	}
	// Inputs that the question does not ask for are no answer and are not stored.
	s := w.start(map[string]string{"requested_permissions": "openid"})
	if s.StepID != "f" || s.Error != nil || strings.Contains(string(w.mem.runs[s.ExecutionID].State), "openid") {
		t.Errorf("%+v", s)
	}
}

// Replies contain components as the start requested, unless a later request decides otherwise
// for itself.
func TestVerbose(t *testing.T) {
	w := newFixture(t, schemas.Authentication, "q ask a=q b=key", "key prove done", "done finish")
	yes, no := true, false
	for _, atStart := range []*bool{nil, &no, &yes} {
		for _, then := range []*bool{nil, &no, &yes} {
			first, err := w.Start(context.Background(), w.graph, &schemas.Application{ID: "app"}, nil, engine.Request{Verbose: atStart})
			if err != nil {
				t.Fatal(err)
			}
			next, err := w.Continue(context.Background(), engine.Reply{ExecutionID: first.ExecutionID, Action: "a"}, engine.Request{Verbose: then})
			if err != nil {
				t.Fatal(err)
			}
			again, err := w.Resume(context.Background(), first.ExecutionID, "", engine.Request{Verbose: then})
			if err != nil {
				t.Fatal(err)
			}
			began := atStart != nil && *atStart
			want := began
			if then != nil {
				want = *then
			}
			if (first.Data.Meta != nil) != began || (next.Data.Meta != nil) != want || (again.Data.Meta != nil) != want {
				t.Errorf("start %v, then %v: components %v, %v, %v", began, want, first.Data.Meta, next.Data.Meta, again.Data.Meta)
			}
		}
	}
}

func TestSecretsAreNotStored(t *testing.T) {
	w := newFixture(t, schemas.Authentication, "f form key", "key prove done", "done finish")
	s := w.send(w.start(nil), "a", "name", "grace", "password", "hunter2-secret")
	state := string(w.mem.runs[s.ExecutionID].State)
	if !strings.Contains(state, "grace") || strings.Contains(state, "hunter2") {
		t.Errorf("kept: %s", state)
	}
}

func TestNodeStateIsPrivate(t *testing.T) {
	w := newFixture(t, schemas.Authentication, "q ask a=key b=key", "key prove success=done failure=q", "done finish")
	s := w.send(w.send(w.start(nil), "a"), "a", "secret", "wrong")
	if state := string(w.mem.runs[s.ExecutionID].State); strings.Contains(state, "right") {
		t.Errorf("what a node kept outlives it: %s", state)
	}
	if s.StepID != "q" || s.Error == nil {
		t.Errorf("the notice must travel to the next question: %+v", s)
	}
	if s.Data.AdditionalData["challenge"] != "" {
		t.Error("a question's data outlived it")
	}
}

func TestDraftIsStoredWithItsFirstCredential(t *testing.T) {
	w := newFixture(t, schemas.Registration, "new create q", "q ask a=key b=end", "key bind done", "done finish")
	s := w.start(nil)
	if len(w.mem.changes) != 0 {
		t.Fatalf("an abandoned sign-up leaves %v", w.mem.changes)
	}
	s = w.send(w.send(s, "a"), "a", "x", "y")
	if s.Assertion != "fresh by key" || s.Data.AdditionalData["bound"] != "yes" {
		t.Errorf("complete: %+v", s)
	}
	if got := kindsOf(w.mem.changes); got != "schemas.CreateUser schemas.RecordEvent schemas.RequireAuthority schemas.SetPassword schemas.RequireProofs" {
		t.Errorf("changes %s, want the user, the event and the credential, which must be there then", got)
	}

	w.mem.changes = nil
	w.send(w.start(nil), "b")
	if got := kindsOf(w.mem.changes); got != "schemas.CreateUser schemas.RecordEvent" {
		t.Errorf("a run that completes stores its user, got %s", got)
	}
}

func kindsOf(changes []schemas.Change) string {
	var names []string
	for _, c := range changes {
		names = append(names, fmt.Sprintf("%T", c))
	}
	return strings.Join(names, " ")
}

func TestDraftWithATakenNameEndsTheRun(t *testing.T) {
	w := newFixture(t, schemas.Registration, "new create key", "key bind done", "done finish")
	s := w.start(nil)
	w.mem.refuse = schemas.Errorf(schemas.Conflict, schemas.CodeAttributeTaken, "another user has it")
	s = w.send(s, "a", "x", "y")
	if s.FlowStatus != schemas.Failed || s.Error.Code != schemas.CodeAttributeTaken || s.Assertion != "" || len(w.mem.changes) != 0 {
		t.Errorf("%+v with changes %v", s, w.mem.changes)
	}
}

func TestTooManyFailuresEndTheRun(t *testing.T) {
	w := newFixture(t, schemas.Authentication, "key prove done", "done finish")
	s := w.start(nil)
	for range 2 {
		s = w.send(s, "a", "secret", "wrong")
	}
	s = w.send(s, "a", "secret", "wrong")
	if s.FlowStatus != schemas.Failed || s.Error.Code != "too_many_attempts" {
		t.Fatalf("after three failures: %+v", s)
	}
	last, _ := w.mem.changes[len(w.mem.changes)-1].(schemas.RecordEvent)
	want := map[string]string{"flow": "f", "flowId": "f", "flowVersion": "1", "node": "key", "kind": "prove", "error": "wrong", "end": "too_many_attempts"}
	if !maps.Equal(last.Event.Detail, want) {
		t.Errorf("the last event has the detail %v, want %v", last.Event.Detail, want)
	}
	if _, err := w.trySend(s, "a", "secret", "right"); !schemas.HasCode(err, schemas.CodeExecutionNotFound) {
		t.Errorf("the run goes on: %v", err)
	}
}

func TestRejectedAnswersDoNotChangeTheRun(t *testing.T) {
	w := newFixture(t, schemas.Authentication, "q ask a=key b=key", "key prove done", "done finish")
	first := w.start(nil)
	before := w.mem.runs[first.ExecutionID]
	tests := []struct {
		name  string
		reply engine.Reply
		code  string
	}{
		{"wrong action", engine.Reply{ExecutionID: first.ExecutionID, Action: "c"}, schemas.CodeInvalidAction},
		{"an empty answer", engine.Reply{ExecutionID: first.ExecutionID}, schemas.CodeInvalidAction},
		{"inputs without an action", engine.Reply{ExecutionID: first.ExecutionID, Inputs: map[string]string{"x": "y"}}, schemas.CodeInvalidAction},
		{"a wrong token", engine.Reply{ExecutionID: first.ExecutionID, Action: "a", ChallengeToken: strings.Repeat("0", 64)}, schemas.CodeStaleStep},
		{"an unknown run", engine.Reply{ExecutionID: schemas.NewID(), Action: "a"}, schemas.CodeExecutionNotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := w.Continue(context.Background(), tt.reply, engine.Request{})
			if !schemas.HasCode(err, tt.code) {
				t.Errorf("got %v, want %s", err, tt.code)
			}
			if now := w.mem.runs[first.ExecutionID]; now.Revision != before.Revision || string(now.State) != string(before.State) {
				t.Error("the run was harmed")
			}
		})
	}
	again, err := w.Resume(context.Background(), first.ExecutionID, "", engine.Request{})
	if err != nil || asJSON(t, again) != asJSON(t, first) {
		t.Errorf("resume: %s, %v, want %s", asJSON(t, again), err, asJSON(t, first))
	}
	w.RequireToken = true
	if _, err := w.Continue(context.Background(), engine.Reply{ExecutionID: first.ExecutionID, Action: "a"}, engine.Request{}); !schemas.HasCode(err, schemas.CodeInvalidRequest) {
		t.Errorf("an answer without a token where one is required: %v", err)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	return string(datatest.Marshal(t, v))
}

func TestSupersededTokenIsStale(t *testing.T) {
	w := newFixture(t, schemas.Authentication, "key prove done", "done finish")
	first := w.start(nil)
	second := w.send(first, "a", "secret", "wrong")
	if _, err := w.trySend(first, "a", "secret", "right"); !schemas.HasCode(err, schemas.CodeStaleStep) {
		t.Errorf("an answer to an old step: %v", err)
	}
	if s := w.send(second, "a", "secret", "right"); s.FlowStatus != schemas.Complete {
		t.Errorf("%+v", s)
	}
}

func TestRunsExpire(t *testing.T) {
	w := newFixture(t, schemas.Authentication, "key prove done", "done finish")
	s := w.start(nil)
	w.now = w.now.Add(29 * time.Minute)
	s = w.send(s, "a", "secret", "wrong")
	w.now = w.now.Add(29 * time.Minute)
	s = w.send(s, "a", "secret", "wrong")
	w.now = w.now.Add(30 * time.Minute)
	if _, err := w.trySend(s, "a", "secret", "right"); !schemas.HasCode(err, schemas.CodeExecutionNotFound) {
		t.Errorf("an expired run: %v", err)
	}
}

func TestRunKeepsItsVersion(t *testing.T) {
	w := newFixture(t, schemas.Authentication, "key prove done", "done finish")
	s := w.start(nil)
	f := flowOf(schemas.Authentication, "other ask end", "key prove end")
	f.ActiveVersion = 2
	w.mem.graphs["f2"] = nil // a run that reads it would panic
	if s = w.send(s, "a", "secret", "right"); s.Assertion == "" {
		t.Errorf("%+v", s)
	}
}

func TestExecutorsThatBreakTheirContract(t *testing.T) {
	for _, line := range []string{"n broken end", "n liar end"} {
		w := newFixture(t, schemas.Registration, line)
		_, err := w.Start(context.Background(), w.graph, &schemas.Application{ID: "app"}, nil, engine.Request{})
		if err == nil || schemas.AsError(err).Class != schemas.Internal {
			t.Errorf("%s: %v, want an internal error", line, err)
		}
		if len(w.mem.runs) != 0 {
			t.Errorf("%s: a run was kept", line)
		}
	}
}

func TestOneAnswerWins(t *testing.T) {
	w := newFixture(t, schemas.Registration, "new create key", "key bind done", "done finish")
	for range 200 {
		s := w.start(nil)
		w.mem.changes = nil
		var won, stale atomic.Int32
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				switch _, err := w.trySend(s, "a", "x", "y"); {
				case err == nil:
					won.Add(1)
				case schemas.HasCode(err, schemas.CodeStaleStep), schemas.HasCode(err, schemas.CodeExecutionNotFound):
					stale.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 || stale.Load() != 15 || len(w.mem.changes) != 5 {
			t.Fatalf("%d won, %d were stale, %d changes", won.Load(), stale.Load(), len(w.mem.changes))
		}
	}
}
