package engine_test

import (
	"context"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// weakly is a kind that declares a password and decides that the credential is worth less.
func weakly() *engine.Kind {
	declared := append(engine.ACRFacts(schemas.ACRPassword), engine.User, engine.Authenticated, engine.AMRFact("pwd"))
	return &engine.Kind{
		Name: "weakly", Outcomes: []engine.Outcome{engine.On("success", engine.NoEffect(), engine.Outcome{Establishes: declared})},
		New: maker(func(context.Context, *engine.Visit) (*engine.Decision, error) {
			return &engine.Decision{
				Outcome: "success", Subject: &engine.Subject{UserID: "ada"}, Proofs: proof(schemas.AMRLimited, schemas.ACRVouched), Limited: true,
			}, nil
		}),
	}
}

// A run with a limited credential has only the facts that it proves. It fails where a node or the
// guarantee of the flow needs more.
func TestLimitedCredentials(t *testing.T) {
	strong := &engine.Kind{
		Name: "strong", New: maker(pass), Outcomes: outcomes("a"),
		Needs: []engine.Need{{AnyOf: engine.ACRFacts(schemas.ACRPassword)}},
	}
	for name, test := range map[string]struct {
		guarantees schemas.Guarantees
		lines      []string
		limited    bool // the run fails
	}{
		"a code":                   {schemas.Guarantees{}, []string{"in weakly done", "done finish"}, false},
		"a weak guarantee":         {schemas.Guarantees{ACR: schemas.ACRVouched}, []string{"in weakly done", "done finish"}, false},
		"a guarantee":              {schemas.Guarantees{ACR: schemas.ACRPassword}, []string{"in weakly done", "done finish"}, true},
		"a guarantee without code": {schemas.Guarantees{ACR: schemas.ACRPassword}, []string{"in weakly end"}, true},
		"a guaranteed method":      {schemas.Guarantees{AMR: []string{"pwd"}}, []string{"in weakly done", "done finish"}, true},
		"a node that needs more":   {schemas.Guarantees{}, []string{"in weakly more", "more strong done", "done finish"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			kinds := testKinds()
			kinds["weakly"], kinds["strong"] = weakly(), strong
			flow := flowOf(schemas.Authentication, test.lines...)
			flow.Guarantees = test.guarantees
			g, problems := engine.Compile(flow, kinds)
			if g == nil {
				t.Fatal(problems)
			}
			s := newFixtureOf(t, g).start(nil)
			if failed := s.Error != nil && s.Error.Code == schemas.CodeCredentialLimited; failed != test.limited || (s.FlowStatus == schemas.Failed) != failed {
				t.Errorf("%s %+v, want it limited: %t", s.FlowStatus, s.Error, test.limited)
			}
		})
	}
}
