package studio

import (
	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// Studio stores the system for which flows are written, and the last checked flow. It is not safe
// for concurrent use.
type Studio struct {
	kinds    engine.Kinds
	subflows schemas.SubflowsOf
	targets  []string // nil if they are not known
	last     checked
	played   played
}

// New returns a studio for a system without sub-flows, that accepts every target and sends mail.
func New() *Studio {
	return &Studio{kinds: nodes.Kinds(nodes.Deps{}), subflows: schemas.SubflowsOf{}}
}
