package engine

// What a flow guarantees
//
// How a user authenticated is a fact like others: that the class is at least phr,
// that pop is among the methods. The outcomes of authenticating kinds establish
// such facts, turning to another user forgets them, and paths meet in what both
// bring. So what is certain wherever a run completes is what the weakest path
// guarantees, and a guarantee that the author wrote down is one more thing that
// every end needs: it is proven, or refused with the shortest run that breaks it.
// Classes are ordered in one place, schemas.Satisfies, and the order is partial; so a
// class is a set of facts, and what two paths have in common is what is certain of
// both: see ACRFacts. The engine makes sure once more, at each step, that the facts
// of a run are true of how its user authenticated, so what a flow guarantees is
// what its tokens say, or more.
//
// A session-check lets in without asking. It cannot prove more than it demands
// of the session, so in a flow with guarantees it demands all that these say of
// an authentication, beside what its own configuration adds. What the other paths
// prove it demands in any case: see session.go.
//
// noEnumeration means that nobody who has not authenticated in the run learns from
// it whether an account exists. Every kind that looks for an account by what
// somebody typed, and would carry on or answer differently if there is none, says
// so (AccountRevealer); each node of such a kind must be behind an authentication, or be
// configured to conceal. Not part of it: how long an answer takes, what a network
// observer sees, and that a person can be told by an administrator's own texts.

import (
	"fmt"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// AccountRevealer is an Executor that may tell who answers whether an account exists.
type AccountRevealer interface {
	// Reveals says how, in words that follow "this node tells"; "" if it does not.
	Reveals() string
}

// Guarantees are what every run that completes has proved at least, and whether
// the flow keeps from strangers who has an account: the weakest path decides.
func (g *Graph) Guarantees() schemas.Guarantees { return g.guarantees }

// checkGuarantees proves what the author guarantees, and notes what is proven.
func (c *compiler) checkGuarantees() {
	if c.flow.FlowType == schemas.Subflow {
		return // what is proven of it depends on where it is used
	}
	want := c.flow.Guarantees
	c.guaranteeACR("guarantees.acr", want.ACR)
	for i, method := range want.AMR {
		c.guarantee(fmt.Sprintf("guarantees.amr[%d]", i), AMRFact(method))
	}
	if want.PhishingResistant {
		c.guaranteeACR("guarantees.phishingResistant", schemas.ACRPhishingResistant)
	}
	if want.UserVerified {
		c.guarantee("guarantees.userVerified", AMRFact("user"))
	}
	if want.NoEnumeration {
		c.concealed(true)
	}
	c.graph.guarantees = c.proven()
}

// completion is a way a run completes: by arriving at a terminal node (edge -1),
// or by an edge to the end.
type completion struct {
	node, edge int
	certain    Facts
}

// completionsBy lists the ways to complete by a reading of the graph, given what is
// certain at each node.
func (c *compiler) completionsBy(read outcomeReading, in []Facts) []completion {
	var list []completion
	for i := range c.graph.nodes {
		n := &c.graph.nodes[i]
		if in[i] == nil || n.exec == nil {
			continue
		}
		if n.kind.Terminal {
			list = append(list, completion{i, -1, in[i]})
		}
		for j, e := range n.edges {
			if e.target < 0 && e.target != nowhere {
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

// certainOf returns what is certain of all of the completions; nil if there are none.
func certainOf(completions []completion) Facts {
	var certain Facts
	for _, end := range completions {
		if certain == nil {
			certain = NewFacts(end.certain.List()...)
		} else {
			certain.meet(end.certain)
		}
	}
	return certain
}

// guaranteeACR reports the shortest run that completes by a class that does not
// satisfy the given one.
func (c *compiler) guaranteeACR(path, class string) {
	for _, fact := range ACRFacts(class) {
		c.guarantee(path, fact)
	}
}

// guarantee reports the shortest run that completes without the fact.
func (c *compiler) guarantee(path string, fact Fact) {
	shortest, broken := c.shortestPathWithout("", c.outcome, c.completions(), fact)
	if !broken || c.isReportFull() {
		return
	}
	asked := []Fact{fact}
	problem := schemas.Problem{Rule: RuleGuarantee, Path: path, Message: fmt.Sprintf(
		"not every run that completes has %s; lead every path through a node that proves it, or guarantee less", factNames(asked))}
	if shortest != nil {
		problem.Node = c.graph.nodes[shortest[len(shortest)-1].node].id
		problem.Trace = c.trace(shortest, asked)
	}
	c.add(-1, problem)
}

// concealed reports whether no node tells strangers who has an account; if told,
// each that does is a finding.
func (c *compiler) concealed(reported bool) bool {
	all := true
	for i := range c.graph.nodes {
		n := &c.graph.nodes[i]
		revealer, ok := n.exec.(AccountRevealer)
		if !ok || n.in == nil || revealer.Reveals() == "" || n.in.Has(Authenticated) {
			continue
		}
		need := Need{AnyOf: []Fact{Authenticated}}
		problem := schemas.Problem{Rule: RuleGuarantee, Node: n.id, Path: "guarantees.noEnumeration", Message: fmt.Sprintf(
			"strangers can learn here who has an account: the node %q tells %s", n.id, revealer.Reveals())}
		if p := c.stateGraphOf(need.AnyOf); p != nil {
			path, broken := p.pathWithout(i, -1, need.AnyOf)
			if !broken {
				continue
			}
			problem.Trace = c.trace(path, need.AnyOf)
		}
		all = false
		if reported && !c.isReportFull() {
			c.add(-1, problem)
		}
	}
	return all
}

// proven returns what is certain of every completion.
func (c *compiler) proven() schemas.Guarantees {
	certain := certainOf(c.completions())
	g := schemas.Guarantees{ACR: certain.ACR(), NoEnumeration: c.concealed(false)}
	for _, f := range certain.List() {
		if method, ok := f.method(); ok {
			g.AMR = append(g.AMR, method)
		}
	}
	g.PhishingResistant = schemas.Satisfies(g.ACR, schemas.ACRPhishingResistant)
	g.UserVerified = slices.Contains(g.AMR, "user")
	return g
}
