package flows_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// wrongTarget is a flow with one wrong target.
type wrongTarget struct {
	node, outcome, target string
	flow                  *schemas.Flow
}

// wrongTargets returns the flow with each target replaced by each other one.
func wrongTargets(flow *schemas.Flow) (list []wrongTarget) {
	names := []string{schemas.End}
	for _, n := range flow.Nodes {
		names = append(names, n.ID)
	}
	for i, n := range flow.Nodes {
		replace := func(outcome, from string, set func(*schemas.Next, string)) {
			for _, name := range names {
				if name != from {
					f := clone(flow)
					set(&f.Nodes[i].Next, name)
					list = append(list, wrongTarget{n.ID, outcome, name, f})
				}
			}
		}
		if n.Next.To != "" {
			replace("", n.Next.To, func(next *schemas.Next, to string) { next.To = to })
		}
		for _, outcome := range slices.Sorted(maps.Keys(n.Next.By)) {
			replace(outcome, n.Next.By[outcome], func(next *schemas.Next, to string) { next.By[outcome] = to })
		}
	}
	return list
}

// One wrong target in a good flow is the cause that the findings name, unless another target could be wrong as
// well. Every finding then follows from it.
func TestCauseIsTheWrongTarget(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and in one goroutine")
	}
	kinds := nodes.Kinds(nodes.Deps{})
	var refused, marked, unknown, alone int
	for _, f := range goodFlows(t) {
		for _, w := range wrongTargets(f) {
			text, err := json.Marshal(w.flow)
			if err != nil {
				t.Fatal(err)
			}
			_, g, problems := engine.CheckUsing(text, false, kinds, schemas.SubflowsOf(f.Parts))
			if g != nil {
				continue
			}
			refused++
			roots := slices.DeleteFunc(slices.Clone(problems), func(p schemas.Problem) bool { return p.Warning || p.Follows != nil })
			if len(roots) == 1 {
				alone++
			}
			if cause := roots[0].Cause; cause == nil {
				unknown++
				if len(problems) > 1 {
					t.Logf("%s: %s %s → %s has no cause: %v", f.Handle, w.node, w.outcome, w.target, problems)
				}
			} else if cause.Node == w.node && cause.Outcome == w.outcome {
				marked++
			}
		}
	}
	t.Logf("of %d flows with a wrong target, the cause is that target in %d, and unknown in %d; %d have one cause", refused, marked, unknown, alone)
	if refused < 2500 || marked*100 < refused*88 || unknown*100 > refused || alone*100 < refused*99 {
		t.Error("the figures are not what they were meant to be")
	}
}
