package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// remaining returns the errors that another check found by their text; nil if any of them is new.
func (t *trial) remaining(c *compiler) map[string]int {
	left := map[string]int{}
	for _, p := range c.problems {
		if p.Warning {
			continue
		}
		text := textOf(p)
		if left[text]++; left[text] > t.count[text] {
			return nil
		}
	}
	return left
}

// textOf identifies a finding. The node of a guarantee depends on the run that breaks it.
func textOf(p schemas.Problem) string { return p.Rule + "\n" + p.Path + "\n" + p.Message }

// moveTo moves the first of the findings to their cause, and lets the others follow from it.
func (c *compiler) moveTo(r repair) {
	root := c.rootAmong(r)
	before := c.problems[root]
	p := &c.problems[root]
	p.Path, p.Within, p.Follows = r.path, 0, nil
	p.Message = r.message() + ": " + before.Message
	p.Cause = &schemas.Cause{Node: c.nodes[r.node].ID, Outcome: r.outcome, Target: r.to, Instead: r.instead}
	for i := range c.problems {
		one := c.problems[i]
		if i != root && (slices.Contains(r.fixes, i) || one.Follows.IsOf(before) || c.followsAny(one, r.fixes)) {
			c.follow(i, root)
		}
	}
}

// rootAmong returns the finding that a repair moves: one that is there already, or else the first that follows
// from no other.
func (c *compiler) rootAmong(r repair) int {
	for _, is := range []func(schemas.Problem) bool{
		func(p schemas.Problem) bool { return p.Path == r.path },
		func(p schemas.Problem) bool { return p.Follows == nil },
	} {
		if i := slices.IndexFunc(r.fixes, func(i int) bool { return is(c.problems[i]) }); i >= 0 {
			return r.fixes[i]
		}
	}
	return r.fixes[0]
}

// followsAny reports whether a finding follows from one of the others.
func (c *compiler) followsAny(p schemas.Problem, others []int) bool {
	return slices.ContainsFunc(others, func(i int) bool { return p.Follows.IsOf(c.problems[i]) })
}

// message names the target that is wrong, and those that are right.
func (r repair) message() string {
	what := "the node"
	if r.outcome != "" {
		what = fmt.Sprintf("the outcome %q", r.outcome)
	}
	if len(r.instead) > maxNamedTargets {
		return fmt.Sprintf("lead %s to another node than %q, such as %q", what, r.to, r.instead[0])
	}
	quoted := make([]string, len(r.instead))
	for i, name := range r.instead {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return fmt.Sprintf("lead %s to %s instead of %q", what, strings.Join(quoted, " or "), r.to)
}
