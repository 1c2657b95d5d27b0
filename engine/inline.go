package engine

// Sub-flows
//
// A sub-flow is a reusable part of flows. Compile expands each node that uses one before it
// proves anything. The node itself stays and leads to the first node of the sub-flow without a
// question. The nodes of the sub-flow get IDs such as second.ask. A target that is an outcome of
// the sub-flow becomes the target that the flow gives to that outcome. All proofs are therefore
// about the whole graph, and runs contain no sub-flows.
//
// A sub-flow is also checked alone, with its required facts certain at its entry. after() is
// monotone, and the required facts are proven wherever the sub-flow is used. Whatever holds at
// its nodes therefore holds in every flow, and a mistake is reported in one place.

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

const (
	// maxDepth limits how deep sub-flows may be nested.
	maxDepth = 8
	// maxNodes limits the nodes of a flow together with those of its sub-flows. It is the limit
	// of a flow without sub-flows.
	maxNodes = 2000
	// maxConfigSize limits the total size of the configurations of these nodes, in bytes. One
	// large sub-flow that is used a thousand times would occupy a server for an hour with
	// compiling expressions, and its memory a thousand times.
	maxConfigSize = 1 << 20
)

// scope is what the nodes of one flow, or of one use of a sub-flow, have in common.
type scope struct {
	flow    *schemas.Flow
	prefix  string         // of the IDs of its nodes
	use     int            // the node that uses the sub-flow; -1 for the flow itself
	handles []string       // of the enclosing sub-flows and this one, outermost first
	exits   map[string]int // the targets of the names of exits
}

// nodeOrigin is the origin of a node: the node at the index in the scope's flow.
type nodeOrigin struct {
	scope *scope
	index int
}

// expandSubflows lists the nodes, each followed by the nodes of the sub-flow it uses, and
// indexes their IDs.
func (c *compiler) expandSubflows() {
	top := &scope{flow: c.flow, use: -1, handles: c.enclosing, exits: map[string]int{}}
	c.graph.exits = exitsOf(c.flow)
	for k, name := range c.graph.exits {
		top.exits[name] = endNode - k
	}
	c.addScope(top)
}

// addScope adds the nodes of a scope, and after each the nodes of the sub-flow it uses.
func (c *compiler) addScope(s *scope) {
	for k := range s.flow.Nodes {
		n := s.flow.Nodes[k]
		name := n.ID
		n.ID = s.prefix + name
		i := len(c.nodes)
		c.nodes, c.nodeOrigins, c.useScopes = append(c.nodes, n), append(c.nodeOrigins, nodeOrigin{s, k}), append(c.useScopes, nil)
		c.graph.nodes = append(c.graph.nodes, node{id: n.ID, config: n.With})
		c.graph.nodes[i].kind = c.kindOf(i)
		if s.use >= 0 {
			c.graph.nodes[i].within = c.nodes[s.use].ID
		}
		distinct := c.registerID(i, name)
		kind := c.graph.nodes[i].kind
		if kind == nil || kind.Inlines == nil || !distinct || c.isMisshapen(i) {
			continue
		}
		if inner := c.resolveSubflow(i, kind.Inlines(withOf(&n))); inner != nil {
			c.useScopes[i] = inner
			c.graph.nodes[i].subflow = inner.flow.Handle
			c.addScope(inner)
		}
	}
}

// registerID indexes the ID of node i and reports whether it is valid and unique.
func (c *compiler) registerID(i int, name string) bool {
	s := c.nodeOrigins[i].scope
	first, taken := c.index[c.nodes[i].ID]
	_, exit := s.flow.Outcomes[name]
	switch {
	case name == "":
		c.report(RuleID, i, "id", "a node needs an id, so that others can lead to it")
	case name == schemas.End:
		c.report(RuleID, i, "id", "%q is reserved: it completes the run; give the node another id", name)
	case exit && s.flow.FlowType == schemas.Subflow:
		c.report(RuleID, i, "id", "%q is an outcome of the sub-flow; give the node another id", name)
	case taken:
		c.report(RuleID, i, "id", "the id %q is already used by nodes[%d]; ids must be unique", name, c.nodeOrigins[first].index)
	default:
		c.index[c.nodes[i].ID] = i
		return true
	}
	return false
}

