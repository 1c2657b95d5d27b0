package flows_test

import (
	"slices"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// goodFlows are the built-in flows and those of the corpus, with the sub-flows they use.
func goodFlows(t testing.TB) []*schemas.Flow {
	var list []*schemas.Flow
	for _, path := range datatest.Glob(t, "*.yaml", "testdata/good/*.yaml") {
		if !flows.IsFlow(path) {
			continue
		}
		text := datatest.ReadFile(t, path)
		f, _, problems := engine.CheckUsing(text, true, nodes.Kinds(nodes.Deps{}), flows.NewSubflowResolver().ForFile(path))
		if f == nil {
			t.Fatal(path, problems)
		}
		if f.FlowType != schemas.Subflow { // it is checked in the flows that use it
			list = append(list, f)
		}
	}
	return list
}

// tally counts the results for flows that both the oracle and the analysis checked.
type tally struct{ all, dangerous, harmless, broken, lost, tooCareful, tooLarge, withSessions int }

// byProof reports whether every finding is about the behavior of runs; a flow with other
// findings is rejected independent of it.
func byProof(problems []schemas.Problem) bool {
	return !slices.ContainsFunc(problems, func(p schemas.Problem) bool {
		return p.Rule != engine.RuleNeeds && p.Rule != engine.RuleAttribute && p.Rule != engine.RuleTakeover && p.Rule != engine.RuleUnauthenticated
	})
}

// compare checks a flow with both, and fails the test if the analysis accepts a flow for which
// the oracle found an attack.
func (n *tally) compare(t testing.TB, what string, flow *schemas.Flow, kinds engine.Kinds) {
	n.all++
	got := check(flat(flow))
	g, problems := engine.Compile(flow, kinds)
	switch {
	case got.dangerous != "":
		n.dangerous++
		if g != nil {
			t.Errorf("%s: accepted, and the adversary gets %s", what, got.dangerous)
		}
	case got.tooLarge:
		n.tooLarge++
	case got.broken:
		n.broken++
		if g != nil {
			t.Errorf("%s: accepted, and a run comes to a node that cannot work", what)
		}
	default:
		n.harmless++
		switch {
		case g != nil:
			n.compareProofs(t, what, flat(flow), g, kinds)
		case byProof(problems):
			n.tooCareful++
			t.Logf("refused, though harmless: %s: %v", what, problems)
		}
		n.compareLost(t, what, got.lost, g)
	}
}

// compareLost fails the test if an accepted flow creates users that cannot be found again, and
// there is no warning.
func (n *tally) compareLost(t testing.TB, what string, lost bool, g *engine.Graph) {
	if lost {
		n.lost++
	}
	if g == nil {
		return
	}
	warned := slices.ContainsFunc(g.Warnings(), func(p schemas.Problem) bool { return p.Rule == engine.RuleFindable })
	if lost && !warned {
		t.Errorf("%s: accepted without a warning, and a run creates a user that cannot be found again", what)
	} else if warned && !lost {
		t.Logf("warned of, though the oracle finds every new user again: %s", what)
	}
}

// Good flows with a mistake are rejected if the mistake admits an unauthenticated user or adds a
// credential to another user's account. The oracle decides by trial which mistakes are
// dangerous.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and in one goroutine")
	}
	kinds := nodes.Kinds(nodes.Deps{})
	var good, bad tally
	for _, f := range goodFlows(t) {
		good.compare(t, f.Handle, f, kinds)
		if g, problems := engine.Compile(f, kinds); g == nil {
			t.Errorf("%s is good, and refused: %v", f.Handle, problems)
		}
		f.Guarantees = schemas.Guarantees{} // to exercise the other rules
		for _, m := range slices.Concat(mutants(f), mutantsWithin(f)) {
			bad.compare(t, m.what, m.flow, kinds)
		}
	}
	t.Logf("good flows: %d, of them dangerous %d", good.all, good.dangerous)
	t.Logf("mutants: %d; dangerous %d, all refused; broken %d; harmless %d, of them refused by proof %d, with users that cannot be found again %d; too large to try %d; accepted with sessions %d",
		bad.all, bad.dangerous, bad.broken, bad.harmless, bad.tooCareful, bad.lost, bad.tooLarge, bad.withSessions)
	if bad.all < 400 || bad.dangerous < 100 || bad.lost < 5 || bad.withSessions < 50 || good.dangerous+good.broken > 0 {
		t.Errorf("the figures are not what they were meant to be: %+v, %+v", good, bad)
	}
}
