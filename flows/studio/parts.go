package studio

import (
	"maps"
	"slices"
)

// Parts are what the graph of a flow can be changed with.
type Parts struct {
	Kinds []PartKind `json:"kinds"` // sorted by name
	Nodes []PartNode `json:"nodes"` // in their order in the text
}

// PartKind is a kind of nodes.
type PartKind struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
}

// PartNode is a node as far as it is written.
type PartNode struct {
	ID string `json:"id"`
	// Outcomes are those that its configuration gives it; none if it ends the run.
	Outcomes []string `json:"outcomes"`
}

// ListParts returns the kinds that a node can have, and the outcomes of each node, also of a flow with
// errors.
func (s *Studio) ListParts(source Source) (*Parts, error) {
	p := &Parts{Kinds: []PartKind{}, Nodes: []PartNode{}}
	for _, name := range slices.Sorted(maps.Keys(s.kinds)) {
		p.Kinds = append(p.Kinds, PartKind{name, s.kinds[name].Doc})
	}
	found := parsedNodes(source.Text)
	if found == nil {
		found = outlineNodes(source.Text)
	}
	for _, n := range found {
		node := PartNode{n.id, []string{}}
		for _, o := range s.outcomes(&n) {
			node.Outcomes = append(node.Outcomes, o.Name)
		}
		p.Nodes = append(p.Nodes, node)
	}
	return p, nil
}
