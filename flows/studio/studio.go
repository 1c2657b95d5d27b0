package studio

import (
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// Studio stores the system for which flows are written, and the last checked flow. It is not safe
// for concurrent use.
type Studio struct {
	kinds    engine.Kinds
	subflows schemas.Subflows
	targets  []string // nil if they are not known
	// attributes are those that users can have.
	attributes []string
	parser     schemas.FlowParser
	last       checked
	played     played
}

// New returns a studio for a system without sub-flows, that accepts every target and sends mail.
func New() *Studio {
	return NewForFile(nodes.Kinds(nodes.Deps{}), schemas.SubflowsOf{}, nil)
}

// NewForFile returns a studio for a flow in a file, which can use the sub-flows. Without user types,
// users have the standard attributes.
func NewForFile(kinds engine.Kinds, subflows schemas.Subflows, types []schemas.UserType) *Studio {
	s := &Studio{kinds: engine.Remember(kinds), subflows: subflows}
	if len(types) == 0 {
		s.attributes, _ = new(schemas.Person()).AttributeNames()
	}
	for i := range types {
		names, _ := types[i].AttributeNames()
		s.attributes = append(s.attributes, names...)
	}
	slices.Sort(s.attributes)
	s.attributes = slices.Compact(s.attributes)
	return s
}
