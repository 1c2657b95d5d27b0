package engine_test

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// recorder records the inputs that its node sees, and continues.
type recorder struct{ saw *map[string]string }

func (s recorder) Execute(_ context.Context, v *engine.Visit) (*engine.Decision, error) {
	*s.saw = maps.Clone(v.Inputs)
	return engine.LeaveBy("a"), nil
}

// verifier is a spy that verifies the password.
type verifier struct{ recorder }

func (verifier) UsesSecret() string { return "password" }

// During a run, only the node that verifies or sets a secret sees it, even if the check of the
// flow had allowed another reference.
func TestAudit04OnlyTheVerifierSeesASecret(t *testing.T) {
	var before, verifies, after map[string]string
	kinds := testKinds()
	for name, executor := range map[string]engine.Executor{
		"before": recorder{&before}, "verify": verifier{recorder{&verifies}}, "after": recorder{&after},
	} {
		kinds[name] = &engine.Kind{Name: name, Outcomes: outcomes("a"), New: func(*engine.Config) (engine.Executor, []schemas.Problem) { return executor, nil }}
	}
	flow := flowOf(schemas.Registration, "f form n", "n before v", "v verify x", "x after q", "q ask a=n b=end")
	g, problems := engine.Compile(flow, kinds)
	if g == nil {
		t.Fatal(problems)
	}
	w := newFixtureOf(t, g)
	s := w.send(w.start(nil), "a", "name", "ada", "password", "Tarn-ferry-slate-41")
	if before["password"] != "" || after["password"] != "" || verifies["password"] != "Tarn-ferry-slate-41" {
		t.Errorf("before %v, verifier %v, after %v", before, verifies, after)
	}
	if before["name"] != "ada" || verifies["name"] != "ada" || after["name"] != "ada" {
		t.Errorf("before %v, verifier %v, after %v: the name is no secret", before, verifies, after)
	}
	w.send(s, "a") // a later step does not see a secret of an earlier one
	if verifies["password"] != "" {
		t.Errorf("a later step sees %v", verifies)
	}
}

// replaced returns the stored state of a run with one part replaced.
func replaced(t *testing.T, state json.RawMessage, part, by string) json.RawMessage {
	t.Helper()
	if !strings.Contains(string(state), part) {
		t.Fatalf("the state %s has no %s", state, part)
	}
	return json.RawMessage(strings.Replace(string(state), part, by, 1))
}

// A run of an earlier version may have stored a value that is a secret in this version.
func TestAudit04KeptSecretIsNotRead(t *testing.T) {
	var before map[string]string
	kinds := testKinds()
	kinds["before"] = &engine.Kind{Name: "before", Outcomes: outcomes("a"), New: func(*engine.Config) (engine.Executor, []schemas.Problem) { return recorder{&before}, nil }}
	g, problems := engine.Compile(flowOf(schemas.Registration, "f form q", "q ask a=n b=end", "n before end"), kinds)
	if g == nil {
		t.Fatal(problems)
	}
	w := newFixtureOf(t, g)
	s := w.send(w.start(nil), "a", "name", "ada")
	rec := w.mem.runs[s.ExecutionID]
	rec.State = replaced(t, rec.State, `"name":"ada"`, `"name":"ada","password":"Tarn-ferry-slate-41"`)
	w.mem.runs[s.ExecutionID] = rec
	w.send(s, "a")
	if len(before) != 1 || before["name"] != "ada" {
		t.Errorf("the node saw %v", before)
	}
}
