package nodes

import (
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/postern-id/postern/engine"
)

// What an expression proves
//
// A condition that was true, or false, establishes facts about the run: where user.isAuthenticated
// is true the user is authenticated, and the path that follows can rely on it as on a node that
// authenticates. This holds for any combination of conditions whose value cannot come about
// otherwise:
//
//	A && B is true    both are true              what A proves and what B proves
//	A && B is false   either is false            what both would prove
//	A || B is true    either is true             what both would prove
//	A || B is false   both are false             what A proves and what B proves
//	!A                                           what A proves for the other value
//	A ? B : C         A and B, or C and not A    what both branches prove
//	A == true         as A, and so on
//
// CEL's && and || use the operand that decides even if the other one fails; the failed operand
// proves nothing, and need not, because it did not decide. Any other failure ends the run.
// Functions, comparisons and comprehensions prove nothing here. That can reject a safe flow, but
// never accepts an unsafe one.
//
// The values are those of the run at that moment: user.isAuthenticated and user.isNew are the facts
// themselves, and an input or an attribute is present if its value is. In a run without a user both are false, so
// they can be read without one.

// provenCases are the facts that certainly hold if an expression has a given value. An expression
// that cannot have the value is never, and proves anything.
type provenCases struct {
	facts engine.Facts
	never bool
}

// both returns what holds if a and b hold.
func (a provenCases) both(b provenCases) provenCases {
	return provenCases{a.facts.Union(b.facts), a.never || b.never}
}

// either returns what holds if a or b holds.
func (a provenCases) either(b provenCases) provenCases {
	switch {
	case a.never:
		return b
	case b.never:
		return a
	}
	return provenCases{facts: a.facts.Intersect(b.facts)}
}

// provenBy returns what holds if the value of e is truth.
func provenBy(e ast.Expr, truth bool) provenCases {
	if identifier, tested, ok := inputOf(e); ok && tested && truth {
		return provenCases{facts: engine.NewFacts(engine.InputFact(identifier))}
	}
	if facts := attributesTested(e); truth && facts != nil {
		return provenCases{facts: engine.NewFacts(facts...)}
	}
	switch e.Kind() {
	case ast.LiteralKind:
		value, is := e.AsLiteral().Value().(bool)
		return provenCases{never: is && value != truth}
	case ast.SelectKind:
		if fact, ok := factOf(e); ok && truth {
			return provenCases{facts: engine.NewFacts(fact)}
		}
	case ast.CallKind:
		return provenByCall(e.AsCall(), truth)
	}
	return provenCases{}
}

func provenByCall(call ast.CallExpr, truth bool) provenCases {
	args := call.Args()
	switch call.FunctionName() {
	case operators.LogicalNot:
		return provenBy(args[0], !truth)
	case operators.LogicalAnd:
		return provenByAll(args, truth, truth)
	case operators.LogicalOr:
		return provenByAll(args, truth, !truth)
	case operators.Conditional:
		then := provenBy(args[0], true).both(provenBy(args[1], truth))
		return then.either(provenBy(args[0], false).both(provenBy(args[2], truth)))
	case operators.Equals:
		return provenByEqual(args, truth)
	case operators.NotEquals:
		return provenByEqual(args, !truth)
	}
	return provenCases{}
}

// provenByAll returns what holds if all args have the truth value, or any of them.
func provenByAll(args []ast.Expr, truth, all bool) provenCases {
	p := provenCases{never: !all}
	for _, arg := range args {
		if q := provenBy(arg, truth); all {
			p = p.both(q)
		} else {
			p = p.either(q)
		}
	}
	return p
}

// provenByEqual returns what holds if a comparison with true or false has the result.
func provenByEqual(args []ast.Expr, equal bool) provenCases {
	for i, arg := range args {
		if arg.Kind() != ast.LiteralKind {
			continue
		}
		if value, is := arg.AsLiteral().Value().(bool); is {
			return provenBy(args[1-i], value == equal)
		}
	}
	return provenCases{}
}

// factOf recognizes the members of user that are facts of the run.
func factOf(e ast.Expr) (engine.Fact, bool) {
	s := e.AsSelect()
	if s.IsTestOnly() || !isIdent(s.Operand(), "user") {
		return "", false
	}
	switch s.FieldName() {
	case "isAuthenticated":
		return engine.Authenticated, true
	case "isNew":
		return engine.New, true
	}
	return "", false
}
