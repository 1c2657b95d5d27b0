package engine

// Flows in flows
//
// A sub-flow is a part that flows are made of. A node that uses one stands for its
// nodes, and Compile puts these in its place before anything is proven: the node
// itself stays, as one that asks nothing and leads on to the first of them; each
// of theirs has an id such as second.ask; and where one of them leads to an outcome
// of the sub-flow it leads to where the flow wires that outcome. So what is proven is
// proven of the whole graph, a run knows nothing of sub-flows, and neither do its
// records.
//
// A sub-flow is also checked by itself, with what it requires certain at its entry.
// Since after() is monotone and what it requires is proven wherever it is used, what
// holds at its nodes then holds in every flow: it needs mending in one place only.

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

const (
	// maxDepth is how deep sub-flows may use each other.
	maxDepth = 8
	// maxNodes is how many nodes a flow may have with those of its sub-flows, as
	// many as a flow without any.
	maxNodes = 2000
	// maxText is how long the configurations of all these nodes may be together, in
	// bytes. One large sub-flow, used a thousand times, would have a server compile its
	// expressions for an hour, and keep it a thousand times.
	maxText = 1 << 20
)

// scope is what the nodes of one flow, or of one use of a sub-flow, have in common.
type scope struct {
	flow    *schemas.Flow
	prefix  string         // of the ids of its nodes
	use     int            // the node that uses the sub-flow; -1: it is the flow itself
	handles []string       // of the sub-flows around it and itself, outermost first
	exits   map[string]int // the targets of names that lead out
}

// nodeOrigin is where a node comes from: it is that of the index in the scope's flow.
type nodeOrigin struct {
	scope *scope
	index int
}

// expand lists the nodes, each followed by those it stands for, and gives every id
// its node.
func (c *compiler) expand() {
	top := &scope{flow: c.flow, use: -1, handles: c.above, exits: map[string]int{}}
	c.graph.exits = exitsOf(c.flow)
	for k, name := range c.graph.exits {
		top.exits[name] = endNode - k
	}
	c.addScope(top)
}

// addScope adds the nodes of a scope, and after each those it stands for.
func (c *compiler) addScope(s *scope) {
	for k := range s.flow.Nodes {
		n := s.flow.Nodes[k]
		name := n.ID
		n.ID = s.prefix + name
		i := len(c.nodes)
		c.nodes, c.nodeOrigins, c.inner = append(c.nodes, n), append(c.nodeOrigins, nodeOrigin{s, k}), append(c.inner, nil)
		c.graph.nodes = append(c.graph.nodes, node{id: n.ID, config: n.With})
		c.graph.nodes[i].kind = c.kindOf(i)
		if s.use >= 0 {
			c.graph.nodes[i].within = c.nodes[s.use].ID
		}
		distinct := c.register(i, name)
		kind := c.graph.nodes[i].kind
		if kind == nil || kind.Inlines == nil || !distinct || c.isMisshapen(i) {
			continue
		}
		if inner := c.inline(i, kind.Inlines(withOf(&n))); inner != nil {
			c.inner[i] = inner
			c.graph.nodes[i].subflow = inner.flow.Handle
			c.addScope(inner)
		}
	}
}

// register gives an id its node, and reports whether it is one to tell the node by.
func (c *compiler) register(i int, name string) bool {
	s := c.nodeOrigins[i].scope
	first, taken := c.index[c.nodes[i].ID]
	_, exit := s.flow.Outcomes[name]
	switch {
	case name == "":
		c.report(RuleID, i, "id", "a node needs an id, for others to lead to it")
	case name == schemas.End:
		c.report(RuleID, i, "id", "%q is reserved: it completes the run; give the node another id", name)
	case exit && s.flow.FlowType == schemas.Subflow:
		c.report(RuleID, i, "id", "%q is an outcome of the sub-flow; give the node another id", name)
	case taken:
		c.report(RuleID, i, "id", "the id %q is already that of nodes[%d]; ids must be unique", name, c.nodeOrigins[first].index)
	default:
		c.index[c.nodes[i].ID] = i
		return true
	}
	return false
}

// inline finds the sub-flow that node i uses, or reports why it cannot be used.
func (c *compiler) inline(i int, handle string) *scope {
	s := c.nodeOrigins[i].scope
	if handle == "" {
		return nil // its configuration does not fit, which has its own finding
	}
	handles := append(slices.Clone(s.handles), handle)
	switch {
	case slices.Contains(s.handles, handle):
		c.cycle = handles[slices.Index(handles, handle):]
		c.report(RuleSubflow, i, "with.flow", "%s", cycleMessage(c.cycle))
		return nil
	case len(handles) > maxDepth:
		c.report(RuleSubflow, i, "with.flow", "sub-flows use each other %d deep here (%s); at most %d are allowed", len(handles), strings.Join(handles, " → "), maxDepth)
		return nil
	}
	f := c.subflowAt(i, handle)
	if f == nil {
		return nil
	}
	if !c.fitsExpanded(i, f) {
		return nil
	}
	return &scope{flow: f, prefix: c.nodes[i].ID + ".", use: i, handles: handles, exits: map[string]int{}}
}

