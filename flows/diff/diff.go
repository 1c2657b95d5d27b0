// Package diff compares flows by what they mean: how people are led through
// them, and what is certain where. How a file is written, in which order its
// nodes stand after the first, and whether it says what is so by default, is no
// difference.
package diff

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// What says what has changed.
type What string

// What may change.
const (
	Member      What = "member"   // a member of the flow: its name, its entry
	Demanded    What = "demanded" // what the flow says it guarantees
	Proven      What = "proven"   // what it is proven to guarantee
	Waived      What = "waiver"   // a waiver
	Used        What = "uses"     // the version of a sub-flow
	NodeAdded   What = "added"    // a node is new
	NodeRemoved What = "removed"  // a node is gone
	NodeRenamed What = "renamed"  // a node is called otherwise
	NodeKind    What = "kind"     // a node is of another kind
	With        What = "with"     // a member of a node's configuration
	Next        What = "next"     // where an outcome leads
	Gained      What = "gained"   // a fact is certain that was not
	Lost        What = "lost"     // a fact is no longer certain
)

// Change is one difference. Before and After are JSON values or names; one of
// them is nil where there was, or is, none.
type Change struct {
	What What `json:"what"`
	// Node is the id of the node it is about, as it is called after the change;
	// schemas.End for what is certain when a run completes; "" for the flow.
	Node string `json:"node,omitempty"`
	// Path is the member, the path in the configuration, the outcome or the fact.
	Path   string `json:"path,omitempty"`
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
}

// Compare returns what has changed from one flow to another, in the order of the
// nodes after the change. There is nothing where both mean the same. What has changed
// within a sub-flow is told where it is used first.
func Compare(before, after *engine.Graph) []Change {
	c := comparison{a: sideOf(before), b: sideOf(after), reported: map[string]bool{}}
	c.match()
	c.flow()
	c.guarantees(Demanded, before.Flow().Guarantees, after.Flow().Guarantees)
	c.guarantees(Proven, before.Guarantees(), after.Guarantees())
	for _, id := range c.b.order {
		c.node(id)
	}
	for _, id := range c.a.order {
		if c.now[id] == "" {
			c.add(Change{What: NodeRemoved, Node: id, Before: c.a.node[id].Kind})
		}
	}
	c.certain(schemas.End, true, c.a.atEnd(), c.b.atEnd())
	return c.changes
}

