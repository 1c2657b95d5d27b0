package engine

import (
	"maps"
	"reflect"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// Remember returns kinds that remember the executors of nodes, for the successive versions of a flow in
// an editor. Kind.New depends on nothing but its argument, so an executor is created again only if
// something in that has changed. The kinds are not safe for concurrent use.
func Remember(kinds Kinds) Kinds {
	remembering := make(Kinds, len(kinds))
	for name, kind := range kinds {
		copied := *kind
		if kind.New != nil {
			copied.New = remembered(kind.New)
		}
		remembering[name] = &copied
	}
	return remembering
}

// rememberedExecutor is a call of Kind.New.
type rememberedExecutor struct {
	config   Config     // without Collected
	read     *Collected // nil if it does not depend on that
	exec     Executor
	problems []schemas.Problem
}

// maxRemembered limits the remembered executors of one node: two of a check, and the one of an editor
// that lists its outcomes.
const maxRemembered = 3

func remembered(create func(*Config) (Executor, []schemas.Problem)) func(*Config) (Executor, []schemas.Problem) {
	known := map[string][]rememberedExecutor{} // by the ID of the node, newest first
	return func(c *Config) (Executor, []schemas.Problem) {
		r := rememberedExecutor{config: *c}
		r.config.Collected = nil
		before := known[c.Node.ID]
		if i := slices.IndexFunc(before, func(b rememberedExecutor) bool { return b.equals(&r.config, c.Collected) }); i >= 0 {
			return before[i].exec, before[i].problems
		}
		config := *c
		config.Collected = func() Collected {
			flow := c.Collected()
			r.read = &flow
			return flow
		}
		r.exec, r.problems = create(&config)
		if len(known) >= maxNodes {
			clear(known)
		}
		known[c.Node.ID] = slices.Insert(before[:min(len(before), maxRemembered-1)], 0, r)
		return r.exec, r.problems
	}
}

// equals reports whether Kind.New would return the same for this argument.
func (r *rememberedExecutor) equals(config *Config, collected func() Collected) bool {
	if !reflect.DeepEqual(&r.config, config) {
		return false
	}
	if r.read == nil {
		return true
	}
	flow := collected()
	return r.read.Partial == flow.Partial && maps.Equal(r.read.Inputs, flow.Inputs) && reflect.DeepEqual(r.read.Replies, flow.Replies)
}
