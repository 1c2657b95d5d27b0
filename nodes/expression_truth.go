package nodes

import (
	"maps"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/postern-id/postern/engine"
)

// What an expression proves
//
// A condition that was found true, or false, says something about the run: where
// user.isAuthenticated is true the user is authenticated, and the way that
// follows may rely on it like on a node that authenticates. That holds however
// the condition is put together, as long as its value could not have come about
// otherwise:
//
//	A && B is true    both are true              what A proves and what B proves
//	A && B is false   either is false            what both would prove
//	A || B is true    either is true             what both would prove
//	A || B is false   both are false             what A proves and what B proves
//	!A                                           what A proves of the other value
//	A ? B : C         A and B, or C and not A    what both ways prove
//	A == true         as A, and so on
//
// CEL's && and || take the side that decides even where the other fails; what
// failed then proves nothing and need not, for it did not decide. Every other
// failure ends the step. Of all else (functions, comparisons, comprehensions)
// nothing is concluded: that may refuse a flow that is safe, and accepts none
// that is not.
//
// The values are those of the run at that moment: user.isAuthenticated and
// user.isNew are its facts themselves, and an input is there if it is there. A
// run in which nobody is known is none in which somebody is authenticated, so
// these two may be read without a user.

// provenCases is what certainly holds where an expression has a value that it can
// have. An expression that cannot have the value is never, and proves anything.
type provenCases struct {
	facts engine.Facts
	never bool
}

// both is what holds where a and b do.
func (a provenCases) both(b provenCases) provenCases {
	return provenCases{unionFacts(a.facts, b.facts), a.never || b.never}
}

// either is what holds where a or b does.
func (a provenCases) either(b provenCases) provenCases {
	switch {
	case a.never:
		return b
	case b.never:
		return a
	}
	common := engine.Facts{}
	for f := range a.facts {
		if b.facts.Has(f) {
			common[f] = struct{}{}
		}
	}
	return provenCases{facts: common}
}

// unionFacts returns what is in a or b; neither changes.
func unionFacts(a, b engine.Facts) engine.Facts {
	if len(a) == 0 {
		return b
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// provenBy returns what holds where the value of e is truth.
func provenBy(e ast.Expr, truth bool) provenCases {
	if identifier, tested, ok := inputOf(e); ok && tested && truth {
		return provenCases{facts: engine.NewFacts(engine.InputFact(identifier))}
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

// provenByAll is what holds where all args have the truth, or any of them.
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

// provenByEqual is what holds where something equals true or false, or does not.
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

// factOf recognises the members of user that are facts of the run.
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
