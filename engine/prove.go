package engine

// Proofs
//
// A run collects facts: it has identified a user, it has created that user, the user has
// authenticated. They decide what may be done to the user. An assertion for an unauthenticated
// user admits anyone. A passkey for a user who was merely identified gives another person's
// account away. Both must be impossible whatever the client sends, and authors must learn about
// it before a flow is stored.
//
// Every outcome of every kind therefore declares what it establishes and what it withdraws. A
// forward must-analysis computes for each node the facts that hold on every path from the entry
// to it:
//
//	in(entry) = ∅
//	in(n)     = ⋂ after(in(p), o)   over all edges p —o→ n
//
// The sets start at "everything" (nil) and only shrink; after() is monotone; there are finitely
// many facts. A worklist therefore reaches the greatest fixed point, and in(n) holds however a
// run gets to n. Paths that no client could take count as well: the analysis may reject too
// much, never too little.
//
// The sets do not contain paths. Needs that they leave in doubt are therefore checked again,
// path by path: see stategraph.go. That search finds the shortest run that breaks the rule, or
// proves that there is none because every path establishes one of the required facts.
//
// The same proof covers the guarantees of a flow (guarantee.go). A node may also establish facts
// that it has merely observed: a decision on user.isAuthenticated authenticates no user, but the
// user on that path is authenticated.
//
// The engine applies the same after() to the facts of a run. By monotonicity a run has at least
// the proven facts, so the check before each node never fails in a compiled flow. It exists
// because an identity server should not depend on a single proof.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// prove computes what is certain at every node and checks it against the needs of the nodes.
func (c *compiler) prove() {
	c.analyze()
	waived := map[*schemas.Waiver]bool{}
	for i := range c.graph.nodes {
		n := &c.graph.nodes[i]
		if n.in == nil || n.kind == nil {
			continue
		}
		if n.exec == nil {
			n.needs = n.kind.Needs // the needs of its configuration are not known
		}
		if c.withinUnmet(i) {
			continue // the missing fact has been reported at the node that uses the sub-flow
		}
		before := c.errorCount
		n.needs = slices.DeleteFunc(slices.Clone(n.needs), func(need Need) bool {
			if need.Advisory && c.errorCount > before {
				return true // the node has a finding already
			}
			return !c.appliesTo(need, n) || !n.in.HasAny(need.AnyOf) && c.checkNeed(i, need, waived)
		})
		n.unmet = c.errorCount > before
		if n.exec != nil {
			c.checkEnds(i)
		}
	}
	c.checkSessions(waived)
	c.checkRenewals()
	c.checkWaivers(waived)
}

// appliesTo reports whether the node has the need. What the flows that use a sub-flow prove before
// it is not known when it is checked by itself.
func (c *compiler) appliesTo(need Need, n *node) bool {
	if need.Rule == RuleChain && c.flow.FlowType == schemas.Subflow {
		return false
	}
	return need.Given == "" || n.in.Has(need.Given)
}

// withinUnmet reports whether node i belongs to a sub-flow whose required facts are not certain
// where it is used.
func (c *compiler) withinUnmet(i int) bool {
	for i = c.nodeOrigins[i].scope.use; i >= 0; i = c.nodeOrigins[i].scope.use {
		if c.graph.nodes[i].unmet {
			return true
		}
	}
	return false
}

// analyze records what is certain at every node.
func (c *compiler) analyze() {
	for i, in := range c.certainFacts(c.outcome) {
		c.graph.nodes[i].in = in
	}
}

// outcomeReading returns the outcome of edge j of node i for an analysis. One graph has several
// readings: see session.go.
type outcomeReading func(i, j int) Outcome

// outcome is the reading that uses every outcome as declared.
func (c *compiler) outcome(i, j int) Outcome {
	n := &c.graph.nodes[i]
	if n.exec == nil {
		return n.bestOutcome(n.edges[j].name)
	}
	return n.edges[j].Outcome
}

// certainFacts runs the worklist to the greatest fixed point and returns the facts that hold at
// each node; nil for unreachable nodes.
func (c *compiler) certainFacts(read outcomeReading) []Facts {
	in := make([]Facts, len(c.graph.nodes))
	in[0] = c.entryFacts()
	todo := []int{0}
	for len(todo) > 0 {
		i := todo[0]
		todo = todo[1:]
		n := &c.graph.nodes[i]
		if n.kind == nil {
			continue // it may establish everything: its successors lose nothing
		}
		for j, e := range n.edges {
			if e.target < 0 {
				continue
			}
			certain := in[i].after(read(i, j))
			if n.exec == nil {
				certain = certain.with(anyInput)
			}
			if in[e.target] != nil {
				certain = in[e.target].Intersect(certain)
			}
			if in[e.target] != nil && slices.Equal(certain, in[e.target]) {
				continue
			}
			in[e.target] = certain
			if !slices.Contains(todo, e.target) {
				todo = append(todo, e.target)
			}
		}
	}
	return in
}

// bestOutcome returns the most that an outcome can establish if the kind is known and the
// configuration is invalid. Outcomes that the configuration names establish nothing but inputs.
func (n *node) bestOutcome(outcome string) Outcome {
	for _, o := range n.kind.Outcomes {
		if o.name == outcome || outcome == "" && !strings.HasPrefix(o.name, "<") {
			return o
		}
	}
	return Outcome{name: outcome}
}

