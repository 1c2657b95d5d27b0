package engine

import (
	"maps"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// exitsOf returns the names of the exits of a flow, sorted.
func exitsOf(f *schemas.Flow) []string {
	switch {
	case f.FlowType != schemas.Subflow:
		return []string{schemas.End}
	case len(f.Outcomes) > 0:
		return sortedKeys(f.Outcomes)
	}
	ends := func(n schemas.Node) bool {
		return n.Next.To == schemas.End || slices.Contains(slices.Collect(maps.Values(n.Next.By)), schemas.End)
	}
	if slices.ContainsFunc(f.Nodes, ends) {
		return []string{schemas.End}
	}
	return nil // its nodes end the run
}

// checkDeclared reports members that a flow of this type must not declare.
func (c *compiler) checkDeclared() {
	f := c.flow
	switch part := f.FlowType == schemas.Subflow; {
	case part && !f.Guarantees.IsZero():
		c.report(RuleGuarantee, -1, "guarantees", "a sub-flow has no guarantees of its own; declare them in the flows that use it")
	case !part && !f.Requires.IsZero():
		c.report(RuleShape, -1, "requires", "only a SUBFLOW has `requires`: a run of a flow of type %s starts with nothing; remove `requires`", f.FlowType)
	case !part && len(f.Outcomes) > 0:
		c.report(RuleShape, -1, "outcomes", "only a SUBFLOW has outcomes: a flow of type %s ends at `end`; remove `outcomes`", f.FlowType)
	}
}

// checkExits reports outcomes of a sub-flow that no node leads to.
func (c *compiler) checkExits() {
	if c.flow.FlowType != schemas.Subflow {
		return
	}
	left := map[int]bool{}
	for i := range c.graph.nodes {
		for _, e := range c.graph.nodes[i].edges {
			left[e.target] = true
		}
	}
	for k, name := range c.graph.exits {
		if !left[endNode-k] {
			c.report(RuleReach, -1, schemas.MemberPath("outcomes", name), "no node leads to the outcome %q; name it in the `next` of a node, or remove it", name)
		}
	}
}

// entryFacts returns the facts that hold on arrival at the entry.
func (c *compiler) entryFacts() Facts { return NewFacts(Required(c.flow)...) }

// Required returns the facts that a sub-flow requires.
func Required(f *schemas.Flow) []Fact {
	var facts []Fact
	for _, name := range f.Requires.Facts {
		facts = append(facts, Fact(name))
	}
	for _, identifier := range sortedKeys(f.Requires.Inputs) {
		facts = append(facts, InputFact(identifier))
	}
	return facts
}

// isMisshapen reports whether node i, or the node that uses its sub-flow, is known to be
// invalid.
func (c *compiler) isMisshapen(i int) bool { return c.misshapen[c.nodeOrigins[c.rootOf(i)].index] }

// rootOf returns the flow's own node that is node i or contains it.
func (c *compiler) rootOf(i int) int {
	for c.nodeOrigins[i].scope.use >= 0 {
		i = c.nodeOrigins[i].scope.use
	}
	return i
}

// nodePath returns the path of a member of node i. For a node of a sub-flow it is the place
// where the flow names the sub-flow.
func (c *compiler) nodePath(i int, member string) string {
	root := c.rootOf(i)
	if root != i {
		member = "with.flow"
	}
	return nodePath(c.nodeOrigins[root].index, member)
}

// nextPath returns the path in the definition of an outcome's target. For an exit of a sub-flow it
// is the path of the target that the flow gives to the exit.
func (c *compiler) nextPath(i int, outcome string) string {
	s, next := c.nodeOrigins[i].scope, c.nodes[i].Next
	to := targetOf(next, outcome)
	if _, out := s.exits[to]; out && s.use >= 0 {
		return c.nextPath(s.use, to)
	}
	if next.By != nil {
		return c.nodePath(i, schemas.MemberPath("next", outcome))
	}
	return c.nodePath(i, "next")
}
