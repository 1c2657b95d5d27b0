package engine

// Sessions
//
// A node may let a run go on as an earlier sign-in left it, and ask nothing
// (SessionResumer). That sign-in was by another flow, so nothing in this one says what it
// proved: only what the node demands of it does. If the node took less than the other
// paths prove, these would protect nobody. Whoever stole a password would sign in by
// it to an application that asks for no more, and come with that session to the one
// that asks for a second factor.
//
// So the other paths decide: what counts is the strongest class that is certain
// wherever the flow completes, over all paths that do not rest on a session. Every
// path that does is judged by it as a whole, since a session and a second factor may
// together be as much. Where they are less, the node demands the class of the other
// paths. If its configuration says that another class will do, that is a finding,
// which a waiver accepts, with a reason.
//
// To leave sessions out of account the analysis reads a graph differently: the
// outcome that rests on a session brings every class there is, and every fact by which
// a later outcome proves more. Where paths meet, such a path then takes nothing from
// the others. The same is done with all sessions but
// one, to judge that one.
//
// The classes are enough, since they say how much was proved. That a certain method
// was used is for guarantees to demand.

import (
	"fmt"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// SessionResumer is an Executor by one of whose outcomes a run goes on as an earlier sign-in
// of the user left it.
type SessionResumer interface {
	Executor
	// ResumedOutcome returns the name of that outcome. It must establish the class that the
	// node demands of the earlier sign-in.
	ResumedOutcome() string
	// RequireClass returns the executor that demands the class too; or the same executor,
	// if its configuration says which class will do.
	RequireClass(class string) Executor
}

// resumptions lists the edges that rest on an earlier sign-in.
func (c *compiler) resumptions() []move {
	var list []move
	for i := range c.graph.nodes {
		n := &c.graph.nodes[i]
		if resumer, ok := n.exec.(SessionResumer); ok {
			for j, e := range n.edges {
				if e.Name == resumer.ResumedOutcome() {
					list = append(list, move{i, j})
				}
			}
		}
	}
	return list
}

// resumed is the fact that the run rests on a session that is left out of account. It
// only lives while a flow is checked.
const resumed Fact = "resumed"

// strongestClass is the class that satisfies every other.
func strongestClass() string { return schemas.CombineACRs(schemas.ACRs()...) }

// withoutEdges is the reading in which the given edges bring every class, and whatever
// makes a later outcome prove more.
func (c *compiler) withoutEdges(edges []move) outcomeReading {
	everything := append(ACRFacts(strongestClass()), resumed)
	for _, given := range c.conditions() {
		everything = append(everything, given...)
	}
	return func(i, j int) Outcome {
		o := c.outcome(i, j)
		if slices.Contains(edges, move{i, j}) {
			o.Establishes = slices.Concat(o.Establishes, everything)
		}
		return o
	}
}

// settleSessions has each node demand what the other paths prove, if a run that goes
// on by an earlier sign-in could complete with less. What the other paths are depends
// on the whole flow: of a sub-flow it is not known, nor where some node was not
// understood.
func (c *compiler) settleSessions() {
	sessions := c.resumptions()
	if len(sessions) == 0 || c.flow.FlowType == schemas.Subflow {
		return
	}
	if slices.ContainsFunc(c.graph.nodes, func(n node) bool { return n.exec == nil }) {
		return
	}
	c.externalProof = c.externalProofHint(c.withoutEdges(sessions))
	for k, s := range sessions {
		if _, weak := c.weakestCompletion(sessions, k); weak {
			c.graph.nodes[s.node].demandClass(s.edge, c.externalProof)
		}
	}
	c.stateGraphs = nil // they are of the graph as it was
}

// demandClass has the node demand the class of an earlier sign-in, and the edge that rests
// on it establish what is then certain.
func (n *node) demandClass(edge int, class string) {
	n.exec = n.exec.(SessionResumer).RequireClass(class)
	shaper, ok := n.exec.(OutcomeConfigurer)
	if !ok {
		return
	}
	for _, o := range shaper.Outcomes() {
		if o.Name == n.edges[edge].Name {
			n.edges[edge].Establishes = o.Establishes
		}
	}
}

// externalProofHint is the class that every run that completes has proved, by a reading
// of the graph; "" if there is none, or if no run completes that rests on no session.
// It is exact, where Guarantees says no more than the analysis finds certain: a class
// that was overlooked here would let in who proved less.
func (c *compiler) externalProofHint(read outcomeReading) string {
	completions := c.completionsBy(read, c.certainFacts(read))
	certain := certainOf(completions)
	if certain == nil || certain.Has(resumed) {
		return ""
	}
	var classes []string
	for _, plain := range schemas.PlainACRs(strongestClass()) {
		path, lacks := c.shortestPathWithout("elsewhere", read, completions, acrFact(plain))
		if !lacks || path == nil { // not known to be lacking
			classes = append(classes, plain)
		}
	}
	return schemas.CombineACRs(classes...)
}

// checkSessions reports, for each node that takes an earlier sign-in, the shortest run
// that completes by it with less than every other path proves.
func (c *compiler) checkSessions(waived map[*schemas.Waiver]bool) {
	sessions := c.resumptions()
	for k, s := range sessions {
		path, weak := c.weakestCompletion(sessions, k)
		if !weak {
			continue
		}
		waiver := c.waiver(RuleSession, s.node)
		if waiver == nil && c.isReportFull() {
			continue
		}
		c.reportSession(s.node, path, waiver)
		if waiver != nil {
			waived[waiver] = true
		}
	}
}

// weakestCompletion returns the shortest run that completes with less than every other path
// proves, and rests on session k alone. The run is nil if it would cost too much to
// find.
func (c *compiler) weakestCompletion(sessions []move, k int) (shortest []move, weak bool) {
	others := slices.Delete(slices.Clone(sessions), k, k+1)
	name, read := fmt.Sprint("without ", others), c.withoutEdges(others)
	completions := c.completionsBy(read, c.certainFacts(read))
	for _, fact := range ACRFacts(c.externalProof) {
		if path, lacks := c.shortestPathWithout(name, read, completions, fact); lacks && (!weak || len(path) < len(shortest)) {
			shortest, weak = path, true
		}
	}
	return shortest, weak
}

// shortestPathWithout returns the shortest run that completes without the fact, by a
// reading of the graph. The run is nil if it would cost too much to find.
func (c *compiler) shortestPathWithout(name string, read outcomeReading, completions []completion, fact Fact) (shortest []move, lacks bool) {
	for _, end := range completions {
		if end.certain.Has(fact) {
			continue
		}
		p := c.stateGraphBy(name, read, []Fact{fact})
		if p == nil {
			return nil, true
		}
		if path, is := p.pathWithout(end.node, end.edge, []Fact{fact}); is && (!lacks || len(path) < len(shortest)) {
			shortest, lacks = path, true
		}
	}
	return shortest, lacks
}

func (c *compiler) reportSession(i int, path []move, waiver *schemas.Waiver) {
	n := &c.graph.nodes[i]
	problem := schemas.Problem{Rule: RuleSession, Path: c.nodePath(i, "with"), Message: fmt.Sprintf(
		"%s accepts sessions that prove less than every other path through the flow does, which is the class %q: "+
			"whoever can sign in to another application with less gets in here without being asked; "+
			"remove `acr`, so that the node demands that class, or lead the outcome to a node that proves what is missing",
		n.kind.Name, c.externalProof)}
	if path != nil {
		problem.Trace = c.trace(path, ACRFacts(c.externalProof))
	}
	if waiver != nil {
		problem.Warning, problem.Message = true, problem.Message+" (waived: "+waiver.Reason+")"
	}
	c.add(i, problem)
}

// waivesForUsers reports whether a waiver is one of a sub-flow for a node that takes
// earlier sign-ins: what it waives shows only where the sub-flow is used.
func (c *compiler) waivesForUsers(w *schemas.Waiver) bool {
	return c.flow.FlowType == schemas.Subflow && w.Rule == RuleSession &&
		slices.ContainsFunc(c.resumptions(), func(m move) bool { return c.graph.nodes[m.node].id == w.Node })
}

// SessionDemand is the class that a node demands of an earlier sign-in, for a run to
// leave it by the outcome.
type SessionDemand struct {
	Node    string `json:"node"`
	Outcome string `json:"outcome"`
	ACR     string `json:"acr"`
}

// Sessions lists the nodes that let a run go on as an earlier sign-in left it.
func (g *Graph) Sessions() []SessionDemand {
	var list []SessionDemand
	for i := range g.nodes {
		n := &g.nodes[i]
		if resumer, ok := n.exec.(SessionResumer); ok {
			e, _ := n.edge(resumer.ResumedOutcome())
			list = append(list, SessionDemand{n.id, e.Name, NewFacts(e.Establishes...).ACR()})
		}
	}
	return list
}
