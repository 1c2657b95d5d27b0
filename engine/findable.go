package engine

import (
	"slices"

	"github.com/postern-id/postern/schemas"
)

// checkFindable warns of a run that completes with a new user that cannot be found again. An
// unverified email address identifies no user. A flow that collects nothing else, and neither
// verifies the address nor registers a passkey, creates accounts without a way to sign in.
func (c *compiler) checkFindable() {
	creates := slices.ContainsFunc(c.graph.nodes, func(n node) bool {
		return slices.ContainsFunc(n.edges, func(e edge) bool { return slices.Contains(e.Establishes, New) })
	})
	if c.flow.FlowType == schemas.Subflow || !creates {
		return
	}
	asked := []Fact{Findable}
	p := c.stateGraphOf([]Fact{New, Findable})
	if p == nil {
		return
	}
	for _, end := range c.completions() {
		path, lost := p.pathWithout(end.node, end.edge, asked, New)
		if !lost {
			continue
		}
		at := c.nodePath(end.node, "")
		if end.edge >= 0 {
			at = c.edgePath(end.node, end.edge)
		}
		c.addFinding(end.node, schemas.Problem{Rule: RuleFindable, Path: at, Trace: c.trace(path, asked), Warning: true,
			Message: "a run can end here with a new user that cannot be found again: an unverified email address identifies no user; " +
				"require a username, verify the address with email-otp, or register a passkey"})
		return
	}
}