// checkNeed checks a need that the analysis does not find certain path by path, and reports it
// with the shortest run that breaks it. It reports whether the finding is only a warning: it is
// waived, or the rule is newer than the stored flow.
func (c *compiler) checkNeed(i int, need Need, waived map[*schemas.Waiver]bool) bool {
	n := &c.graph.nodes[i]
	waiver := c.waiver(cmp.Or(need.Rule, RuleNeeds), i)
	if waiver == nil && c.dropFinding() {
		return need.Advisory
	}
	trace, broken := c.counterexample(i, -1, need.AnyOf)
	if !broken {
		return need.Advisory // every path establishes one of them, though not all the same one
	}
	problem := schemas.Problem{Rule: cmp.Or(need.Rule, RuleNeeds), Path: c.nodePath(i, need.Path), Message: needMessage(n, need), Within: need.Within, Trace: trace}
	problem.Warning = need.Advisory || c.stored && newerThanStores(problem.Rule)
	c.addViolation(trace, need.AnyOf, move{i, -1})
	c.addWaivable(i, problem, waiver, waived)
	return waiver != nil || problem.Warning
}

// newerThanStores reports whether servers have stored flows that break the rule.
func newerThanStores(rule string) bool { return rule == RuleChain || rule == RuleAttribute }

// counterexample returns the shortest run that arrives at node i, or leaves it by the edge if
// that is not -1, with none of the facts. The trace is nil if the search is too expensive.
func (c *compiler) counterexample(i, edge int, facts []Fact) (trace schemas.Trace, broken bool) {
	p := c.stateGraphOf(facts)
	if p == nil {
		return nil, true
	}
	path, broken := p.pathWithout(i, edge, facts)
	if !broken {
		return nil, false
	}
	return c.trace(path, facts), true
}

// addWaivable adds a finding, as a warning if there is a waiver.
func (c *compiler) addWaivable(i int, p schemas.Problem, waiver *schemas.Waiver, waived map[*schemas.Waiver]bool) {
	if waiver != nil {
		waived[waiver] = true
		p.Warning, p.Waived, p.Message = true, true, p.Message+" (waived: "+waiver.Reason+")"
	}
	c.addFinding(i, p)
}

// waivable returns the rules that can be waived.
func waivable() []string { return []string{RuleTakeover, RuleSession, RuleChain} }

// waivedRules returns the rules that a waiver accepts at node i.
func (c *compiler) waivedRules(i int) (rules []string) {
	for _, rule := range waivable() {
		if c.waiver(rule, i) != nil {
			rules = append(rules, rule)
		}
	}
	return rules
}

// waiver returns the waiver of a finding at node i, nil if there is none or the rule cannot be
// waived. A sub-flow waives findings about its own nodes.
func (c *compiler) waiver(rule string, i int) *schemas.Waiver {
	at := c.nodeOrigins[i]
	for w := range at.scope.flow.Waive {
		waiver := &at.scope.flow.Waive[w]
		if waiver.Rule == rule && slices.Contains(waivable(), rule) && waiver.Node == at.scope.flow.Nodes[at.index].ID {
			return waiver
		}
	}
	return nil
}

func needMessage(n *node, need Need) string {
	fact, pronoun := factNames(need.AnyOf), "one"
	if strings.HasPrefix(fact, "the ") {
		pronoun = "it"
	}
	message := fmt.Sprintf("%s needs %s, but not every path to it provides %s", n.kind.Name, fact, pronoun)
	if need.Why != "" {
		message += ": " + need.Why
	}
	if need.Fix != "" {
		message += "; " + need.Fix
	}
	return message
}

// checkEnds rejects an AUTHENTICATION flow that could complete without authentication.
func (c *compiler) checkEnds(i int) {
	if c.flow.FlowType != schemas.Authentication {
		return
	}
	n := &c.graph.nodes[i]
	for j, e := range n.edges {
		if e.target != endNode || n.in.after(e.Outcome).Has(Authenticated) || c.dropFinding() {
			continue
		}
		trace, broken := c.counterexample(i, j, []Fact{Authenticated})
		if !broken {
			continue
		}
		c.addViolation(trace, []Fact{Authenticated}, move{i, j})
		c.addFinding(i, schemas.Problem{Rule: RuleUnauthenticated, Path: c.edgePath(i, j), Trace: trace, Message: fmt.Sprintf(
			"the outcome %q completes an AUTHENTICATION flow although the user may not have authenticated; lead it to a node that authenticates, such as passkey-authenticate", e.name)})
	}
}

// checkWaivers rejects waivers of rules that cannot be waived, and waivers without a finding,
// which would hide a future mistake.
func (c *compiler) checkWaivers(waived map[*schemas.Waiver]bool) {
	for i := range c.flow.Waive {
		w := &c.flow.Waive[i]
		path := fmt.Sprintf("waive[%d]", i)
		switch {
		case !slices.Contains(waivable(), w.Rule):
			c.report(RuleWaive, -1, schemas.JoinPath(path, "rule"), "the rule %q cannot be waived; only %s can", w.Rule, strings.Join(waivable(), ", "))
		case !waived[w] && c.waivesChain(w):
			c.addFinding(-1, schemas.Problem{Rule: RuleChain, Path: path, Warning: true, Waived: true, Message: fmt.Sprintf(
				"new ways through the node %q are accepted, and a credential that it adds has no limit (waived: %s)", w.Node, w.Reason)})
		case !waived[w] && !c.waivesForUsers(w):
			c.report(RuleWaive, -1, path, "there is no finding of the rule %q at the node %q to waive; remove the waiver", w.Rule, w.Node)
		}
	}
}

// waivesChain reports whether a waiver of RuleChain is about a node that authenticates or adds
// a credential. The rule is about all flows together, so this flow alone does not show a finding.
func (c *compiler) waivesChain(w *schemas.Waiver) bool {
	return w.Rule == RuleChain && slices.ContainsFunc(c.graph.nodes, func(n node) bool {
		return n.id == w.Node && slices.ContainsFunc(n.edges, func(e edge) bool {
			return slices.Contains(e.Establishes, Authenticated) || slices.Contains(e.Establishes, Credential)
		})
	})
}
