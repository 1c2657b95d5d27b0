package engine

import (
	"fmt"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// trace describes a path for authors: the facts about the user that each node adds or removes,
// and those that the path lacks at its end.
func (c *compiler) trace(path []move, lacking []Fact) schemas.Trace {
	about := NewFacts(lacking...)
	var trace schemas.Trace
	held := c.entryFacts()
	for i, m := range path {
		n := &c.graph.nodes[m.node]
		if m.edge < 0 {
			return append(trace, schemas.TraceStep{Node: n.id, Path: c.nodePath(m.node, ""), Note: "reached without " + factNames(lacking)})
		}
		o := n.edges[m.edge].Outcome
		if n.exec == nil {
			o = n.bestOutcome(o.Name)
		}
		after := held.after(o)
		trace = append(trace, schemas.TraceStep{
			Node: n.id, Outcome: n.edges[m.edge].Name, Path: c.edgePath(m.node, m.edge), Note: describeChange(held, after, o, about),
		})
		held = after
		if i == len(path)-1 {
			trace = append(trace, schemas.TraceStep{Node: c.graph.name(n.edges[m.edge].target), Path: c.edgePath(m.node, m.edge), Note: "reached without " + factNames(lacking)})
		}
	}
	return trace
}

// edgePath returns the path in the definition of an edge's target.
func (c *compiler) edgePath(i, edge int) string {
	e := c.graph.nodes[i].edges[edge]
	if e.retry || c.useScopes[i] != nil {
		return c.nodePath(i, "")
	}
	return c.nextPath(i, e.Name)
}

// describeChange describes what a run gains and loses by an outcome.
func describeChange(before, after Facts, o Outcome, about Facts) string {
	var words []string
	gained := func(f Fact) bool { return after.Has(f) && !before.Has(f) }
	lost := func(f Fact) bool { return before.Has(f) && !after.Has(f) }
	switch {
	case o.NewSubject && lost(Authenticated):
		words = append(words, "the run changes to another user, who is not authenticated")
	case o.NewSubject && lost(Own):
		words = append(words, "the run changes to another user, who is not its own")
	case lost(User):
		words = append(words, "the user is forgotten")
	}
	switch {
	case after.Has(New) && (gained(New) || o.NewSubject):
		words = append(words, "a new user")
	case gained(Authenticated):
		words = append(words, "the user is authenticated")
	case after.Has(User) && !after.Has(Own) && (gained(User) || o.NewSubject):
		words = append(words, "a user who is merely identified")
	}
	for _, f := range about.List() {
		input, is := f.Input()
		reply, ofService := f.reply()
		switch {
		case ofService && gained(f):
			words = append(words, fmt.Sprintf("the service reply %q is available", reply))
		case ofService && lost(f):
			words = append(words, fmt.Sprintf("the service reply %q is no longer valid", reply))
		case is && gained(f):
			words = append(words, fmt.Sprintf("the input %q has a value", input))
		case is && lost(f):
			words = append(words, fmt.Sprintf("the input %q is withdrawn", input))
		}
	}
	return strings.Join(words, "; ")
}
