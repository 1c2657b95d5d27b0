package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// describeSubflow says of a change within a sub-flow what it is, wherever that is used; "" of
// any other. What is certain at a node depends on where that is.
func (c *comparison) describeSubflow(change Change) string {
	if change.What == Gained || change.What == Lost || change.What == Waived {
		return ""
	}
	s := c.b
	n, ok := s.node[change.Node]
	if !ok {
		s = c.a
		n = s.node[change.Node]
	}
	if n.Within == "" {
		return ""
	}
	local := func(v any) any {
		if target, is := v.(string); is && change.What == Next {
			if inner, of := strings.CutPrefix(target, n.Within+"."); of {
				return inner
			}
			return "" // it leaves the sub-flow, to where each flow says
		}
		return v
	}
	return fmt.Sprint(s.node[n.Within].Subflow, strings.TrimPrefix(n.ID, n.Within), " ", change.What, " ", change.Path, " ", local(change.Before), " ", local(change.After))
}

// uses compares which versions of sub-flows stored flows use; files say none.
func (c *comparison) uses() {
	versions := func(f *schemas.Flow) map[string]any {
		m := map[string]any{}
		for _, u := range f.Uses {
			m[u.Handle] = u.Version
		}
		return m
	}
	was, is := versions(c.a.flow), versions(c.b.flow)
	for _, handle := range keys(was, is) {
		if before, after := was[handle], is[handle]; before != nil && after != nil && before != after {
			c.add(Change{What: Used, Path: handle, Before: before, After: after})
		}
	}
}

// waivers compares what is waived, in the flow and in what it uses.
func (c *comparison) waivers() {
	before, after := c.a.waivers(c.a.flow, ""), c.b.waivers(c.b.flow, "")
	for _, w := range before {
		if !slices.ContainsFunc(after, func(v schemas.Waiver) bool {
			return v.Rule == w.Rule && v.Reason == w.Reason && c.formerNode[v.Node] == w.Node
		}) {
			c.add(Change{What: Waived, Node: w.Node, Path: w.Rule, Before: w.Reason})
		}
	}
	for _, w := range after {
		if !slices.ContainsFunc(before, func(v schemas.Waiver) bool {
			return v.Rule == w.Rule && v.Reason == w.Reason && c.now[v.Node] == w.Node
		}) {
			c.add(Change{What: Waived, Node: w.Node, Path: w.Rule, After: w.Reason})
		}
	}
}

// waivers are those of a flow and of the sub-flows that it uses at the nodes within
// a node, by the ids that the graph has.
func (s side) waivers(f *schemas.Flow, within string) (list []schemas.Waiver) {
	prefix := within
	if within != "" {
		prefix += "."
	}
	for _, w := range f.Waive {
		w.Node = prefix + w.Node
		list = append(list, w)
	}
	for _, id := range s.order {
		if n := s.node[id]; n.Within == within && n.Subflow != "" {
			list = append(list, s.waivers(f.Parts[n.Subflow], id)...)
		}
	}
	return list
}

// declared compares what a sub-flow relies on, and how it is left.
func (c *comparison) declared() {
	members := func(f *schemas.Flow) map[string]any {
		m := map[string]any{}
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
	was, is := members(c.a.flow), members(c.b.flow)
	for _, path := range keys(was, is) {
		if was[path] != is[path] {
			c.add(Change{What: Member, Path: path, Before: was[path], After: is[path]})
		}
	}
}
