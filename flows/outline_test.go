package flows_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// Moving a part of a flow into a sub-flow changes nothing in what can be proven. What is proven
// of the sub-flow alone, with its required facts certain, is never more than what is proven of
// the whole flow.
func TestOutline(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and in one goroutine")
	}
	kinds := nodes.Kinds(nodes.Deps{})
	r := rand.New(rand.NewPCG(7, 11))
	var same, refused, alone int
	for _, f := range goodFlows(t) {
		f = flat(f)
		all := append(mutants(f), mutant{f.Handle, f})
		for range 40 {
			m := all[r.IntN(len(all))]
			if r.IntN(4) == 0 {
				m = all[len(all)-1]
			}
			outer, part := outline(m.flow, r)
			if outer == nil {
				continue
			}
			before, problems := engine.Compile(m.flow, kinds)
			outer.Parts = map[string]*schemas.Flow{"part": part}
			after, others := engine.Compile(outer, kinds)
			same++
			if before == nil {
				refused++
			}
			if (before == nil) != (after == nil) {
				t.Errorf("%s: with %v in a sub-flow it is another verdict:\nbefore %v\nafter %v", m.what, ids(part), problems, others)
				continue
			}
			if before == nil {
				continue
			}
			part.Requires = certain(before, part)
			text := datatest.Marshal(t, outer)
			_, checked, others := engine.CheckUsing(text, false, kinds, schemas.SubflowsOf(outer.Parts))
			if checked != nil {
				alone++
			} else if !slices.ContainsFunc(others, func(p schemas.Problem) bool { return p.Rule == engine.RuleSubflow }) {
				t.Errorf("%s: %v is proven by itself, and refused where it is used: %v", m.what, ids(part), others)
			}
		}
	}
	t.Logf("outlined %d, of them refused before and after %d; the part proven by itself too in %d", same, refused, alone)
	if same < 500 || refused < 100 || alone < 100 {
		t.Error("the figures are not what they were meant to be")
	}
}

func ids(f *schemas.Flow) (list []string) {
	for _, n := range f.Nodes {
		list = append(list, n.ID)
	}
	return list
}

// certain returns the facts that a sub-flow may require if its first node is at this place in a
// graph.
func certain(g *engine.Graph, part *schemas.Flow) schemas.Requires {
	requires := schemas.Requires{Inputs: map[string]schemas.InputType{}}
	types := map[string]schemas.InputType{}
	for _, n := range g.Flow().Nodes {
		var with config
		_ = json.Unmarshal(n.With, &with) // a node of another shape collects nothing
		for _, in := range with.Inputs {
			types[in.Identifier] = schemas.InputType(in.Type)
		}
	}
	for _, n := range g.Nodes() {
		if n.ID != part.Nodes[0].ID {
			continue
		}
		for _, fact := range n.Certain {
			input, is := fact.Input()
			switch {
			case is && types[input] != "":
				requires.Inputs[input] = types[input]
			case slices.Contains([]engine.Fact{engine.User, engine.New, engine.Authenticated, engine.Own, engine.Credential, engine.Enrolled, engine.Consented}, fact):
				requires.Facts = append(requires.Facts, string(fact))
			}
		}
	}
	return requires
}

// outline moves a random connected part of a flow with a single entry node into a sub-flow; nil
// if the random part is not suitable.
func outline(flow *schemas.Flow, r *rand.Rand) (outer, part *schemas.Flow) {
	index := map[string]int{}
	for i, n := range flow.Nodes {
		index[n.ID] = i
	}
	if len(index) < len(flow.Nodes) {
		return nil, nil
	}
	entry := r.IntN(len(flow.Nodes))
	in := grow(flow, index, entry, r)
	for changed := true; changed; {
		changed = false
		for i := range flow.Nodes {
			if in[i] && i != entry && (i == 0 || enteredFromOutside(flow, index, in, i)) {
				delete(in, i)
				changed = true
			}
		}
	}
	outer, part = clone(flow), &schemas.Flow{Handle: "part", Name: "Part", FlowType: schemas.Subflow, Outcomes: map[string]string{}}
	use := schemas.Node{ID: "outlined", Use: "flow", With: json.RawMessage(`{"flow":"part"}`), Next: schemas.Next{By: map[string]string{}}}
	outer.Nodes = nil
	for i, n := range clone(flow).Nodes {
		switch {
		case i == entry:
			part.Nodes = slices.Insert(part.Nodes, 0, n)
			outer.Nodes = append(outer.Nodes, use)
		case in[i]:
			part.Nodes = append(part.Nodes, n)
		default:
			outer.Nodes = append(outer.Nodes, n)
		}
	}
	redirect(outer.Nodes, func(to string) string {
		if to == flow.Nodes[entry].ID {
			return use.ID
		}
		return to
	})
	redirect(part.Nodes, func(to string) string {
		if i, known := index[to]; known && in[i] {
			return to
		}
		name := "to-" + to
		part.Outcomes[name], use.Next.By[name] = fmt.Sprintf("The run goes on to %s.", to), to
		return name
	})
	outer.Waive = nil
	for _, w := range flow.Waive {
		if i, known := index[w.Node]; known && in[i] {
			part.Waive = append(part.Waive, w)
		} else {
			outer.Waive = append(outer.Waive, w)
		}
	}
	if len(part.Outcomes) == 0 {
		part.Outcomes, outer.Nodes[slices.IndexFunc(outer.Nodes, func(n schemas.Node) bool { return n.ID == use.ID })].Next = nil, schemas.Next{}
	}
	return outer, part
}

// grow returns a node and a random set of nodes that it leads to.
func grow(flow *schemas.Flow, index map[string]int, entry int, r *rand.Rand) map[int]bool {
	in := map[int]bool{entry: true}
	todo := []int{entry}
	for len(todo) > 0 {
		n := flow.Nodes[todo[0]]
		todo = todo[1:]
		targets := []string{n.Next.To}
		for _, outcome := range n.Next.Outcomes() {
			targets = append(targets, n.Next.By[outcome])
		}
		for _, to := range targets {
			if i, known := index[to]; known && !in[i] && r.IntN(3) > 0 {
				in[i] = true
				todo = append(todo, i)
			}
		}
	}
	return in
}

func enteredFromOutside(flow *schemas.Flow, index map[string]int, in map[int]bool, i int) bool {
	for j, n := range flow.Nodes {
		if in[j] {
			continue
		}
		if n.Next.To == flow.Nodes[i].ID {
			return true
		}
		for _, to := range n.Next.By {
			if to == flow.Nodes[i].ID {
				return true
			}
		}
	}
	return false
}

// redirect changes the targets of nodes.
func redirect(list []schemas.Node, to func(string) string) {
	for i := range list {
		next := &list[i].Next
		if next.To != "" {
			next.To = to(next.To)
		}
		for _, outcome := range next.Outcomes() {
			next.By[outcome] = to(next.By[outcome])
		}
	}
}
