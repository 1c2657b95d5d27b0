package studio

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// Kind is a kind of nodes.
type Kind struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
	// With is the JSON Schema of the configuration; null if there is none.
	With json.RawMessage `json:"with"`
	// Values lists the values that the system offers for members of the configuration: see
	// systemValues.
	Values map[string][]string `json:"values"`
}

// ListKinds returns the kinds that a node can have, sorted by name.
func (s *Studio) ListKinds(struct{}) ([]Kind, error) {
	list := []Kind{}
	for _, name := range slices.Sorted(maps.Keys(s.kinds)) {
		kind := Kind{Name: name, Doc: s.kinds[name].Doc, Values: map[string][]string{}}
		if with := s.kinds[name].With; with != nil {
			kind.With = with.Raw()
			for member := range decodeSchema(with).object("properties") {
				if values := s.systemValues(name, member); values != nil {
					kind.Values[member] = values
				}
			}
		}
		list = append(list, kind)
	}
	return list, nil
}

// systemValues returns the values that the system offers for a member of the configuration of a
// kind: the handles of sub-flows, or the targets. It is nil for other members, and if the system is
// unknown.
func (s *Studio) systemValues(kind, member string) []string {
	switch {
	case kind == schemas.SubflowKind && member == "flow":
		return s.subflows.Handles()
	case kind == "http-request" && member == "target":
		return s.targets
	}
	return nil
}

// Parts are the parts of a flow that its graph shows.
type Parts struct {
	Nodes []PartNode `json:"nodes"` // in their order in the text
}

// PartNode is a node as far as it is written.
type PartNode struct {
	ID string `json:"id"`
	// Outcomes are those that its configuration gives it; none if it ends the run.
	Outcomes []string `json:"outcomes"`
}

// ListParts returns the outcomes of each node, also of a flow with errors.
func (s *Studio) ListParts(source Source) (*Parts, error) {
	p := &Parts{Nodes: []PartNode{}}
	parsed := s.parsed(source.Text)
	found := parsedNodes(parsed)
	if found == nil {
		found = outlineNodes(source.Text, parsed)
	}
	for _, n := range found {
		node := PartNode{n.id, []string{}}
		for _, o := range s.outcomes(&n) {
			node.Outcomes = append(node.Outcomes, o.Name())
		}
		p.Nodes = append(p.Nodes, node)
	}
	return p, nil
}
