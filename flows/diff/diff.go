// Package diff compares the meaning of flows: the paths of a run and the facts that are certain
// on them. Formatting, the order of nodes after the first, and explicit default values make no
// difference.
package diff

import (
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// What is the kind of a change.
type What string

// The kinds of changes.
const (
	Member      What = "member"   // a member of the flow: its name, its entry
	Demanded    What = "demanded" // a declared guarantee
	Proven      What = "proven"   // a proven guarantee
	Waived      What = "waiver"   // a waiver
	Used        What = "uses"     // the version of a sub-flow
	NodeAdded   What = "added"    // a new node
	NodeRemoved What = "removed"  // a removed node
	NodeRenamed What = "renamed"  // a node with another ID
	NodeKind    What = "kind"     // a node of another kind
	With        What = "with"     // a member of a node's configuration
	Next        What = "next"     // the target of an outcome
	Gained      What = "gained"   // a fact that is now certain
	Lost        What = "lost"     // a fact that is no longer certain
)

// Change is one difference. Before and After are JSON values or names; one of them is nil for an
// addition or a removal.
type Change struct {
	What What `json:"what"`
	// Node is the ID of the node after the change; schemas.End for facts that are certain when a
	// run completes; "" for the flow.
	Node string `json:"node,omitempty"`
	// Path is the member, the path in the configuration, the outcome or the fact.
	Path   string `json:"path,omitempty"`
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
}

// Compare returns the changes from one flow to another, in the order of the nodes after the
// change. There are none if both have the same meaning. A change within a sub-flow is reported
// at its first use.
func Compare(before, after *engine.Graph) []Change {
	c := comparison{a: sideOf(before), b: sideOf(after), reported: map[string]bool{}}
	c.match()
	c.compareFlow()
	c.compareMembers(Demanded, "", guaranteeLeaves(before.Flow().Guarantees), guaranteeLeaves(after.Flow().Guarantees))
	c.compareMembers(Proven, "", guaranteeLeaves(before.Guarantees()), guaranteeLeaves(after.Guarantees()))
	for _, id := range c.b.order {
		c.compareNode(id)
	}
	for _, id := range c.a.order {
		if c.idAfter[id] == "" {
			c.add(Change{What: NodeRemoved, Node: id, Before: c.a.node[id].Kind})
		}
	}
	if c.a.completes() && c.b.completes() {
		c.compareFacts(schemas.End, true, c.a.certainAtEnd(), c.b.certainAtEnd())
	}
	return c.changes
}

// side is a flow before or after the change.
type side struct {
	flow  *schemas.Flow
	order []string // IDs of the nodes
	node  map[string]engine.Node
	with  map[string]leaves // configuration by node
}

func sideOf(g *engine.Graph) side {
	s := side{flow: g.Flow(), node: map[string]engine.Node{}, with: map[string]leaves{}}
	for _, n := range g.Nodes() {
		s.order = append(s.order, n.ID)
		s.node[n.ID] = n
		s.with[n.ID] = leavesOf(n.Config, shapeOf(n.With))
	}
	return s
}

// completions returns, for each edge to the end, what is certain when a run takes it.
func (s side) completions() (list [][]engine.Fact) {
	for _, id := range s.order {
		for _, e := range s.node[id].Edges {
			if e.Target == schemas.End {
				list = append(list, e.Certain)
			}
		}
	}
	return list
}

// completes reports whether a run can complete by leading to the end. Without such a run, no fact is
// lost at the end.
func (s side) completes() bool { return len(s.completions()) > 0 }

// certainAtEnd returns the facts that are certain whenever a run completes by leading to the
// end.
func (s side) certainAtEnd() []engine.Fact {
	all := s.completions()
	return slices.DeleteFunc(slices.Clone(all[0]), func(f engine.Fact) bool {
		return slices.ContainsFunc(all, func(certain []engine.Fact) bool { return !slices.Contains(certain, f) })
	})
}

// ends counts the nodes that end a run, and the end that edges lead to.
func (s side) ends() int {
	n := min(len(s.completions()), 1)
	for _, node := range s.node {
		if len(node.Edges) == 0 {
			n++
		}
	}
	return n
}

// comparison is the state of one Compare.
type comparison struct {
	a, b     side
	idAfter  map[string]string // ID before → ID after
	idBefore map[string]string // ID after → ID before
	changes  []Change
	reported map[string]bool // changes in sub-flows that have been reported
}

func (c *comparison) add(change Change) {
	if what := c.describeSubflow(change); what != "" {
		if c.reported[what] {
			return
		}
		c.reported[what] = true
	}
	c.changes = append(c.changes, change)
}

// match pairs the nodes of both sides. A removed and a new node match if they are the only ones
// with their kind and configuration.
func (c *comparison) match() {
	c.idAfter, c.idBefore = map[string]string{schemas.End: schemas.End}, map[string]string{schemas.End: schemas.End}
	pair := func(before, after string) { c.idAfter[before], c.idBefore[after] = after, before }
	for name := range c.b.flow.Outcomes {
		pair(name, name)
	}
	for _, id := range c.b.order {
		if _, both := c.a.node[id]; both {
			pair(id, id)
		}
	}
	for _, id := range c.b.order {
		if c.idBefore[id] != "" {
			continue
		}
		like := c.similarNodes(c.a, id, c.idAfter)
		if len(like) == 1 && len(c.similarNodes(c.b, id, c.idBefore)) == 1 {
			pair(like[0], id)
		}
	}
}

// similarNodes returns the unmatched nodes of a side with the same kind and configuration as the
// node after the change.
func (c *comparison) similarNodes(s side, id string, matched map[string]string) (ids []string) {
	for _, other := range s.order {
		if matched[other] == "" && s.node[other].Kind == c.b.node[id].Kind && maps.Equal(s.with[other].value, c.b.with[id].value) {
			ids = append(ids, other)
		}
	}
	return ids
}

// compareFlow compares the members of the flow itself.
func (c *comparison) compareFlow() {
	c.compareMembers(Member, "", c.a.members(), c.b.members())
	if entry := c.b.order[0]; c.idAfter[c.a.order[0]] != entry {
		c.add(Change{What: Member, Path: "entry", Before: c.a.order[0], After: entry})
	}
	c.compareUses()
	c.compareWaivers()
}

// members returns the members of the flow itself, and what a sub-flow declares.
func (s side) members() map[string]any {
	f := s.flow
	m := map[string]any{"handle": f.Handle, "name": f.Name, "flowType": string(f.FlowType)}
	for _, fact := range f.Requires.Facts {
		m[schemas.MemberPath("requires.facts", fact)] = true
	}
	for identifier, t := range f.Requires.Inputs {
		m[schemas.MemberPath("requires.inputs", identifier)] = string(t)
	}
	for name, doc := range f.Outcomes {
		m[schemas.MemberPath("outcomes", name)] = doc
	}
	return m
}

// compareMembers compares the values at the same paths, of a node or of the flow.
func (c *comparison) compareMembers(what What, node string, was, is map[string]any) {
	all := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(is))
	slices.Sort(all)
	for _, path := range slices.Compact(all) {
		if was[path] != is[path] {
			c.add(Change{What: what, Node: node, Path: path, Before: was[path], After: is[path]})
		}
	}
}

