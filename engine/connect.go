package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// missingTarget is the target of an edge whose target does not exist. It exists only during a
// check: a flow with such an edge has no graph.
const missingTarget = math.MinInt32

// connectNodes sets the target of every outcome of every node.
func (c *compiler) connectNodes() {
	for i := range c.graph.nodes {
		next := c.nodes[i].Next
		switch n := &c.graph.nodes[i]; {
		case n.exec == nil:
			c.connectUnknownOutcomes(i, next)
		case c.useScopes[i] != nil:
			c.connectUse(i, next)
		case n.kind.Terminal:
			if !next.IsZero() {
				c.report(RuleOutcome, i, "next", "%s ends the run, so nothing can follow it; remove `next`", n.kind.Name)
			}
		case next.By != nil:
			c.connectByName(i, next)
		default:
			c.connectToOne(i, next.To)
		}
	}
}

// connectUnknownOutcomes connects the targets of a node whose outcomes are not known, so that
// their nodes do not appear unreachable.
func (c *compiler) connectUnknownOutcomes(i int, next schemas.Next) {
	add := func(path, outcome, target string) {
		c.graph.nodes[i].edges = append(c.graph.nodes[i].edges, edge{Outcome: Outcome{name: outcome}, target: c.target(i, path, target)})
	}
	if next.To != "" {
		add("next", "", next.To)
	}
	for _, outcome := range next.Outcomes() {
		add(schemas.MemberPath("next", outcome), outcome, next.By[outcome])
	}
}

// connectByName connects the outcomes to their targets in {outcome: target}.
func (c *compiler) connectByName(i int, next schemas.Next) {
	n := &c.graph.nodes[i]
	names := outcomeNames(n.edges)
	for _, outcome := range next.Outcomes() {
		if !slices.Contains(names, outcome) && !c.dropFinding() {
			c.report(RuleOutcome, i, schemas.MemberPath("next", outcome), "%s has no outcome %q here; %s", n.kind.Name, outcome, hintForName(outcome, names))
			last := &c.problems[len(c.problems)-1]
			*last = last.OnName()
		}
	}
	for e := range n.edges {
		name := n.edges[e].name
		to, wired := next.By[name]
		switch {
		case wired:
			n.edges[e].target = c.target(i, schemas.MemberPath("next", name), to)
		case n.edges[e].Optional:
			n.edges[e].target, n.edges[e].retry = i, true
		default:
			n.edges[e].target = missingTarget
			c.report(RuleOutcome, i, "next", "the outcome %q has no target; add `%s: <node id>` to `next`%s", name, name, docOf(n.edges[e].Outcome))
		}
	}
}

// connectToOne wires `next: target`: every required outcome gets this target.
func (c *compiler) connectToOne(i int, to string) {
	n := &c.graph.nodes[i]
	target := missingTarget
	if to != "" {
		target = c.target(i, "next", to)
	} else {
		c.report(RuleOutcome, i, "", "the node has no target; add `next: <node id>`, or {outcome: node id} for %s", strings.Join(outcomeNames(n.edges), ", "))
	}
	for e := range n.edges {
		n.edges[e].target = target
		if n.edges[e].Optional {
			n.edges[e].target, n.edges[e].retry = i, true
		}
	}
}

// target returns the index of the node that an author names, or reports that it does not exist.
func (c *compiler) target(i int, path, id string) int {
	s := c.nodeOrigins[i].scope
	if to, ok := s.exits[id]; ok {
		return to
	}
	if to, ok := c.index[s.prefix+id]; ok {
		return to
	}
	if c.dropFinding() {
		return missingTarget
	}
	known := sortedKeys(s.exits)
	for _, n := range s.flow.Nodes {
		if !slices.Contains(known, n.ID) {
			known = append(known, n.ID)
		}
	}
	c.report(RuleTarget, i, path, "there is no node %q; %s", id, hintForName(id, known))
	return missingTarget
}

// hintForName suggests the nearest known name, or lists them if they are few.
func hintForName(word string, known []string) string {
	const few = 12
	switch near := schemas.Suggest(word, known); {
	case near != "":
		return fmt.Sprintf("did you mean %q?", near)
	case len(known) == 0:
		return "it has none"
	case len(known) > few:
		return fmt.Sprintf("there are %d, including %s", len(known), strings.Join(known[:few], ", "))
	}
	return "expected one of " + strings.Join(known, ", ")
}

func outcomeNames(edges []edge) []string {
	names := make([]string, len(edges))
	for i, e := range edges {
		names[i] = e.name
	}
	return names
}

func docOf(o Outcome) string {
	if o.Doc == "" {
		return ""
	}
	return " (" + o.Doc + ")"
}

// checkReach reports nodes that no path leads to, and nodes from which no path leads to an end.
//
// It reports nothing unreachable while a target is missing or ambiguous: that mistake may be the
// cause.
func (c *compiler) checkReach() {
	dangling := slices.ContainsFunc(c.problems, func(p schemas.Problem) bool {
		return p.Rule == RuleTarget || p.Rule == RuleOutcome || p.Rule == RuleID
	})
	reached := c.reachableNodes()
	ending := c.reachesEnd()
	if !dangling {
		c.checkExits()
	}
	for i := range c.graph.nodes {
		switch {
		case c.nodeOrigins[i].scope.use >= 0 && !(reached[c.rootOf(i)] && ending[c.rootOf(i)]): // reported at the node that uses the sub-flow
		case !reached[i] && dangling:
		case !reached[i]:
			c.report(RuleReach, i, "id", "no path from the entry %q leads to %q; name it in the `next` of another node, or remove it", c.graph.nodes[0].id, c.graph.nodes[i].id)
		case !ending[i]:
			c.report(RuleEnd, i, "next", "no path leads from %q to an end; add a path to `end` or to a node that ends the run, such as authorization-code", c.graph.nodes[i].id)
		}
	}
}

// reachableNodes marks the nodes that can be reached from the entry.
func (c *compiler) reachableNodes() []bool {
	next := make([][]int, len(c.graph.nodes))
	for i := range next {
		next[i] = c.graph.nodes[i].targets()
	}
	return closure([]int{0}, next)
}

// reachesEnd marks the nodes from which an end can be reached. A missing target counts as an
// end: it has a finding of its own.
func (c *compiler) reachesEnd() []bool {
	var ends []int
	before := make([][]int, len(c.graph.nodes))
	for i, n := range c.graph.nodes {
		leaves := func(e edge) bool { return e.target < 0 }
		if n.kind == nil || n.kind.Terminal || n.exec == nil || slices.ContainsFunc(n.edges, leaves) {
			ends = append(ends, i)
		}
		for _, to := range n.targets() {
			before[to] = append(before[to], i)
		}
	}
	return closure(ends, before)
}

// closure marks the nodes that can be reached from others.
func closure(from []int, next [][]int) []bool {
	marked := make([]bool, len(next))
	for todo := from; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !marked[i] {
			marked[i] = true
			todo = append(todo, next[i]...)
		}
	}
	return marked
}
