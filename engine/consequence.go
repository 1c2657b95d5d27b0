package engine

// Consequences
//
// One mistake often has several findings. Without user-create, no later node has a user to give a
// credential to, and the run completes without authentication. Authors should see the first one and
// fix it, so the others refer to it.
//
// A finding follows from another if it would not exist if the other one did not. The check assumes
// that the run has, wherever it breaks the first rule, the facts that are missing there, and
// searches again for a run that breaks the second: see stategraph.go. If there is none, the second
// finding follows. A user who authenticates can do so with every class and method, because the
// strength of a proof that is missing altogether is of no use to the author.
//
// The assumption applies only to runs that break the first rule. A run that breaks only the second
// therefore keeps it a finding of its own.
//
// Nodes without a path from the entry, or to an end, follow from the first of them whose connection
// would connect them as well.

import (
	"cmp"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// maxConsequenceStates limits the states of all searches for consequences. Beyond it, findings
// remain without a reference.
const maxConsequenceStates = 50_000

// violation is a finding about runs that arrive at one of the places, or leave by it, with none of
// the facts.
type violation struct {
	problem int // its index
	places  []move
	facts   []Fact
	length  int // of the shortest such run
}

// addViolation records that the next finding is about runs. Without a trace the search was too
// expensive.
func (c *compiler) addViolation(trace schemas.Trace, facts []Fact, places ...move) {
	if len(trace) > 0 {
		c.violations = append(c.violations, violation{len(c.problems), places, facts, len(trace)})
	}
}

// linkConsequences lets findings refer to those that they follow from.
func (c *compiler) linkConsequences() {
	if c.errorCount < 2 {
		return
	}
	c.linkDisconnected()
	slices.SortStableFunc(c.violations, func(a, b violation) int {
		return cmp.Or(cmp.Compare(a.length, b.length), compareBool(b.needsAuthentication(), a.needsAuthentication()))
	})
	left := maxConsequenceStates
	var roots []violation
	for _, v := range c.violations {
		if c.problems[v.problem].Warning {
			continue
		}
		i := slices.IndexFunc(roots, func(root violation) bool { return c.followsFrom(v, root, &left) })
		if i < 0 {
			roots = append(roots, v)
			continue
		}
		c.follow(v.problem, roots[i].problem)
	}
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (c *compiler) follow(problem, root int) {
	p := c.problems[root]
	c.problems[problem].Follows = &schemas.FindingRef{Rule: p.Rule, Path: p.Path, Node: p.Node}
}

// needsAuthentication reports whether the runs lack an authentication, or a user of their own.
func (v violation) needsAuthentication() bool {
	return slices.Contains(v.facts, Own) || slices.Contains(v.facts, Authenticated)
}

// remedy returns the facts of a run that does not break the rule.
func (v violation) remedy() []Fact {
	if v.needsAuthentication() {
		return append(ACRFacts(strongestClass()), Authenticated)
	}
	facts := slices.DeleteFunc(slices.Clone(v.facts), func(f Fact) bool { return f == New && len(v.facts) > 1 })
	return facts
}

// followsFrom reports whether no run violates v if the runs that violate root have its remedy.
// It subtracts the states that it visits from left, and a share of the nodes, which it reads anyway.
func (c *compiler) followsFrom(v, root violation, left *int) bool {
	remedy := root.remedy()
	if root.needsAuthentication() {
		for _, f := range v.facts {
			if f.IsAuthenticationDetail() {
				remedy = append(remedy, f)
			}
		}
	}
	facts := c.relevantFacts(slices.Concat(root.facts, remedy, v.facts))
	if len(facts) > maxBits || *left <= 0 {
		return false
	}
	p := c.newStateGraph(c.outcome, facts)
	lacking, repaired := p.bitsOf(root.facts), p.mask(remedy)
	p.repair = func(m move, held uint64) uint64 {
		if held&lacking == 0 && slices.Contains(root.places, m) {
			return held | repaired
		}
		return held
	}
	p.walk(p.mask(Required(c.flow)), *left)
	const share = 8
	*left -= len(p.states) + len(c.graph.nodes)/share
	return p.whole && !slices.ContainsFunc(v.places, func(at move) bool { return p.isViolatedAt(at, v.facts) })
}

// isViolatedAt reports whether a run arrives at the place, or leaves by it, with none of the facts.
func (p *stateGraph) isViolatedAt(at move, facts []Fact) bool {
	lacking := p.bitsOf(facts)
	return slices.ContainsFunc(p.at[at.node], func(s int32) bool {
		held := p.states[s].held
		if at.edge >= 0 {
			held = p.repair(at, p.edges[at.node][at.edge].after(held))
		}
		return held&lacking == 0
	})
}

// linkDisconnected links the findings about nodes that no path leads to, or from which no path leads
// to an end.
func (c *compiler) linkDisconnected() {
	index := map[string]int{}
	for i, n := range c.graph.nodes {
		index[n.id] = i
	}
	next := make([][]int, len(c.graph.nodes))
	before := make([][]int, len(c.graph.nodes))
	for i := range next {
		next[i] = c.graph.nodes[i].targets()
		for _, to := range next[i] {
			before[to] = append(before[to], i)
		}
	}
	c.linkConnected(RuleReach, index, next)
	c.linkConnected(RuleEnd, index, before)
}

// linkConnected links the findings of a rule at nodes that another one with such a finding leads to.
// Of several that lead to each other, the first is the root.
func (c *compiler) linkConnected(rule string, index map[string]int, leads [][]int) {
	var found []int // the problems
	for i, p := range c.problems {
		if p.Rule == rule && p.Node != "" && !p.Warning {
			found = append(found, i)
		}
	}
	if len(found) < 2 {
		return
	}
	reach := make([][]bool, len(found))
	for k, i := range found {
		reach[k] = closure([]int{index[c.problems[i].Node]}, leads)
	}
	leadsTo := func(k, l int) bool { return reach[k][index[c.problems[found[l]].Node]] }
	for l := range found {
		for k := range found {
			if root := k != l && leadsTo(k, l) && (!leadsTo(l, k) || k < l) && isFirst(len(found), k, leadsTo); root {
				c.follow(found[l], found[k])
				break
			}
		}
	}
}

// isFirst reports whether only nodes that k leads to, and later nodes, lead to k.
func isFirst(n, k int, leadsTo func(k, l int) bool) bool {
	for other := range n {
		if other != k && leadsTo(other, k) && (!leadsTo(k, other) || other < k) {
			return false
		}
	}
	return true
}
