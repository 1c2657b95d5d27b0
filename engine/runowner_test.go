package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// hold returns an identity.
func hold(context.Context, *engine.Visit) (*engine.Decision, error) {
	return &engine.Decision{Outcome: "a", Identity: &engine.Identity{ProviderID: "other", Subject: "1815"}}, nil
}

// link asks, and returns which identity the run has.
func link(_ context.Context, v *engine.Visit) (*engine.Decision, error) {
	if v.Answer == nil {
		d := question("a", "b")
		d.Notice = schemas.Errorf(schemas.Invalid, schemas.CodeConflict, "%s", v.Identity.Subject)
		return d, nil
	}
	return engine.LeaveBy(v.Answer.Action), nil
}

// A run that contains a proof continues only with the client that sent it: in the same browser,
// or with the challenge tokens that this client received.
func TestRunsKeepTheirOwner(t *testing.T) {
	mine, other := engine.Request{Browser: []byte("mine")}, engine.Request{Browser: []byte("other")}
	page, program := engine.Request{Origin: "https://shop.example.org"}, engine.Request{}
	tests := []struct {
		name         string
		brought, now engine.Request
		token, want  bool // the token is sent; the run continues
	}{
		{"the same browser", mine, mine, false, true},
		{"another browser", mine, other, false, false},
		{"another browser, with the token", mine, other, true, true},
		{"no cookie, with the token", page, page, true, true},
		{"no cookie, and no token", page, page, false, false},
		{"a browser that comes later", page, mine, false, false},
		{"a browser that is gone", mine, program, false, false},
		{"a program, after a browser", page, program, false, false},
		{"a page, after a program", program, page, false, false},
		{"a browser, after a program", program, mine, false, false},
		{"a page, after a program, with the token", program, page, true, true},
		{"a program, with the token", program, program, true, true},
		{"a program, without the token", program, program, false, false},
	}
	for what, proof := range map[string]struct {
		flow   []string
		inputs map[string]string
	}{
		"identity": {[]string{"q ask a=h b=l2", "h hold l", "l link a=l b=end", "l2 ask a=end b=end"}, nil},
		"proof":    {[]string{"q ask a=p b=p", "p prove success=l", "l ask a=l b=end"}, map[string]string{"secret": "right"}},
	} {
		for _, test := range tests {
			t.Run(what+"/"+test.name, func(t *testing.T) {
				w := newFixture(t, schemas.Registration, proof.flow...)
				s := w.start(nil)
				last := func(inputs map[string]string) {
					t.Helper()
					if _, err := w.Resume(t.Context(), s.ExecutionID, "", test.now); err != nil {
						t.Errorf("before anything is proved: %v", err)
					}
					var err error
					if s, err = w.Continue(t.Context(), engine.Reply{ExecutionID: s.ExecutionID, Action: "a", Inputs: inputs}, test.brought); err != nil {
						t.Fatal(err)
					}
				}
				last(nil)
				if proof.inputs != nil {
					last(proof.inputs)
				}
				reply := engine.Reply{ExecutionID: s.ExecutionID, Action: "a"}
				if test.token {
					reply.ChallengeToken = s.ChallengeToken
				}
				_, err := w.Resume(t.Context(), s.ExecutionID, reply.ChallengeToken, test.now)
				if (err == nil) != test.want || err != nil && !schemas.HasCode(err, schemas.CodeExecutionNotFound) {
					t.Errorf("resumed: %v", err)
				}
				if _, err = w.Continue(t.Context(), reply, test.now); (err == nil) != test.want || err != nil && !schemas.HasCode(err, schemas.CodeInvalidRequest) {
					t.Errorf("continued: %v", err)
				}
			})
		}
	}
}

// A program that proves nothing before the last step needs no tokens: the calls in the
// specification have none.
func TestNoTokenIsNeededBeforeAProof(t *testing.T) {
	w := newFixture(t, schemas.Registration, "q ask a=p b=p", "p prove success=end")
	s := w.start(nil)
	for _, inputs := range []map[string]string{nil, {"secret": "right"}} {
		if _, err := w.Resume(t.Context(), s.ExecutionID, "", engine.Request{}); err != nil {
			t.Fatal(err)
		}
		var err error
		if s, err = w.Continue(t.Context(), engine.Reply{ExecutionID: s.ExecutionID, Action: "a", Inputs: inputs}, engine.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	if s.FlowStatus != schemas.Complete {
		t.Errorf("the run ended in %+v", s)
	}
}

// A run that an earlier version stored as a program's run is not continued by its ID either.
func TestAudit01RunOfAnEarlierVersion(t *testing.T) {
	w := newFixture(t, schemas.Registration, "p prove success=q", "q ask a=q b=end")
	s := w.send(w.start(nil), "a", "secret", "right")
	rec := w.mem.runs[s.ExecutionID]
	rec.State = replaced(t, rec.State, `"bringer":{}`, `"bringer":{"program":true}`)
	w.mem.runs[s.ExecutionID] = rec
	if _, err := w.Resume(t.Context(), s.ExecutionID, "", engine.Request{}); !schemas.HasCode(err, schemas.CodeExecutionNotFound) {
		t.Errorf("resumed by the id alone: %v", err)
	}
	if _, err := w.Continue(t.Context(), engine.Reply{ExecutionID: s.ExecutionID, Action: "b"}, engine.Request{}); !schemas.HasCode(err, schemas.CodeInvalidRequest) {
		t.Errorf("continued by the id alone: %v", err)
	}
	if next := w.send(s, "b"); next.FlowStatus != schemas.Complete {
		t.Errorf("with the token the run ended in %+v", next)
	}
}

// No node can promise an identity that the run does not have.
func TestIncompleteIdentity(t *testing.T) {
	w := newFixture(t, schemas.Registration, "q ask a=h b=h", "h hollow l", "l link end")
	s := w.start(nil)
	if _, err := w.trySend(s, "a"); err == nil || !strings.Contains(err.Error(), "establishes an unlinked identity of another provider, without one") {
		t.Errorf("got %v", err)
	}
}

// No run reaches a node that links an identity without one.
func TestIdentityIsNeeded(t *testing.T) {
	_, problems := engine.Compile(flowOf(schemas.Registration, "q ask a=h b=l", "h hold l", "l link end"), testKinds())
	if len(problems) != 1 || problems[0].Rule != engine.RuleNeeds || !strings.Contains(problems[0].Message, "an unlinked identity of another provider") {
		t.Errorf("found %v", problems)
	}
}
