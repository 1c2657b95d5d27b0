package engine

import (
	"fmt"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// trace describes a path for authors: the facts about the user that each node adds or removes,
// and those that the path lacks at its end.
func (c *compiler) trace(path []move, lacking []Fact) schemas.Trace {
	var trace schemas.Trace
	end := func(node, path string) schemas.Trace {
		return append(trace, schemas.TraceStep{Node: node, Path: path, Note: "reached without " + factNames(lacking)})
	}
	about := NewFacts(lacking...)
	held := c.entryFacts()
	for i, m := range path {
		n := &c.graph.nodes[m.node]
		if m.edge < 0 {
			return end(n.id, c.nodePath(m.node, ""))
		}
		e, at, o := n.edges[m.edge], c.edgePath(m.node, m.edge), c.outcome(m.node, m.edge)
		after := held.after(o)
		trace = append(trace, schemas.TraceStep{Node: n.id, Outcome: e.name, Path: at, Note: describeChange(held, after, o, about)})
		held = after
		if i == len(path)-1 {
			return end(c.graph.name(e.target), at)
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
	return c.nextPath(i, e.name)
}

// describeChange describes what a run gains and loses by an outcome.
func describeChange(before, after Facts, o Outcome, about Facts) string {
	var words []string
	note := func(is bool, format string, args ...any) {
		if is {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	gained := func(f Fact) bool { return after.Has(f) && !before.Has(f) }
	lost := func(f Fact) bool { return before.Has(f) && !after.Has(f) }
	switch {
	case o.NewSubject && lost(Authenticated):
		note(true, "the run changes to another user, who is not authenticated")
	case o.NewSubject && lost(Own):
		note(true, "the run changes to another user, who is neither new nor authenticated")
	default:
		note(lost(User), "the user is forgotten")
	}
	switch {
	case after.Has(New) && (gained(New) || o.NewSubject):
		note(true, "a new user")
	case gained(Authenticated):
		note(true, "the user is authenticated")
	case after.Has(User) && !after.Has(Own):
		note(gained(User) || o.NewSubject, "a user who is only identified")
	}
	for _, f := range about {
		switch sort, name := f.split(); sort {
		case replySort, userReplySort:
			note(gained(f), "the service reply %q is available", name)
			note(lost(f), "the service reply %q is no longer valid", name)
		case attributeSort:
			note(gained(f), "the user has the attribute %s", name)
			note(lost(f), "the attribute %s is no longer certain", name)
		case inputSort:
			note(gained(f), "the input %q has a value", name)
			note(lost(f), "the input %q is cleared", name)
		}
	}
	return strings.Join(words, "; ")
}
