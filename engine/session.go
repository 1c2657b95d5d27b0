package engine

// Sessions
//
// A node may let a run continue with an earlier sign-in and ask nothing (SessionResumer). That
// sign-in used another flow, so this flow knows about it only what the node demands. If the node
// demanded less than the other paths prove, the other paths would protect nothing. With a stolen
// password an attacker would sign in to an application that asks for no more, and use that
// session at the application that requires a second factor.
//
// The other paths therefore decide. The required class is the strongest one that is certain
// wherever the flow completes, over all paths that use no session. Every path that uses one is
// checked as a whole, because a session and a second factor may together be strong enough. If
// they are not, the node demands the class of the other paths. If its configuration explicitly
// accepts another class, that is a finding, which a waiver with a reason accepts.
//
// To exclude sessions, the analysis reads the graph differently: an outcome that rests on a
// session establishes every class, and every fact that lets a later outcome prove more. Where
// paths meet, such a path removes nothing from the others. To check one session, all others are
// excluded this way.
//
// Classes are sufficient because they express how much was proved. Guarantees can demand a
// specific method.

import (
	"fmt"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// maxSessionNodes limits the nodes of a flow that accept an earlier sign-in: all paths are analyzed once
// for each of them.
const maxSessionNodes = 20

// SessionResumer is an Executor with an outcome that continues a run with an earlier sign-in of
// the user.
type SessionResumer interface {
	Executor
	// ResumedOutcome returns the name of that outcome. It must establish the class that the node
	// demands of the earlier sign-in.
	ResumedOutcome() string
	// RequireClass returns the executor that demands the class as well, or the same executor if
	// its configuration says which class is sufficient.
	RequireClass(class string) Executor
}

// resumedEdges lists the edges that rest on an earlier sign-in.
func (g *Graph) resumedEdges() (list []move) {
	for i, n := range g.nodes {
		if resumer, ok := n.exec.(SessionResumer); ok {
			for j, e := range n.edges {
				if e.name == resumer.ResumedOutcome() {
					list = append(list, move{i, j})
				}
			}
		}
	}
	return list
}

// resumed is the fact that the run rests on an excluded session. It exists only during a check.
const resumed Fact = "resumed"

// strongestClass returns the class that satisfies every other.
func strongestClass() string { return schemas.CombineACRs(schemas.ACRs()...) }

// withoutEdges is the reading in which the given edges establish every class, and every fact
// that lets a later outcome prove more.
func (c *compiler) withoutEdges(edges []move) outcomeReading {
	everything := append(ACRFacts(strongestClass()), resumed)
	_, givenFor := c.readOutcomes()
	for _, given := range givenFor {
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

// settleSessions lets each session node demand what the other paths prove, if a run with an
// earlier sign-in could complete with less. The other paths are not known for a sub-flow, or if
// a node is invalid.
func (c *compiler) settleSessions() {
	sessions := c.graph.resumedEdges()
	if len(sessions) == 0 || c.flow.FlowType == schemas.Subflow {
		return
	}
	if slices.ContainsFunc(c.graph.nodes, func(n node) bool { return n.exec == nil }) {
		return
	}
	if len(sessions) > maxSessionNodes && !c.stored {
		i := sessions[maxSessionNodes].node
		c.report(RuleSession, i, "use", "the flow and its sub-flows have %d nodes that accept an earlier sign-in, expected at most %d; let several paths lead to the same node", len(sessions), maxSessionNodes)
		return
	}
	c.requiredClass = c.provenClass(c.withoutEdges(sessions))
	for k, s := range sessions {
		if _, weak := c.weakestCompletion(sessions, k); weak {
			c.graph.nodes[s.node].demandClass(s.edge, c.requiredClass)
		}
	}
	c.stateGraphs = nil // they describe the previous graph
}

// demandClass lets the node demand the class of an earlier sign-in, and updates what the edge
// that rests on it establishes.
func (n *node) demandClass(edge int, class string) {
	n.exec = n.exec.(SessionResumer).RequireClass(class)
	shaper, ok := n.exec.(OutcomeConfigurer)
	if !ok {
		return
	}
	for _, o := range shaper.Outcomes() {
		if o.name == n.edges[edge].name {
			n.edges[edge].Establishes, n.edges[edge].effect = o.Establishes, o.effect
		}
	}
}

// provenClass returns the class that every completed run has proved under a reading of the
// graph; "" if there is none, or if every run rests on a session. If the search for a run without a
// class is too expensive, it counts as proved, unlike in Guarantees: a class missing here would
// accept weaker sessions.
func (c *compiler) provenClass(read outcomeReading) string {
	completions := c.completionsBy(read, c.certainFacts(read))
	certain := certainOf(completions)
	if certain == nil || certain.Has(resumed) {
		return ""
	}
	var classes []string
	for _, plain := range schemas.PlainACRs(strongestClass()) {
		path, lacks := c.shortestPathWithout("elsewhere", read, completions, acrSort.fact(plain))
		if !lacks || path == nil { // not known to be missing
			classes = append(classes, plain)
		}
	}
	return schemas.CombineACRs(classes...)
}

// checkSessions reports, for each node that accepts an earlier sign-in, the shortest run that
// completes with it and less than every other path proves.
func (c *compiler) checkSessions(waived map[*schemas.Waiver]bool) {
	sessions := c.graph.resumedEdges()
	if c.requiredClass == "" {
		return // nothing is required of a session
	}
	for k, s := range sessions {
		path, weak := c.weakestCompletion(sessions, k)
		if !weak {
			continue
		}
		waiver := c.waiver(RuleSession, s.node)
		if waiver == nil && c.dropFinding() {
			continue
		}
		n := &c.graph.nodes[s.node]
		problem := schemas.Problem{Rule: RuleSession, Path: c.nodePath(s.node, "with"), Message: fmt.Sprintf(
			"%s accepts sessions that prove less than the class %q, which all other paths through the flow prove: "+
				"a user who signed in to another application with less signs in here without a prompt; "+
				"remove `acr`, so that the node requires that class, or lead the outcome to a node that proves what is missing",
			n.kind.Name, c.requiredClass)}
		if path != nil {
			problem.Trace = c.trace(path, ACRFacts(c.requiredClass))
		}
		c.addWaivable(s.node, problem, waiver, waived)
	}
}

// weakestCompletion returns the shortest run that completes with less than every other path
// proves and rests on session k only. The run is nil if the search is too expensive.
func (c *compiler) weakestCompletion(sessions []move, k int) (shortest []move, weak bool) {
	others := slices.Delete(slices.Clone(sessions), k, k+1)
	name, read := fmt.Sprint("without ", others), c.withoutEdges(others)
	completions := c.completionsBy(read, c.certainFacts(read))
	for _, fact := range ACRFacts(c.requiredClass) {
		if path, lacks := c.shortestPathWithout(name, read, completions, fact); lacks && (!weak || len(path) < len(shortest)) {
			shortest, weak = path, true
		}
	}
	return shortest, weak
}

// shortestPathWithout returns the shortest run that completes without the fact, under a reading
// of the graph. The run is nil if the search is too expensive.
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

// waivesForUsers reports whether a waiver of a sub-flow is about a node that accepts earlier
// sign-ins: its finding appears only where the sub-flow is used.
func (c *compiler) waivesForUsers(w *schemas.Waiver) bool {
	return c.flow.FlowType == schemas.Subflow && w.Rule == RuleSession &&
		slices.ContainsFunc(c.graph.resumedEdges(), func(m move) bool { return c.graph.nodes[m.node].id == w.Node })
}

// SessionDemand is the class that a node demands of an earlier sign-in for an outcome.
type SessionDemand struct {
	Node    string `json:"node"`
	Outcome string `json:"outcome"`
	ACR     string `json:"acr"`
}

// Sessions lists the nodes that continue a run with an earlier sign-in.
func (g *Graph) Sessions() []SessionDemand {
	var list []SessionDemand
	for _, m := range g.resumedEdges() {
		e := g.nodes[m.node].edges[m.edge]
		list = append(list, SessionDemand{g.nodes[m.node].id, e.name, NewFacts(e.Establishes...).ACR()})
	}
	return list
}
