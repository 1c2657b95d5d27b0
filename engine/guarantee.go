package engine

// Guarantees
//
// The facts include how a user authenticated: the class is at least phr, the methods include
// pop. The outcomes of authenticating kinds establish such facts, a change of the user removes
// them, and where paths meet their intersection remains. The facts that are certain wherever a
// run completes are therefore what the weakest path guarantees. A declared guarantee is one more
// need of every end: it is proven, or reported with the shortest run that violates it.
// schemas.Satisfies defines the order of classes, which is partial; a class is a set of facts,
// and the intersection of two paths is what is certain after both: see ACRFacts. At each step
// the engine checks again that the facts of a run are true of the user's authentication. The
// guarantees of a flow are therefore never stronger than the claims in its tokens.
//
// A session-check admits a user without a question and proves only what it demands of the
// session. In a flow with guarantees it therefore demands these, in addition to its own
// configuration. It always demands what the other paths prove: see session.go.
//
// noEnumeration means that an unauthenticated person cannot learn from the run whether an
// account exists. Every kind that looks up an account by user input, and would continue or
// answer differently if there is none, declares this (AccountRevealer). Each node of such a kind
// must come after an authentication or be configured to conceal the result. The guarantee does
// not cover response times, observers of the network, and texts that an administrator writes.