// fitsExpanded counts what a sub-flow adds for node i, and reports once if it is too much.
func (c *compiler) fitsExpanded(i int, f *schemas.Flow) bool {
	before := c.total <= maxNodes && c.text <= maxText
	c.total += len(f.Nodes)
	c.text += textOf(f)
	switch {
	case !before:
		return false
	case c.total > maxNodes:
		c.report(RuleSubflow, i, "with.flow", "with the nodes of its sub-flows the flow has more than %d; use fewer", maxNodes)
		return false
	case c.text > maxText:
		c.report(RuleSubflow, i, "with.flow", "with those of its sub-flows the configurations (`with`) of the flow have more than %d bytes; use fewer, or shorter ones", maxText)
		return false
	}
	return true
}

// textOf is how long the configurations of a flow's own nodes are, in bytes.
func textOf(f *schemas.Flow) (n int) {
	for i := range f.Nodes {
		n += len(f.Nodes[i].With)
	}
	return n
}

func cycleMessage(handles []string) string {
	return fmt.Sprintf("the sub-flows use each other in a circle, %s; none can be a part of itself", strings.Join(handles, " → "))
}

// subflowAt returns the sub-flow that node i names, nil if it cannot be used. A flow that
// is complete has it among its parts. For one that is being checked it is looked
// for, and checked by itself.
func (c *compiler) subflowAt(i int, handle string) *schemas.Flow {
	s := c.nodeOrigins[i].scope
	if s.use >= 0 || c.subflows == nil {
		if f := s.flow.Parts[handle]; f != nil && f.FlowType == schemas.Subflow {
			return f
		}
		c.report(RuleSubflow, i, "with.flow", "there is no sub-flow %q; %s", handle, hintOfSubflows(handle, sortedKeys(s.flow.Parts)))
		return nil
	}
	if f := c.flow.Parts[handle]; f != nil {
		return f
	}
	f, misshapen := c.subflows.Subflow(handle)
	if f == nil || f.FlowType != schemas.Subflow {
		c.report(RuleSubflow, i, "with.flow", "there is no sub-flow %q; %s", handle, hintOfSubflows(handle, c.subflows.Handles()))
		return nil
	}
	if len(misshapen) > 0 {
		c.report(RuleSubflow, i, "with.flow", "%s", brokenMessage(handle, RuleShape, misshapen[0], len(misshapen)))
		return nil
	}
	inner := c.checkSubflow(f)
	switch {
	case inner.cycle != nil:
		c.cycle = inner.cycle
		c.report(RuleSubflow, i, "with.flow", "%s", cycleMessage(inner.cycle))
	case inner.refused > 0:
		c.report(RuleSubflow, i, "with.flow", "%s", brokenMessage(handle, "", inner.firstRefusal(), inner.refused))
	default:
		c.flow.Parts[handle] = inner.flow
		return inner.flow
	}
	return nil
}

func hintOfSubflows(handle string, known []string) string {
	if len(known) == 0 {
		return "there are none here"
	}
	return hintForNode(handle, known)
}

// checkSubflow checks a sub-flow by itself, once.
func (c *compiler) checkSubflow(f *schemas.Flow) *compiler {
	if done := c.checkedSubflows[f.Handle]; done != nil {
		return done
	}
	complete := *f
	inner := newCompiler(&complete, c.kinds)
	inner.checkedSubflows, inner.above = c.checkedSubflows, c.above
	if f.Parts == nil {
		inner.find(c.subflows)
	}
	inner.compile()
	c.checkedSubflows[f.Handle] = inner
	return inner
}

// firstRefusal is the first finding that is more than a warning.
func (c *compiler) firstRefusal() schemas.Problem {
	return c.problems[slices.IndexFunc(c.problems, func(p schemas.Problem) bool { return !p.Warning })]
}

// brokenMessage says what is wrong with a sub-flow by itself: the first of n
// findings.
func brokenMessage(handle, rule string, first schemas.Problem, n int) string {
	where := orRule(first.Rule, rule)
	if first.Path != "" {
		where += " at " + first.Path
	}
	more := ""
	if n > 1 {
		more = fmt.Sprintf(" (and %d more)", n-1)
	}
	return fmt.Sprintf("the sub-flow %q breaks a rule by itself, %s: %s%s; mend it first", handle, where, first.Message, more)
}

// find has the sub-flows of the flow looked for, and noted with it.
func (c *compiler) find(subflows schemas.Subflows) {
	c.subflows, c.flow.Parts = subflows, map[string]*schemas.Flow{}
}

// connectUse wires the outcomes of a sub-flow, and has the node lead to its entry.
func (c *compiler) connectUse(i int, next schemas.Next) {
	n, inner := &c.graph.nodes[i], c.inner[i]
	begin := n.edges[0]
	n.edges = nil
	for _, name := range exitsOf(inner.flow) {
		n.edges = append(n.edges, edge{Outcome: Outcome{Name: name, Doc: inner.flow.Outcomes[name]}})
	}
	switch {
	case len(n.edges) == 0 && !next.IsZero():
		c.report(RuleOutcome, i, "next", "the sub-flow %q ends the run, nothing follows it; remove `next`", n.subflow)
	case next.By != nil:
		c.connectByName(i, next)
	case len(n.edges) > 0:
		c.connectToOne(i, next.To)
	}
	for _, e := range n.edges {
		inner.exits[e.Name] = e.target
	}
	begin.target = i + 1
	n.edges = []edge{begin}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
