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
	for _, is := range c.b.flow.Uses {
		for _, was := range c.a.flow.Uses {
			if was.Handle == is.Handle && was.Version != is.Version {
				c.add(Change{What: Used, Path: is.Handle, Before: was.Version, After: is.Version})
			}
		}
	}
}

// compareWaivers compares the waivers of the flow and of its sub-flows.
func (c *comparison) compareWaivers() {
	before, after := c.a.waivers(c.a.flow, ""), c.b.waivers(c.b.flow, "")
	for _, w := range before {
		renamed := w
		renamed.Node = c.idAfter[w.Node]
		if i := slices.Index(after, renamed); i >= 0 {
			after = slices.Delete(after, i, i+1)
		} else {
			c.add(Change{What: Waived, Node: w.Node, Path: w.Rule, Before: w.Reason})
		}
	}
	for _, w := range after {
		c.add(Change{What: Waived, Node: w.Node, Path: w.Rule, After: w.Reason})
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
