package nodes

import (
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

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
//	A == B            both are true, or both are false
//	A in [B, C]       A == B || A == C
//	[A, B].all(x, P)  P of A && P of B; likewise exists, exists_one, and x of a list in a list
//	[A, B] == [C, D]  A == C && B == D
//
// A comprehension over a list that is written in the expression is unrolled: its variables are bound to the
// items and to the steps before. The bindings keep what they are bound to with its own bindings, so names
// are never confused.
//
// CEL's && and || use the operand that decides even if the other one fails; the failed operand
// proves nothing, and need not, because it did not decide. Any other failure ends the run.
// Functions, other comparisons and comprehensions over values of the run prove nothing here. That can reject a
// safe flow, but never accepts an unsafe one.
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

// binding is a variable of a comprehension and its value, which is an expression with bindings of its own.
type binding struct {
	name  string
	value ast.Expr
	in    *binding // of the value
	outer *binding
}

// find returns the binding of a name, nil if it is not bound.
func (b *binding) find(name string) *binding {
	for ; b != nil && b.name != name; b = b.outer {
	}
	return b
}

// resolve follows bound names to their values.
func resolve(e ast.Expr, in *binding) (ast.Expr, *binding) {
	for e.Kind() == ast.IdentKind {
		b := in.find(e.AsIdent())
		if b == nil {
			break
		}
		e, in = b.value, b.in
	}
	return e, in
}

const (
	// maxProofSteps limits the work for one expression; maxUnrolled the items of a list.
	maxProofSteps = 20_000
	maxUnrolled   = 30
)

// truthProver derives what an expression proves. What is left out because of its limit proves nothing.
type truthProver struct{ left int }

// provenBy returns what holds if the value of e is truth.
func provenBy(e ast.Expr, truth bool) provenCases {
	return (&truthProver{maxProofSteps}).provenBy(e, truth, nil)
}

func (p *truthProver) provenBy(e ast.Expr, truth bool, in *binding) provenCases {
	if p.left--; p.left < 0 {
		return provenCases{}
	}
	e, in = resolve(e, in)
	if truth && in.find(rootName(e)) == nil {
		if identifier, tested, ok := inputOf(e); ok && tested {
			return provenCases{facts: engine.NewFacts(engine.InputFact(identifier))}
		}
		if facts := attributesTested(e); facts != nil {
			return provenCases{facts: engine.NewFacts(facts...)}
		}
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
		return p.provenByCall(e.AsCall(), truth, in)
	case ast.ComprehensionKind:
		return p.provenByLoop(e.AsComprehension(), truth, in)
	}
	return provenCases{}
}

// rootName returns the name of the variable whose member e reads or tests; "" for anything else.
func rootName(e ast.Expr) string {
	for {
		if e.Kind() == ast.IdentKind {
			return e.AsIdent()
		}
		of, _, _, ok := memberOf(e)
		if !ok {
			return ""
		}
		e = of
	}
}

func (p *truthProver) provenByCall(call ast.CallExpr, truth bool, in *binding) provenCases {
	args := call.Args()
	switch call.FunctionName() {
	case operators.LogicalNot:
		return p.provenBy(args[0], !truth, in)
	case operators.LogicalAnd:
		return p.provenByAll(args, truth, truth, in)
	case operators.LogicalOr:
		return p.provenByAll(args, truth, !truth, in)
	case operators.Conditional:
		then := p.provenBy(args[0], true, in).both(p.provenBy(args[1], truth, in))
		return then.either(p.provenBy(args[0], false, in).both(p.provenBy(args[2], truth, in)))
	case operators.Equals:
		return p.provenByEqual(args[0], args[1], truth, in, in)
	case operators.NotEquals:
		return p.provenByEqual(args[0], args[1], !truth, in, in)
	case operators.In:
		return p.provenByIn(args[0], args[1], truth, in)
	}
	return provenCases{}
}

// provenByAll returns what holds if all args have the truth value, or any of them.
func (p *truthProver) provenByAll(args []ast.Expr, truth, all bool, in *binding) provenCases {
	proven := provenCases{never: !all}
	for _, arg := range args {
		if q := p.provenBy(arg, truth, in); all {
			proven = proven.both(q)
		} else {
			proven = proven.either(q)
		}
	}
	return proven
}

// provenByEqual returns what holds if a == b has the result. For values that are not boolean it is what holds
// whenever they have a value.
func (p *truthProver) provenByEqual(a, b ast.Expr, equal bool, inA, inB *binding) provenCases {
	a, inA = resolve(a, inA)
	b, inB = resolve(b, inB)
	switch {
	case a.Kind() == ast.LiteralKind && b.Kind() == ast.LiteralKind:
		return provenCases{never: (a.AsLiteral().Equal(b.AsLiteral()) == types.True) != equal}
	case a.Kind() == ast.ListKind && b.Kind() == ast.ListKind && equal:
		return p.provenByEqualItems(a.AsList().Elements(), b.AsList().Elements(), inA, inB)
	}
	same := func(truth bool) provenCases {
		return p.provenBy(a, truth, inA).both(p.provenBy(b, truth == equal, inB))
	}
	return same(true).either(same(false))
}

func (p *truthProver) provenByEqualItems(a, b []ast.Expr, inA, inB *binding) (proven provenCases) {
	if len(a) != len(b) {
		return provenCases{never: true}
	}
	for i := range min(len(a), maxUnrolled) {
		proven = proven.both(p.provenByEqual(a[i], b[i], true, inA, inB))
	}
	return proven
}

// provenByIn returns what holds if an item is in a list, or is not. Only a list that is written in the
// expression proves anything.
func (p *truthProver) provenByIn(item, list ast.Expr, truth bool, in *binding) provenCases {
	list, inList := resolve(list, in)
	if list.Kind() != ast.ListKind || len(list.AsList().Elements()) > maxUnrolled {
		return provenCases{}
	}
	proven := provenCases{never: truth}
	for _, element := range list.AsList().Elements() {
		if q := p.provenByEqual(item, element, truth, in, inList); truth {
			proven = proven.either(q)
		} else {
			proven = proven.both(q)
		}
	}
	return proven
}

// provenByLoop unrolls a comprehension over a list that is written in the expression.
func (p *truthProver) provenByLoop(loop ast.ComprehensionExpr, truth bool, in *binding) provenCases {
	list, inList := resolve(loop.IterRange(), in)
	_, isReply := replyOf(loop.IterVar())
	if list.Kind() != ast.ListKind || loop.HasIterVar2() || len(list.AsList().Elements()) > maxUnrolled || isReply || isVariable(loop.IterVar()) {
		return provenCases{}
	}
	items := list.AsList().Elements()
	if condition, ok := conditionOfExistsOne(loop); ok {
		return p.provenByOne(condition, items, truth, func(item ast.Expr) *binding { return &binding{loop.IterVar(), item, inList, in} })
	}
	result := &binding{loop.AccuVar(), loop.AccuInit(), in, in}
	for _, item := range items {
		step := &binding{loop.IterVar(), item, inList, result}
		result = &binding{loop.AccuVar(), loop.LoopStep(), step, in}
	}
	return p.provenBy(loop.Result(), truth, result)
}

// conditionOfExistsOne returns the condition of a comprehension that counts, as the macro exists_one does.
func conditionOfExistsOne(loop ast.ComprehensionExpr) (ast.Expr, bool) {
	step, result := loop.LoopStep(), loop.Result()
	if step.Kind() != ast.CallKind || step.AsCall().FunctionName() != operators.Conditional ||
		result.Kind() != ast.CallKind || result.AsCall().FunctionName() != operators.Equals {
		return nil, false
	}
	return step.AsCall().Args()[0], true
}

// provenByOne returns what holds if the condition is true of exactly one item. Otherwise nothing is certain.
func (p *truthProver) provenByOne(condition ast.Expr, items []ast.Expr, truth bool, bind func(ast.Expr) *binding) provenCases {
	if !truth {
		return provenCases{}
	}
	one := provenCases{never: true}
	for i := range items {
		var only provenCases
		for j, other := range items {
			only = only.both(p.provenBy(condition, i == j, bind(other)))
		}
		one = one.either(only)
	}
	return one
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