// compareNode compares a node with its counterpart.
func (c *comparison) compareNode(id string) {
	is, was := c.b.node[id], c.a.node[c.idBefore[id]]
	if c.idBefore[id] == "" {
		c.add(Change{What: NodeAdded, Node: id, After: is.Kind})
		return
	}
	if was.ID != id {
		c.add(Change{What: NodeRenamed, Node: id, Before: was.ID, After: id})
	}
	if was.Kind != is.Kind {
		c.add(Change{What: NodeKind, Node: id, Before: was.Kind, After: is.Kind})
	}
	before, after, sameKind := c.a.with[was.ID], c.b.with[id], was.Kind == is.Kind
	c.compareMembers(With, id, before.significant(after, sameKind), after.significant(before, sameKind))
	c.compareEdges(id, was.Edges, is.Edges)
	c.compareFacts(id, len(is.Edges) == 0, was.Certain, is.Certain)
}

// compareEdges compares the targets of outcomes. A renamed target is the same.
func (c *comparison) compareEdges(id string, before, after []engine.Edge) {
	was, is := targetsOf(before), targetsOf(after)
	for outcome, from := range was {
		if to := is[outcome]; to != nil && c.idAfter[from.(string)] == to {
			was[outcome] = to
		}
	}
	c.compareMembers(Next, id, was, is)
}

func targetsOf(edges []engine.Edge) map[string]any {
	targets := map[string]any{}
	for _, e := range edges {
		targets[e.Outcome] = e.Target
	}
	return targets
}

// compareFacts compares facts.
func (c *comparison) compareFacts(id string, last bool, before, after []engine.Fact) {
	report := func(what What, facts, except []engine.Fact) {
		for _, f := range facts {
			if c.isWorthReporting(f, last) && !slices.Contains(except, f) {
				c.add(Change{What: what, Node: id, Path: string(f)})
			}
		}
	}
	report(Gained, after, before)
	report(Lost, before, after)
}

// isWorthReporting reports whether a change of a fact is relevant. Own follows from other facts,
// and claims add nothing to User. How a user authenticated matters where a run ends; if there is
// only one end, the guarantees contain the same.
func (c *comparison) isWorthReporting(f engine.Fact, last bool) bool {
	about := func(of engine.Fact) bool { return strings.HasPrefix(string(f), string(of)) }
	switch {
	case f == engine.Own, about(engine.ClaimFact("")):
		return false
	case f.IsAuthenticationDetail():
		return last && (c.a.ends() > 1 || c.b.ends() > 1)
	}
	return true
}
