package engine

import (
	"slices"

	"github.com/postern-id/postern/schemas"
)

// targetsOf is where node i leads in the graph. A node of a sub-flow names the outcomes of
// that, and some kinds do something else where they lead to the end of the run: which of
// these do is known only where the sub-flow is used.
func (c *compiler) targetsOf(i int) schemas.Next {
	next, s := c.nodes[i].Next, c.nodeOrigins[i].scope
	if s.use < 0 {
		return next
	}
	led := schemas.Next{To: c.resolveTarget(s, next.To)}
	if next.By != nil {
		led.By = make(map[string]string, len(next.By))
		for outcome, to := range next.By {
			led.By[outcome] = c.resolveTarget(s, to)
		}
	}
	return led
}

// resolveTarget is the id in the graph of what a name leads to: through the outcomes of
// sub-flows to what they are wired to. A name that leads nowhere stays, for wire to
// report.
func (c *compiler) resolveTarget(s *scope, name string) string {
	for s.use >= 0 && slices.Contains(exitsOf(s.flow), name) {
		next := c.nodes[s.use].Next
		to := next.To
		if next.By != nil {
			to = next.By[name]
		}
		if to == "" {
			return name
		}
		name, s = to, c.nodeOrigins[s.use].scope
	}
	if name == "" || name == schemas.End {
		return name
	}
	return s.prefix + name
}
