package nodes

import (
	"fmt"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// environment creates the environment of a node's expressions. The common part is created once,
// when the first node of the flow needs it: many flows have no expressions.
type environment struct {
	once   sync.Once
	common *cel.Env
}

// with returns the environment with a variable for each value of each reply of the flow. Any other
// name is an error, unless part of the flow could not be understood: then it may exist, with any
// type.
func (e *environment) with(c *engine.Config) *cel.Env {
	e.once.Do(func() { e.common = expressionEnv() })
	flow := c.Collected()
	if len(flow.Replies) == 0 && !flow.Partial {
		return e.common
	}
	return flow.Derive(e, func() any { return e.extended(&flow) }).(*cel.Env)
}

// extended returns the environment for a flow.
func (e *environment) extended(flow *engine.Collected) *cel.Env {
	var options []cel.EnvOption
	for name, types := range flow.Replies {
		for member, t := range types {
			options = append(options, cel.Variable(schemas.ReplyVariable(name, member), replyType(t)))
		}
	}
	if flow.Partial {
		options = append(options, cel.Variable(repliesName, cel.DynType))
	}
	return must(e.common.Extend(options...))
}

// repliesName is the variable for replies of services: replies.risk.score.
const repliesName = "replies"

func replyType(t engine.ReplyType) *cel.Type {
	return map[engine.ReplyType]*cel.Type{
		engine.NumberReply: cel.DoubleType, engine.IntegerReply: cel.IntType, engine.BooleanReply: cel.BoolType, engine.StringReply: cel.StringType,
	}[t]
}

// replyUse is a place where an expression reads a reply.
type replyUse struct {
	name string
	at   common.Location
}

// replyOf recognizes a variable of a reply.
func replyOf(ident string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(ident, repliesName+".")
	name, _, _ = strings.Cut(rest, ".")
	return name, ok
}

// replyNeeds returns the replies that must be present for the expression.
func (e *expression) replyNeeds() (needs []engine.Need) {
	for _, use := range firstUses(e.replies, func(use replyUse) string { return use.name }) {
		needs = append(needs, fault{at: use.at, message: fmt.Sprintf("it reads the reply %q", use.name)}.explain(engine.Need{
			AnyOf: engine.ReplyFacts(use.name),
			Fix: fmt.Sprintf("lead here from the success of the node that stores it as %q; its inputs must not be collected again in between",
				use.name),
		}, e.text))
	}
	return needs
}

// mayBeDynamic reports whether an expression can have any type because part of the flow could not
// be understood.
func mayBeDynamic(c *engine.Config, t *cel.Type) bool {
	return t.Kind() == cel.DynKind && c.Collected().Partial
}
