package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// usersOfAda is a live session of Ada that began at 3:00:00, four minutes and five seconds before the
// runs of the tests.
func usersOfAda() *schemas.Session {
	return &schemas.Session{ID: "s1", UserID: "ada", AMR: []string{"pwd"}, CreatedAt: time.Date(2030, 1, 2, 3, 0, 0, 0, time.UTC)}
}

// boundRequest is a request of the browser with the session.
func boundRequest(s *schemas.Session) engine.Request {
	return engine.Request{Session: s, AuthRequest: &schemas.AuthRequest{ID: "ar", ApplicationID: "app"}}
}

func (w *fixture) startBy(req engine.Request) *schemas.Step {
	w.t.Helper()
	s, err := w.Start(context.Background(), w.graph, &schemas.Application{ID: "app"}, nil, req)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *fixture) trySendBy(s *schemas.Step, req engine.Request, inputs map[string]string) (*schemas.Step, error) {
	return w.Continue(context.Background(), engine.Reply{ExecutionID: s.ExecutionID, Action: "a", Inputs: inputs}, req)
}

func TestSignInBySession(t *testing.T) {
	w := newFixture(t, schemas.Authentication, "s session active=done none=key", "key prove done", "done finish")
	ahead := usersOfAda()
	ahead.CreatedAt = w.now.Add(time.Minute)
	asked := boundRequest(usersOfAda())
	asked.AuthRequest.Login.Prompt = []string{"login"}
	tests := []struct {
		name string
		req  engine.Request
		want string // "" for a question
	}{
		{"a session", boundRequest(usersOfAda()), `ada by pwd at 03:00:00, session "s1", for ar`},
		{"one begun by a clock that is ahead", boundRequest(ahead), `ada by pwd at 03:04:05, session "s1", for ar`},
		{"none", boundRequest(nil), ""},
		{"a session, but a login is asked for", asked, ""},
		{"a session, but no authorization request", engine.Request{Session: usersOfAda()}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if s := w.startBy(tt.req); s.Assertion != tt.want {
				t.Errorf("got %q, want %q", s.Assertion, tt.want)
			}
		})
	}
}

// A run keeps its binding whatever later requests contain.
func TestRunKeepsItsBinding(t *testing.T) {
	w := newFixture(t, schemas.Authentication, "q ask s", "s session active=done none=key", "key prove done", "done finish")
	first := boundRequest(nil)
	first.AuthRequest.Login.Prompt = []string{"login"}
	first.AuthRequest.LoginHint = " and grace"
	s := w.startBy(first)
	s, err := w.trySendBy(s, boundRequest(usersOfAda()), nil)
	if err != nil || s.StepID != "key" {
		t.Fatalf("the request's wish for a login was forgotten: %+v, %v", s, err)
	}
	if s, err = w.trySendBy(s, engine.Request{}, map[string]string{"secret": "right"}); err != nil || s.Assertion != `ada by sec at 03:04:05, session "", for ar and grace` {
		t.Errorf("got %+v, %v", s, err)
	}
}

// A proof in the run is newer than the session's: it counts, and the result no longer rests on
// the session.
func TestProofOnTopOfASession(t *testing.T) {
	w := newFixture(t, schemas.Authentication, "s session key", "key prove done", "done finish")
	s := w.startBy(boundRequest(usersOfAda()))
	s, err := w.trySendBy(s, boundRequest(usersOfAda()), map[string]string{"secret": "right"})
	if err != nil || s.Assertion != `ada by pwd+sec at 03:04:05, session "", for ar` {
		t.Errorf("got %+v, %v", s, err)
	}
}

// A session accepted after a proof makes the proof neither older nor part of the session.
func TestSessionOnTopOfAProof(t *testing.T) {
	w := newFixture(t, schemas.Authentication, "key prove success=s failure=key", "s recall active=done none=done", "done finish")
	s := w.startBy(boundRequest(usersOfAda()))
	s, err := w.trySendBy(s, boundRequest(usersOfAda()), map[string]string{"secret": "right"})
	if err != nil || s.Assertion != `ada by sec+pwd at 03:04:05, session "", for ar` {
		t.Errorf("got %+v, %v", s, err)
	}
}

// A caller that obtains the ID of a run authenticated by a browser session can do nothing with
// it. After sign-out, neither can the browser.
func TestRunWithASessionIsBoundToTheBrowser(t *testing.T) {
	w := newFixture(t, schemas.Authentication, "s session active=add none=key", "key prove done", "add bind done", "done finish")
	s := w.startBy(boundRequest(usersOfAda()))
	before, changes := string(w.mem.runs[s.ExecutionID].State), len(w.mem.changes)
	another := usersOfAda()
	another.ID = "s2"
	for name, req := range map[string]engine.Request{
		"no session":                         {},
		"another session of the user":        {Session: another},
		"a new authorization request, alone": boundRequest(nil),
	} {
		if got, err := w.trySendBy(s, req, nil); !schemas.HasCode(err, schemas.CodeExecutionNotFound) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
		if got, err := w.Resume(context.Background(), s.ExecutionID, "", req); !schemas.HasCode(err, schemas.CodeExecutionNotFound) {
			t.Errorf("%s: sees %+v, %v", name, got, err)
		}
	}
	if after := string(w.mem.runs[s.ExecutionID].State); after != before || len(w.mem.changes) != changes {
		t.Errorf("the run was harmed: %s, was %s", after, before)
	}
	if s, err := w.trySendBy(s, engine.Request{Session: usersOfAda()}, nil); err != nil || s.FlowStatus != schemas.Complete {
		t.Errorf("its own browser: %+v, %v", s, err)
	}
}

func TestAuthorizationRequestOfAnotherApplication(t *testing.T) {
	w := newFixture(t, schemas.Authentication, "key prove done", "done finish")
	req := boundRequest(nil)
	req.AuthRequest.ApplicationID = "another"
	s, err := w.Start(context.Background(), w.graph, &schemas.Application{ID: "app"}, nil, req)
	if err == nil || schemas.AsError(err).Class != schemas.Internal || len(w.mem.runs) > 0 {
		t.Errorf("got %+v, %v", s, err)
	}
}
