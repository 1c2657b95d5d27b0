package nodes

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/postern-id/postern/engine"
)

// Conditions without effect
//
// A condition that can never be true, or only where an earlier case applies, is a mistake. Whether it can is
// decided as in propositional logic: every part that is not made of &&, ||, !, ? : and comparisons with true
// or false is an atom, equal parts are one atom, and all values of the atoms are tried. Atoms that compare one
// value with different literals exclude each other. So a condition that is called impossible is.

// maxAtoms limits the atoms that are tried in all combinations, and maxTried the combinations times the size of the
// conditions. Above, a condition counts as possible.
const (
	maxAtoms = 12
	maxTried = 20_000
)

// checkEffect returns a warning if the last of the conditions of cases has no effect, nil if it may have one.
func checkEffect(cases []*expression) *fault {
	if slices.ContainsFunc(cases, func(e *expression) bool { return e.expr == nil }) {
		return nil
	}
	last := cases[len(cases)-1]
	warning := func(message string) *fault {
		return &fault{rule: engine.RuleEffect, warning: true, message: message}
	}
	var earlier []claim
	for _, e := range cases[:len(cases)-1] {
		earlier = append(earlier, claim{e.expr, false})
	}
	switch {
	case !isPossible(earlier):
		return nil // reported at an earlier case
	case !isPossible([]claim{{last.expr, true}}):
		return warning("the condition is never true, so the case never applies; correct it, or remove the case")
	case !isPossible(append(earlier, claim{last.expr, true})):
		return warning("the case never applies: whenever its condition is true, so is that of an earlier case; put it before them, or remove it")
	case !isPossible([]claim{{last.expr, false}}):
		return warning("the condition is always true, so neither the cases below nor otherwise ever apply; correct it")
	}
	return nil
}

// claim is the claim that a condition has a value.
type claim struct {
	of    ast.Expr
	truth bool
}

// isPossible reports whether all claims may hold together. It errs towards yes.
func isPossible(claims []claim) bool {
	a := &atoms{index: map[string]int{}}
	var all []formula
	for _, c := range claims {
		all = append(all, a.compile(c.of))
	}
	if len(a.list) > maxAtoms || a.size<<len(a.list) > maxTried {
		return true
	}
	for values := range uint(1) << len(a.list) {
		if !a.areConsistent(values) {
			continue
		}
		if holds := func(i int) bool { return all[i].value(values) == claims[i].truth }; everyIndex(len(claims), holds) {
			return true
		}
	}
	return false
}

func everyIndex(n int, holds func(int) bool) bool {
	for i := range n {
		if !holds(i) {
			return false
		}
	}
	return true
}

// atom is a part of conditions that is not analyzed. An atom that compares a value with a literal names both.
type atom struct{ compared, literal string }

// atoms are the atoms of conditions. The values of all of them are a number with a bit for each.
type atoms struct {
	list  []atom
	index map[string]int // in the list, from 1
	size  int            // of the formulas
}

// areConsistent reports whether no value equals two literals.
func (a *atoms) areConsistent(values uint) bool {
	for i, one := range a.list {
		for j, other := range a.list[:i] {
			if one.compared != "" && one.compared == other.compared && one.literal != other.literal && values>>i&1 == 1 && values>>j&1 == 1 {
				return false
			}
		}
	}
	return true
}

// formula is a condition over atoms: an operator with its parts, or an atom, or a literal.
type formula struct {
	operator string
	parts    []formula
	atom     int // from 1; 0 for a literal
	literal  bool
}

func (a *atoms) compile(e ast.Expr) formula {
	a.size++
	if truth, is := booleanLiteral(e); is {
		return formula{literal: truth}
	}
	operator, parts := connective(e)
	f := formula{operator: operator}
	for _, part := range parts {
		f.parts = append(f.parts, a.compile(part))
	}
	if operator != "" {
		return f
	}
	key := textOfExpr(e)
	if a.index[key] == 0 {
		a.list = append(a.list, atomOf(e))
		a.index[key] = len(a.list)
	}
	return formula{atom: a.index[key]}
}

// value returns the value of a condition.
func (f *formula) value(values uint) bool {
	at := func(i int) bool { return f.parts[i].value(values) }
	switch f.operator {
	case operators.LogicalNot:
		return !at(0)
	case operators.LogicalAnd:
		return everyIndex(len(f.parts), at)
	case operators.LogicalOr:
		return !everyIndex(len(f.parts), func(i int) bool { return !at(i) })
	case operators.Conditional:
		if at(0) {
			return at(1)
		}
		return at(2)
	case operators.Equals:
		return at(0) == at(1)
	case operators.NotEquals:
		return at(0) != at(1)
	}
	if f.atom == 0 {
		return f.literal
	}
	return values>>(f.atom-1)&1 == 1
}

// connective returns the operator of a condition and its parts, which are conditions; none for an atom.
func connective(e ast.Expr) (operator string, parts []ast.Expr) {
	if e.Kind() != ast.CallKind {
		return "", nil
	}
	args := e.AsCall().Args()
	switch f := e.AsCall().FunctionName(); f {
	case operators.LogicalNot, operators.LogicalAnd, operators.LogicalOr, operators.Conditional:
		return f, args
	case operators.Equals, operators.NotEquals:
		if slices.ContainsFunc(args, func(arg ast.Expr) bool { _, is := booleanLiteral(arg); return is }) && !slices.ContainsFunc(args, isDynamic) {
			return f, args
		}
	}
	return "", nil
}

// isDynamic reports whether a value may have another type than true and false: it is in an attribute.
func isDynamic(e ast.Expr) bool {
	_, _, ok := attributesOf(e)
	return ok
}

// booleanLiteral returns the value of true, false, and comparisons of two literals.
func booleanLiteral(e ast.Expr) (value, is bool) {
	if e.Kind() == ast.LiteralKind {
		value, is = e.AsLiteral().Value().(bool)
		return value, is
	}
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
		return false, false
	}
	for _, truth := range []bool{true, false} {
		args := e.AsCall().Args()
		if args[0].Kind() == ast.LiteralKind && args[1].Kind() == ast.LiteralKind && provenBy(e, !truth).never {
			return truth, true
		}
	}
	return false, false
}

// atomOf describes an atom.
func atomOf(e ast.Expr) atom {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.Equals {
		return atom{}
	}
	for i, arg := range e.AsCall().Args() {
		if arg.Kind() == ast.LiteralKind {
			return atom{textOfExpr(e.AsCall().Args()[1-i]), textOfExpr(arg)}
		}
	}
	return atom{}
}

// textOfExpr returns a text that is equal for equal expressions. What it does not know is equal to nothing.
func textOfExpr(e ast.Expr) string {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent()
	case ast.LiteralKind:
		return fmt.Sprintf("%T %#v", e.AsLiteral(), e.AsLiteral().Value())
	case ast.SelectKind:
		s := e.AsSelect()
		return fmt.Sprintf("(%s).%s %t", textOfExpr(s.Operand()), s.FieldName(), s.IsTestOnly())
	case ast.ListKind:
		return "[" + textsOf(e.AsList().Elements()) + "]"
	case ast.CallKind:
		c := e.AsCall()
		target := ""
		if c.IsMemberFunction() {
			target = textOfExpr(c.Target())
		}
		return fmt.Sprintf("(%s).%s(%s)", target, c.FunctionName(), textsOf(c.Args()))
	}
	return fmt.Sprint("#", e.ID())
}

func textsOf(list []ast.Expr) string {
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i] = textOfExpr(e)
	}
	return strings.Join(texts, ", ")
}
