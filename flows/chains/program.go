package chains

import (
	"fmt"
	"slices"

	"github.com/postern-id/postern/engine"
)

// program is a flow in the form that the search walks: settings are decoded, and targets are
// indexes.
type program struct {
	name      string
	guarantee proof
	nodes     []vertex
	providers []kind // the identities that the flow can link
	kinds     []kind // the items that its outcomes depend on
	shape     string // equal for flows that mean the same to the analysis
}

// vertex is a node.
type vertex struct {
	id        string
	waived    bool
	completes bool // a run ends here with a sign-in
	edges     []arc
}

// arc is an outcome and its target, -1 for the end of the run.
type arc struct {
	outcome string
	effect  engine.Effect
	target  int
}

func prepare(f *Flow) *program {
	p := &program{name: f.Name, guarantee: proofOf(f.Guarantee)}
	index := map[string]int{}
	for i := range f.Nodes {
		if _, known := index[f.Nodes[i].ID]; !known {
			index[f.Nodes[i].ID] = i
		}
	}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		v := vertex{id: n.ID, waived: isWaived(n), completes: n.Completes}
		for _, e := range n.Edges {
			target, ok := index[e.Target]
			if !ok {
				target = -1
			}
			v.edges = append(v.edges, arc{e.Outcome, e.Effect, target})
		}
		p.nodes = append(p.nodes, v)
	}
	p.summarize()
	return p
}

// summarize notes what concerns the whole flow.
func (p *program) summarize() {
	var used []kind
	p.shape = fmt.Sprint(p.guarantee)
	for _, v := range p.nodes {
		if v.completes {
			used = append(used, noApp, noCodes) // what a token can do: see operations
		}
		p.shape += fmt.Sprintf("\n%t %t", v.waived, v.completes)
		for _, e := range v.edges {
			if e.effect.Proves.IsIdentity() {
				p.providers = append(p.providers, e.effect.Proves)
			}
			if e.effect.Resumes != "" {
				used = append(used, aSession)
			}
			used = append(used, e.effect.Uses()...)
			p.shape += fmt.Sprintf(" %q:%d %q", e.outcome, e.target, fmt.Sprint(e.effect))
		}
	}
	slices.Sort(used)
	p.kinds = slices.Compact(used)
}
