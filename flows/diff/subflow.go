package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// describeSubflow identifies a change within a sub-flow independent of the use; "" for other
// changes. What is certain at a node depends on the use.
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
			return "" // an exit, whose target depends on the flow
		}
		return v
	}
	return fmt.Sprint(s.node[n.Within].Subflow, strings.TrimPrefix(n.ID, n.Within), " ", change.What, " ", change.Path, " ", local(change.Before), " ", local(change.After))
}

// compareUses compares the versions of sub-flows that stored flows use. Files contain none.
func (c *comparison) compareUses() {
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

// compareWaivers compares the waivers of the flow and of its sub-flows.
func (c *comparison) compareWaivers() {
	before, after := c.a.waivers(c.a.flow, ""), c.b.waivers(c.b.flow, "")
	for _, w := range before {
		if !slices.ContainsFunc(after, func(v schemas.Waiver) bool {
			return v.Rule == w.Rule && v.Reason == w.Reason && c.idBefore[v.Node] == w.Node
		}) {
			c.add(Change{What: Waived, Node: w.Node, Path: w.Rule, Before: w.Reason})
		}
	}
	for _, w := range after {
		if !slices.ContainsFunc(before, func(v schemas.Waiver) bool {
			return v.Rule == w.Rule && v.Reason == w.Reason && c.idAfter[v.Node] == w.Node
		}) {
			c.add(Change{What: Waived, Node: w.Node, Path: w.Rule, After: w.Reason})
		}
	}
}

// waivers returns the waivers of a flow and of its sub-flows, with node IDs of the graph.
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

// compareDeclared compares what a sub-flow requires, and its outcomes.
func (c *comparison) compareDeclared() {
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
