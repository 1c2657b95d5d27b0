package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// required contains the proofs that the last commit required.
func (w *fixture) required(t *testing.T) []schemas.Proof {
	t.Helper()
	if len(w.mem.changes) == 0 {
		return nil
	}
	c, ok := w.mem.changes[len(w.mem.changes)-1].(schemas.RequireProofs)
	if !ok {
		return nil
	}
	if c.UserID == "" || c.At.IsZero() {
		t.Errorf("required without a user: %+v", c)
	}
	return c.Proofs
}

// Every commit of a run requires what has been proven in it so far, even a commit without
// changes.
func TestCommitsRequireProofs(t *testing.T) {
	w := newFixture(t, schemas.Authentication, "key prove success=q failure=key", "q ask a=add b=done", "add bind done", "done finish")
	s := w.start(nil)
	if got := w.required(t); got != nil {
		t.Errorf("before anything is proven: %+v", got)
	}
	s = w.send(s, "a", "secret", "right")
	if got := w.required(t); len(got) != 1 || got[0].Of != "sec" {
		t.Errorf("with the proof: %+v", got)
	}
	s = w.send(s, "a")
	if got := w.required(t); len(got) != 1 {
		t.Errorf("a step later: %+v", got)
	}
	s = w.send(s, "a", "x", "y")
	if got := w.required(t); s.FlowStatus != schemas.Complete || len(got) != 2 || got[1].Of != "key" {
		t.Errorf("%+v, %+v", s, got)
	}
}

// A run ends if its commit is rejected because of its proofs or its user.
func TestRefusedProofsEndTheRun(t *testing.T) {
	for _, refusal := range []*schemas.Error{
		schemas.ErrSuperseded(),
		schemas.Errorf(schemas.Forbidden, "no_entry", "not any more"),
	} {
		w := newFixture(t, schemas.Authentication, "key prove success=done failure=key", "done finish")
		s := w.start(nil)
		w.mem.refuse = refusal
		s = w.send(s, "a", "secret", "right")
		if s.FlowStatus != schemas.Failed || s.Assertion != "" || s.Error == nil || s.Error.Code != refusal.Code {
			t.Errorf("%s: %+v", refusal.Code, s)
		}
		if run := w.mem.runs[s.ExecutionID]; run.Status != schemas.Failed || run.State != nil || len(w.mem.changes) > 0 {
			t.Errorf("%s: kept %+v and %d changes", refusal.Code, run, len(w.mem.changes))
		}
	}
}

// A node cannot authenticate without a proof.
func TestAuthenticationNeedsProofs(t *testing.T) {
	kinds := testKinds()
	kinds["prove"] = &engine.Kind{
		Name: "prove", Outcomes: kinds["prove"].Outcomes, Asks: true,
		New: func(*engine.Config) (engine.Executor, []schemas.Problem) {
			return execute(func(context.Context, *engine.Visit) (*engine.Decision, error) {
				return &engine.Decision{Outcome: "success", Subject: &engine.Subject{UserID: "ada"}, Proofs: []schemas.Proof{{Kind: "test", Of: "sec"}}}, nil
			}), nil
		},
	}
	g, problems := engine.Compile(flowOf(schemas.Authentication, "key prove success=done failure=key", "done finish"), kinds)
	if g == nil {
		t.Fatal(problems)
	}
	mem := newMemory(g)
	e := engine.NewEngine(engine.Engine{Runs: mem, Graphs: mem, Applications: mem})
	_, err := e.Start(t.Context(), g, &schemas.Application{ID: "app"}, nil, engine.Request{})
	if err == nil || !strings.Contains(err.Error(), "without one") {
		t.Errorf("got %v", err)
	}
}
