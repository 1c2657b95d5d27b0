package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// compiled returns a version of a flow with a guarantee.
func compiled(t *testing.T, id string, version int, guarantees schemas.Guarantees, lines ...string) *engine.Graph {
	t.Helper()
	f := flowOf(schemas.Authentication, lines...)
	f.ID, f.ActiveVersion, f.Guarantees = id, version, guarantees
	kinds := testKinds()
	kinds["weak"], kinds["strong"] = authenticating("weak", schemas.ACRPassword, "pwd"), authenticating("strong", schemas.ACRMultiFactorPR, "pop")
	g, problems := engine.Compile(f, kinds)
	if g == nil {
		t.Fatal(problems)
	}
	return g
}

// authenticating is a kind that asks once, and accepts every answer.
func authenticating(name, acr, method string) *engine.Kind {
	return &engine.Kind{
		Name: name, Asks: true,
		Outcomes: []engine.Outcome{engine.On("success", engine.NoEffect(), engine.Outcome{Establishes: append(engine.ACRFacts(acr), engine.User, engine.Authenticated, engine.AMRFact(method))})},
		New: maker(func(_ context.Context, v *engine.Visit) (*engine.Decision, error) {
			if v.Answer == nil {
				return question("a"), nil
			}
			return &engine.Decision{Outcome: "success", Subject: &engine.Subject{UserID: "ada"}, Proofs: proof(method, acr)}, nil
		}),
	}
}

// A run of an earlier version completes only with what the published version guarantees.
func TestRunsKeepWhatThePublishedVersionGuarantees(t *testing.T) {
	weak, strong := []string{"in weak done", "done finish"}, []string{"in strong done", "done finish"}
	resistant := schemas.Guarantees{PhishingResistant: true}
	for name, test := range map[string]struct {
		began     []string
		published *engine.Graph // nil if there is none any more
		fault     error
		completes bool
	}{
		"the same version":                  {weak, compiled(t, "f", 1, schemas.Guarantees{}, weak...), nil, true},
		"another with the same guarantee":   {weak, compiled(t, "f", 2, schemas.Guarantees{}, weak...), nil, true},
		"a stronger one":                    {weak, compiled(t, "f", 2, resistant, strong...), nil, false},
		"a stronger one that declares none": {weak, compiled(t, "f", 2, schemas.Guarantees{}, strong...), nil, false},
		"a stronger one, and it was proved": {strong, compiled(t, "f", 2, resistant, strong...), nil, true},
		"another flow":                      {weak, compiled(t, "g", 1, resistant, strong...), nil, false},
		"another flow, and it was proved":   {strong, compiled(t, "g", 1, resistant, strong...), nil, true},
		"none":                              {weak, nil, nil, false},
		"the store is away":                 {weak, nil, errors.New("the disk is on fire"), false},
	} {
		t.Run(name, func(t *testing.T) {
			began := compiled(t, "f", 1, schemas.Guarantees{}, test.began...)
			w := newFixtureOf(t, began)
			asked := schemas.FlowType("")
			w.Published = func(_ context.Context, _ *schemas.Application, t schemas.FlowType) (*engine.Graph, error) {
				asked = t
				return test.published, test.fault
			}
			s, err := w.Start(t.Context(), began, &schemas.Application{ID: "app"}, nil, engine.Request{FlowType: schemas.Recovery})
			if err != nil {
				t.Fatal(err)
			}
			s, err = w.trySend(s, "a")
			switch {
			case test.fault != nil:
				if !errors.Is(err, test.fault) {
					t.Errorf("%+v, %v", s, err)
				}
			case err != nil:
				t.Error(err)
			case test.completes != (s.FlowStatus == schemas.Complete && s.Assertion != ""):
				t.Errorf("%+v", s)
			case !test.completes && (s.FlowStatus != schemas.Failed || s.Error.Code != schemas.CodeFlowChanged):
				t.Errorf("%+v", s)
			case asked != schemas.Recovery:
				t.Errorf("the flow of the type %q was looked up", asked)
			}
		})
	}
}

// A run ends after twice the time for an answer, however many answers it gets.
func TestRunsHaveAnAbsoluteLifetime(t *testing.T) {
	for flowType, ttl := range map[schemas.FlowType]time.Duration{schemas.Authentication: 30 * time.Minute, schemas.Registration: time.Hour} {
		w := newFixture(t, flowType, "f form r", "r resolve found=key missing=f", "key prove done", "done finish")
		s := w.start(nil)
		for range 3 { // up to a fifth before the end
			w.now = w.now.Add(ttl * 3 / 5)
			s = w.send(s, "a", "name", "nobody")
		}
		w.now = w.now.Add(ttl / 5)
		if _, err := w.trySend(s, "a", "name", "ada"); !schemas.HasCode(err, schemas.CodeExecutionNotFound) {
			t.Errorf("%s: after the end: %v", flowType, err)
		}
		late := w.mem.runs[s.ExecutionID]
		late.ExpiresAt = w.now.Add(time.Hour) // as an earlier release stored it
		w.mem.runs[s.ExecutionID] = late
		if _, err := w.trySend(s, "a", "name", "ada"); !schemas.HasCode(err, schemas.CodeExecutionNotFound) {
			t.Errorf("%s: with a later end: %v", flowType, err)
		}
	}
}