// side is a flow before or after the change.
type side struct {
	flow  *schemas.Flow
	order []string // ids of the nodes
	node  map[string]engine.Node
	with  map[string]leaves // node → its configuration
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

// atEnd returns what is certain whenever a run completes by leading to the end.
func (s side) atEnd() []engine.Fact {
	var certain []engine.Fact
	first := true
	for _, id := range s.order {
		for _, e := range s.node[id].Edges {
			switch {
			case e.Target != schemas.End:
			case first:
				certain, first = slices.Clone(e.Certain), false
			default:
				certain = slices.DeleteFunc(certain, func(f engine.Fact) bool { return !slices.Contains(e.Certain, f) })
			}
		}
	}
	return certain
}

// comparison is one Compare.
type comparison struct {
	a, b       side
	now        map[string]string // id before → id after
	formerNode map[string]string // id after → id before
	changes    []Change
	reported   map[string]bool // what has been told of nodes of sub-flows
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

// match finds for each node which it was. One that is gone and one that is new
// are taken for the same if they alone are of their kind and configuration.
func (c *comparison) match() {
	c.now, c.formerNode = map[string]string{schemas.End: schemas.End}, map[string]string{schemas.End: schemas.End}
	pair := func(before, after string) { c.now[before], c.formerNode[after] = after, before }
	for name := range c.b.flow.Outcomes {
		pair(name, name)
	}
	for _, id := range c.b.order {
		if _, both := c.a.node[id]; both {
			pair(id, id)
		}
	}
	for _, id := range c.b.order {
		if c.formerNode[id] != "" {
			continue
		}
		like := c.similarNodes(c.a, id, c.now)
		if len(like) == 1 && len(c.similarNodes(c.b, id, c.formerNode)) == 1 {
			pair(like[0], id)
		}
	}
}

// similarNodes lists the nodes of a side that have no match yet and do what the node of
// the id does after the change.
func (c *comparison) similarNodes(s side, id string, matched map[string]string) (ids []string) {
	for _, other := range s.order {
		if matched[other] == "" && s.node[other].Kind == c.b.node[id].Kind && maps.Equal(s.with[other].value, c.b.with[id].value) {
			ids = append(ids, other)
		}
	}
	return ids
}

// flow compares what is about the flow as a whole.
func (c *comparison) flow() {
	for _, m := range []struct{ path, before, after string }{
		{"handle", c.a.flow.Handle, c.b.flow.Handle},
		{"name", c.a.flow.Name, c.b.flow.Name},
		{"flowType", string(c.a.flow.FlowType), string(c.b.flow.FlowType)},
	} {
		if m.before != m.after {
			c.add(Change{What: Member, Path: m.path, Before: m.before, After: m.after})
		}
	}
	if entry := c.b.order[0]; c.now[c.a.order[0]] != entry {
		c.add(Change{What: Member, Path: "entry", Before: c.a.order[0], After: entry})
	}
	c.declared()
	c.uses()
	c.waivers()
}

// node compares a node with the one it was.
func (c *comparison) node(id string) {
	is, was := c.b.node[id], c.a.node[c.formerNode[id]]
	if c.formerNode[id] == "" {
		c.add(Change{What: NodeAdded, Node: id, After: is.Kind})
		return
	}
	if was.ID != id {
		c.add(Change{What: NodeRenamed, Node: id, Before: was.ID, After: id})
	}
	if was.Kind != is.Kind {
		c.add(Change{What: NodeKind, Node: id, Before: was.Kind, After: is.Kind})
	}
	c.configuration(id)
	c.edges(id, was.Edges, is.Edges)
	c.certain(id, len(is.Edges) == 0, was.Certain, is.Certain)
}

func (c *comparison) configuration(id string) {
	before, after := c.a.with[c.formerNode[id]], c.b.with[id]
	for _, path := range keys(before.value, after.value) {
		fallback := cmp.Or(before.fallback[path], after.fallback[path])
		if c.a.node[c.formerNode[id]].Kind != c.b.node[id].Kind {
			fallback = nil
		}
		if x, y := before.of(path, fallback), after.of(path, fallback); x != y {
			c.add(Change{What: With, Node: id, Path: path, Before: x, After: y})
		}
	}
}

// edges compares where the outcomes lead. A target that is only called otherwise
// is the same.
func (c *comparison) edges(id string, before, after []engine.Edge) {
	targets := func(edges []engine.Edge) map[string]any {
		m := map[string]any{}
		for _, e := range edges {
			m[e.Outcome] = e.Target
		}
		return m
	}
	was, is := targets(before), targets(after)
	for _, outcome := range keys(was, is) {
		from, to := was[outcome], is[outcome]
		if old, ok := from.(string); ok && to != nil && c.now[old] == to {
			continue
		}
		c.add(Change{What: Next, Node: id, Path: outcome, Before: from, After: to})
	}
}

// guarantees compares what the flow guarantees, member by member.
func (c *comparison) guarantees(what What, before, after schemas.Guarantees) {
	was, is := members(before), members(after)
	for _, path := range keys(was, is) {
		if was[path] != is[path] {
			c.add(Change{What: what, Path: path, Before: was[path], After: is[path]})
		}
	}
}

// ends counts the nodes that end a run, and the end that others lead to.
func (s side) ends() int {
	n, completes := 0, 0
	for _, node := range s.node {
		if len(node.Edges) == 0 {
			n++
		}
		for _, e := range node.Edges {
			if e.Target == schemas.End {
				completes = 1
			}
		}
	}
	return n + completes
}

// certain compares facts.
func (c *comparison) certain(id string, last bool, before, after []engine.Fact) {
	for _, f := range after {
		if c.isWorthReporting(f, last) && !slices.Contains(before, f) {
			c.add(Change{What: Gained, Node: id, Path: string(f)})
		}
	}
	for _, f := range before {
		if c.isWorthReporting(f, last) && !slices.Contains(after, f) {
			c.add(Change{What: Lost, Node: id, Path: string(f)})
		}
	}
}

// isWorthReporting reports whether a fact is worth telling. That a user is the run's own
// follows from others, and by what a user was named says nothing that their being
// known does not. How somebody has authenticated counts where a run ends; if it
// ends in one place alone, what the flow guarantees says the same.
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

// keys lists what either map has, sorted.
func keys(a, b map[string]any) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
