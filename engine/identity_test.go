package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// hold brings an identity.
func hold(context.Context, *engine.Visit) (*engine.Decision, error) {
	return &engine.Decision{Outcome: "a", Identity: &engine.Identity{ProviderID: "other", Subject: "1815"}}, nil
}

// link asks, and tells which identity the run holds.
func link(_ context.Context, v *engine.Visit) (*engine.Decision, error) {
	if v.Answer == nil {
		d := question("a", "b")
		d.Notice = schemas.Errorf(schemas.Invalid, schemas.CodeConflict, "%s", v.Identity.Subject)
		return d, nil
	}
	return engine.Leave(v.Answer.Action), nil
}

// A run that holds an identity goes on with whom it came from: in their browser, or
// by the challenge tokens that they alone were given.
func TestIdentityStaysWithItsBringer(t *testing.T) {
	w := newWorld(t, schemas.Registration, "q ask a=h b=l2", "h hold l", "l link a=l b=end", "l2 ask a=end b=end")
	mine, other := engine.Request{Browser: []byte("mine")}, engine.Request{Browser: []byte("other")}
	tests := []struct {
		name         string
		brought, now engine.Request
		token, want  bool // the token is sent; it goes on
		resume       bool // the step is given again
	}{
		{"the same browser", mine, mine, false, true, true},
		{"another browser", mine, other, false, false, false},
		{"another browser, with the token", mine, other, true, true, false},
		{"no browser, with the token", engine.Request{}, engine.Request{}, true, true, false},
		{"no browser, and no token", engine.Request{}, engine.Request{}, false, false, false},
		{"a browser that comes later", engine.Request{}, mine, false, false, false},
		{"a browser that is gone", mine, engine.Request{}, false, false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := w.start(nil)
			if _, err := w.Resume(t.Context(), s.ExecutionID, test.now); err != nil {
				t.Errorf("before it holds anything: %v", err)
			}
			s, err := w.Continue(t.Context(), engine.Reply{ExecutionID: s.ExecutionID, Action: "a"}, test.brought)
			if err != nil || s.StepID != "l" || s.Error.Description.DefaultValue != "1815" {
				t.Fatalf("%+v, %v", s, err)
			}
			if _, err = w.Resume(t.Context(), s.ExecutionID, test.now); schemas.HasCode(err, schemas.CodeExecutionNotFound) == test.resume || (err == nil) != test.resume {
				t.Errorf("resumed: %v", err)
			}
			reply := engine.Reply{ExecutionID: s.ExecutionID, Action: "a"}
			if test.token {
				reply.ChallengeToken = s.ChallengeToken
			}
			if _, err = w.Continue(t.Context(), reply, test.now); (err == nil) != test.want || err != nil && !schemas.HasCode(err, schemas.CodeInvalidRequest) {
				t.Errorf("continued: %v", err)
			}
		})
	}
}

// No node can promise an identity that the run does not hold.
func TestHollowIdentity(t *testing.T) {
	w := newWorld(t, schemas.Registration, "q ask a=h b=h", "h hollow l", "l link end")
	s := w.start(nil)
	if _, err := w.trySend(s, "a"); err == nil || !strings.Contains(err.Error(), "promises an identity, without one") {
		t.Errorf("got %v", err)
	}
}

// Nobody comes to a node that links an identity without one.
func TestIdentityIsNeeded(t *testing.T) {
	_, problems := engine.Compile(flowOf(schemas.Registration, "q ask a=h b=l", "h hold l", "l link end"), testKinds())
	if len(problems) != 1 || problems[0].Rule != engine.RuleNeeds || !strings.Contains(problems[0].Message, "an identity of another provider") {
		t.Errorf("found %v", problems)
	}
}
