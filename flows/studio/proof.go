package studio

import (
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Proof is what is proven of a flow.
type Proof struct {
	// Guarantees holds for every completed run. For a sub-flow it is empty: it depends on its use.
	Guarantees schemas.Guarantees `json:"guarantees"`
	// Sessions lists the nodes that accept an earlier sign-in, with the class that they demand.
	Sessions []engine.SessionDemand `json:"sessions"`
	// Nodes contains the flow's own nodes, in their order.
	Nodes []ProvenNode `json:"nodes"`
}

// ProvenNode is what is certain on arrival at a node.
type ProvenNode struct {
	ID    string       `json:"id"`
	User  string       `json:"user"`
	Edges []ProvenEdge `json:"edges"`
}

// ProvenEdge is an outcome that the flow wires, and what changes with it. Outcome is "" if all
// outcomes of the node lead to the same target.
type ProvenEdge struct {
	Outcome string   `json:"outcome"`
	Target  string   `json:"target"`
	User    string   `json:"user"`
	Gains   []string `json:"gains"` // facts in words
	Loses   []string `json:"loses"`
}

// Prove returns what is proven of a flow without errors.
func (s *Studio) Prove(source Source) (*Proof, error) {
	g, err := s.graph(source)
	if err != nil {
		return nil, err
	}
	p := &Proof{Guarantees: g.Guarantees(), Sessions: append([]engine.SessionDemand{}, g.Sessions()...), Nodes: []ProvenNode{}}
	places := placesOf(g)
	for _, n := range g.Flow().Nodes {
		before := places.at(n.ID)
		proven := ProvenNode{ID: n.ID, User: userState(before), Edges: []ProvenEdge{}}
		for _, w := range wiresOf(n.Next) {
			after := places.after(n.ID, w.outcome, w.target)
			proven.Edges = append(proven.Edges, ProvenEdge{w.outcome, w.target, userState(after), words(without(after, before)), words(without(before, after))})
		}
		p.Nodes = append(p.Nodes, proven)
	}
	return p, nil
}

// Place is a node of a flow or, with a target, an edge that leaves it.
type Place struct {
	Source
	Node    string `json:"node"`
	Outcome string `json:"outcome,omitempty"`
	Target  string `json:"target,omitempty"`
}

// CertainFacts lists what is certain at a place, in words.
type CertainFacts struct {
	Facts []string `json:"facts"`
}

// FactsAt returns the facts that are certain at a place of a flow without errors.
func (s *Studio) FactsAt(place Place) (*CertainFacts, error) {
	g, err := s.graph(place.Source)
	if err != nil {
		return nil, err
	}
	places := placesOf(g)
	facts := places.at(place.Node)
	if place.Target != "" {
		facts = places.after(place.Node, place.Outcome, place.Target)
	}
	return &CertainFacts{Facts: words(facts)}, nil
}

type wire struct{ outcome, target string }

// wiresOf lists the outcomes that a node wires, sorted.
func wiresOf(next schemas.Next) (list []wire) {
	if next.To != "" {
		return []wire{{"", next.To}}
	}
	for _, outcome := range next.Outcomes() {
		list = append(list, wire{outcome, next.By[outcome]})
	}
	return list
}

// places finds the facts at the nodes and edges of a graph, which includes the nodes of sub-flows.
type places struct {
	nodes map[string]engine.Node
	// inner contains, for a node that uses a sub-flow, all nodes of that.
	inner map[string][]engine.Node
}

func placesOf(g *engine.Graph) places {
	p := places{nodes: map[string]engine.Node{}, inner: map[string][]engine.Node{}}
	for _, n := range g.Nodes() {
		p.nodes[n.ID] = n
		for outer := n.Within; outer != ""; outer = p.nodes[outer].Within {
			p.inner[outer] = append(p.inner[outer], n)
		}
	}
	return p
}

func (p places) at(node string) []engine.Fact { return p.nodes[node].Certain }

// after returns the facts that are certain whenever a run leaves a node by the outcome to the
// target. A run leaves a sub-flow by any of the edges that lead out of it to the target.
func (p places) after(node, outcome, target string) (facts []engine.Fact) {
	from := p.inner[node]
	if len(from) == 0 {
		from = []engine.Node{p.nodes[node]}
	} else {
		outcome = ""
	}
	found := false
	for _, n := range from {
		for _, e := range n.Edges {
			if e.Target != target || outcome != "" && e.Outcome != outcome {
				continue
			}
			if !found {
				facts = slices.Clone(e.Certain)
			} else {
				facts = slices.DeleteFunc(facts, func(f engine.Fact) bool { return !slices.Contains(e.Certain, f) })
			}
			found = true
		}
	}
	return facts
}

// without returns the facts of a list that are not in the other. The graph lists facts sorted.
func without(facts, other []engine.Fact) (rest []engine.Fact) {
	for _, f := range facts {
		if _, found := slices.BinarySearch(other, f); !found {
			rest = append(rest, f)
		}
	}
	return rest
}

// words describes facts, without those that follow from others. Different facts can have the same
// words.
func words(facts []engine.Fact) []string {
	list := make([]string, 0, len(facts))
	for _, f := range facts {
		follows := slices.ContainsFunc(facts, func(other engine.Fact) bool { return other != f && engine.NewFacts(other).Has(f) })
		if text := f.Describe(); !follows && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// userState names what is certain about the user: anyone, identified, created or authenticated.
func userState(facts []engine.Fact) string {
	switch {
	case slices.Contains(facts, engine.Authenticated):
		return "authenticated"
	case slices.Contains(facts, engine.New):
		return "created"
	case slices.Contains(facts, engine.User):
		return "identified"
	}
	return "anyone"
}