// resolveSubflow returns the scope of the sub-flow that node i uses, or reports why it cannot be
// used.
func (c *compiler) resolveSubflow(i int, handle string) *scope {
	s := c.nodeOrigins[i].scope
	if handle == "" {
		return nil // an invalid configuration has a finding of its own
	}
	handles := append(slices.Clone(s.handles), handle)
	switch {
	case slices.Contains(s.handles, handle):
		c.cycle = handles[slices.Index(handles, handle):]
		c.report(RuleSubflow, i, "with.flow", "%s", cycleMessage(c.cycle))
		return nil
	case len(handles) > maxDepth:
		c.report(RuleSubflow, i, "with.flow", "sub-flows are nested %d deep here (%s); the limit is %d", len(handles), strings.Join(handles, " → "), maxDepth)
		return nil
	}
	f := c.subflowAt(i, handle)
	if f == nil {
		return nil
	}
	if !c.fitsLimits(i, f) {
		return nil
	}
	return &scope{flow: f, prefix: c.nodes[i].ID + ".", use: i, handles: handles, exits: map[string]int{}}
}

// fitsLimits adds the size of a sub-flow that node i uses, and reports once that a limit is
// exceeded.
func (c *compiler) fitsLimits(i int, f *schemas.Flow) bool {
	before := c.nodeCount <= maxNodes && c.configBytes <= maxConfigSize
	c.nodeCount += len(f.Nodes)
	c.configBytes += configSize(f)
	switch {
	case !before:
		return false
	case c.nodeCount > maxNodes:
		c.report(RuleSubflow, i, "with.flow", "the flow has more than %d nodes, including those of its sub-flows; use fewer", maxNodes)
		return false
	case c.configBytes > maxConfigSize:
		c.report(RuleSubflow, i, "with.flow", "the configurations (`with`) of the flow and its sub-flows have more than %d bytes; use fewer or shorter ones", maxConfigSize)
		return false
	}
	return true
}

// configSize returns the size of the configurations of a flow's own nodes, in bytes.
func configSize(f *schemas.Flow) (n int) {
	for i := range f.Nodes {
		n += len(f.Nodes[i].With)
	}
	return n
}

func cycleMessage(handles []string) string {
	return fmt.Sprintf("the sub-flows form a cycle, %s; a sub-flow cannot contain itself", strings.Join(handles, " → "))
}

// subflowAt returns the sub-flow that node i names, nil if it cannot be used. A stored flow
// contains it in its Parts. For a flow that is being checked it is looked up and checked alone.
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
	case inner.errorCount > 0:
		c.report(RuleSubflow, i, "with.flow", "%s", brokenMessage(handle, "", inner.firstError(), inner.errorCount))
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
	return hintForName(handle, known)
}

// checkSubflow checks a sub-flow alone, once.
func (c *compiler) checkSubflow(f *schemas.Flow) *compiler {
	if done := c.checkedSubflows[f.Handle]; done != nil {
		return done
	}
	complete := *f
	inner := newCompiler(&complete, c.kinds)
	inner.checkedSubflows, inner.enclosing = c.checkedSubflows, c.enclosing
	if f.Parts == nil {
		inner.setSubflows(c.subflows)
	}
	inner.compile()
	c.checkedSubflows[f.Handle] = inner
	return inner
}

// firstError returns the first finding that is not a warning.
func (c *compiler) firstError() schemas.Problem {
	return c.problems[slices.IndexFunc(c.problems, func(p schemas.Problem) bool { return !p.Warning })]
}

// brokenMessage describes the first of n findings about a sub-flow alone.
func brokenMessage(handle, rule string, first schemas.Problem, n int) string {
	where := cmp.Or(first.Rule, rule)
	if first.Path != "" {
		where += " at " + first.Path
	}
	more := ""
	if n > 1 {
		more = fmt.Sprintf(" (and %d more)", n-1)
	}
	return fmt.Sprintf("the sub-flow %q has an error of its own, %s: %s%s; fix it first", handle, where, first.Message, more)
}

// setSubflows sets the sub-flows that the flow may use.
func (c *compiler) setSubflows(subflows schemas.Subflows) {
	c.subflows, c.flow.Parts = subflows, map[string]*schemas.Flow{}
}

// connectUse wires the outcomes of a sub-flow and lets the node lead to its entry.
func (c *compiler) connectUse(i int, next schemas.Next) {
	n, inner := &c.graph.nodes[i], c.useScopes[i]
	begin := n.edges[0]
	n.edges = nil
	for _, name := range exitsOf(inner.flow) {
		n.edges = append(n.edges, edge{Outcome: Outcome{name: name, Doc: inner.flow.Outcomes[name]}})
	}
	switch {
	case len(n.edges) == 0 && !next.IsZero():
		c.report(RuleOutcome, i, "next", "the sub-flow %q ends the run, so nothing can follow it; remove `next`", n.subflow)
	case next.By != nil:
		c.connectByName(i, next)
	case len(n.edges) > 0:
		c.connectToOne(i, next.To)
	}
	for _, e := range n.edges {
		inner.exits[e.name] = e.target
	}
	begin.target = i + 1
	n.edges = []edge{begin}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