import (
	"fmt"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// AccountRevealer is an Executor that may reveal whether an account exists.
type AccountRevealer interface {
	// Reveals describes what the node reveals, in words that follow "this node reveals"; "" means
	// nothing.
	Reveals() string
}

// Guarantees returns what every completed run has proved at least, and whether the flow conceals
// which accounts exist. The weakest path decides.
func (g *Graph) Guarantees() schemas.Guarantees { return g.guarantees }

// Methods returns the authentication methods (amr, RFC 8176) that users can prove at the nodes of the flow.
func (g *Graph) Methods() (methods []string) {
	for _, n := range g.nodes {
		for _, e := range n.edges {
			for _, f := range e.Establishes {
				if sort, method := f.split(); sort == amrSort && !slices.Contains(methods, method) {
					methods = append(methods, method)
				}
			}
		}
	}
	return methods
}

// checkGuarantees proves the declared guarantees and records the proven ones.
func (c *compiler) checkGuarantees() {
	if c.flow.FlowType == schemas.Subflow {
		return // its guarantees depend on the flows that use it
	}
	want := c.flow.Guarantees
	c.checkGuarantee("guarantees.acr", ACRFacts(want.ACR)...)
	for i, method := range want.AMR {
		c.checkGuarantee(fmt.Sprintf("guarantees.amr[%d]", i), AMRFact(method))
	}
	if want.PhishingResistant {
		c.checkGuarantee("guarantees.phishingResistant", ACRFacts(schemas.ACRPhishingResistant)...)
	}
	if want.UserVerified {
		c.checkGuarantee("guarantees.userVerified", AMRFact("user"))
	}
	if want.NoEnumeration {
		c.checkEnumeration(true)
	}
	c.graph.guarantees = c.provenGuarantees()
}

// completion is a way to complete a run: arrival at a terminal node (edge -1), or an edge to the
// end.
type completion struct {
	node, edge int
	certain    Facts
}

// completionsBy lists the completions under a reading of the graph, given the facts that are
// certain at each node.
func (c *compiler) completionsBy(read outcomeReading, in []Facts) []completion {
	var list []completion
	for i := range c.graph.nodes {
		n := &c.graph.nodes[i]
		if in[i] == nil || n.exec == nil {
			continue
		}
		if n.kind.Terminal && !n.kind.Denies {
			list = append(list, completion{i, -1, in[i]})
		}
		for j, e := range n.edges {
			if e.target < 0 && e.target != missingTarget {
				list = append(list, completion{i, j, in[i].after(read(i, j))})
			}
		}
	}
	return list
}

func (c *compiler) completions() []completion {
	in := make([]Facts, len(c.graph.nodes))
	for i := range c.graph.nodes {
		in[i] = c.graph.nodes[i].in
	}
	return c.completionsBy(c.outcome, in)
}

// certainOf returns the facts that are certain at all of the completions; nil if there are none.
func certainOf(completions []completion) Facts {
	var certain Facts
	for _, end := range completions {
		if certain == nil {
			certain = end.certain
		} else {
			certain = certain.Intersect(end.certain)
		}
	}
	return certain
}

// checkGuarantee reports, for each fact, the shortest run that completes without it.
func (c *compiler) checkGuarantee(path string, facts ...Fact) {
	var ends []move
	for _, end := range c.completions() {
		ends = append(ends, move{end.node, end.edge})
	}
	for _, fact := range facts {
		shortest, broken := c.shortestPathWithout("", c.outcome, c.completions(), fact)
		if !broken || c.dropFinding() {
			continue
		}
		problem := schemas.Problem{Rule: RuleGuarantee, Path: path, Message: fmt.Sprintf(
			"a run can complete without %s; lead every path through a node that proves it, or guarantee less", fact.Describe())}
		if shortest != nil {
			problem.Node = c.graph.nodes[shortest[len(shortest)-1].node].id
			problem.Trace = c.trace(shortest, []Fact{fact})
			c.addViolation(problem.Trace, []Fact{fact}, ends...)
		}
		c.addFinding(-1, problem)
	}
}

// checkEnumeration reports whether no node reveals to an unauthenticated person which accounts
// exist. If reported is set, each node that does is a finding.
func (c *compiler) checkEnumeration(reported bool) bool {
	all := true
	for i := range c.graph.nodes {
		n := &c.graph.nodes[i]
		revealer, ok := n.exec.(AccountRevealer)
		if !ok || n.in == nil || revealer.Reveals() == "" || n.in.Has(Authenticated) {
			continue
		}
		trace, broken := c.counterexample(i, -1, []Fact{Authenticated})
		if !broken {
			continue
		}
		all = false
		if reported && !c.dropFinding() {
			c.addViolation(trace, []Fact{Authenticated}, move{i, -1})
			c.addFinding(-1, schemas.Problem{Rule: RuleGuarantee, Node: n.id, Path: "guarantees.noEnumeration", Trace: trace, Message: fmt.Sprintf(
				"an unauthenticated caller can learn here who has an account: the node %q reveals %s", n.id, revealer.Reveals())})
		}
	}
	return all
}

// provenGuarantees returns what every completed run has proved. Like the check of declared
// guarantees it is exact: different paths may prove the same class in different ways.
func (c *compiler) provenGuarantees() schemas.Guarantees {
	completions := c.completions()
	certain := certainOf(completions)
	for _, fact := range c.provableFacts() {
		if certain == nil || certain.Has(fact) {
			continue
		}
		if _, lacks := c.shortestPathWithout("", c.outcome, completions, fact); !lacks {
			certain = certain.with(fact)
		}
	}
	g := schemas.Guarantees{ACR: certain.ACR(), NoEnumeration: c.checkEnumeration(false)}
	for _, f := range certain {
		if sort, method := f.split(); sort == amrSort {
			g.AMR = append(g.AMR, method)
		}
	}
	g.PhishingResistant = schemas.Satisfies(g.ACR, schemas.ACRPhishingResistant)
	g.UserVerified = slices.Contains(g.AMR, "user")
	return g
}

// provableFacts returns the details of authentications that some outcome establishes, sorted.
func (c *compiler) provableFacts() []Fact {
	provable := NewFacts()
	add := func(facts []Fact) {
		provable = provable.Union(NewFacts(facts...).without(func(f Fact) bool { return !f.IsAuthenticationDetail() }))
	}
	for i := range c.graph.nodes {
		for _, e := range c.graph.nodes[i].edges {
			add(e.Establishes)
			for _, given := range e.EstablishesGiven {
				add(given)
			}
		}
	}
	return provable
}
