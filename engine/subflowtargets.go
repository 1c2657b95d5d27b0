package engine

import (
	"slices"

	"github.com/postern-id/postern/schemas"
)

// targetsOf returns the targets of node i in the graph. A node of a sub-flow names the outcomes
// of the sub-flow, and some kinds behave differently if an outcome ends the run. Whether it does
// depends on the flow that uses the sub-flow.
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

// resolveTarget returns the ID in the graph of a target, following the outcomes of sub-flows to
// their targets. A name without a target is returned unchanged, for target to report.
func (c *compiler) resolveTarget(s *scope, name string) string {
	for s.use >= 0 && slices.Contains(exitsOf(s.flow), name) {
		to := targetOf(c.nodes[s.use].Next, name)
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

// targetOf returns the target of an outcome, "" if there is none.
func targetOf(next schemas.Next, outcome string) string {
	if next.By != nil {
		return next.By[outcome]
	}
	return next.To
}
