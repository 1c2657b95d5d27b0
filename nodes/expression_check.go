package nodes

import (
	"fmt"

	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/postern-id/postern/engine"
)

// usage lists what must be fetched for an expression.
type usage struct{ user, passkey, password bool }

func (u usage) with(v usage) usage {
	return usage{u.user || v.user, u.passkey || v.passkey, u.password || v.password}
}

// inputUse is a place where an expression reads an input or tests whether it is present.
type inputUse struct {
	identifier string
	at         common.Location
	tested     bool // with has, or where an earlier has was true
}

// checkInputs reports inputs that the flow does not collect or that are secret.
func (e *expression) checkInputs(c *engine.Config) []fault {
	var faults []fault
	seen := map[string]bool{}
	for _, use := range e.inputs {
		if seen[use.identifier] {
			continue
		}
		seen[use.identifier] = true
		for _, p := range checkInput(c, "", use.identifier) {
			faults = append(faults, fault{at: use.at, message: p.Message, rule: p.Rule})
		}
	}
	return faults
}

// needs returns the facts that must be certain for the expression.
func (e *expression) needs() []engine.Need {
	var needs []engine.Need
	if e.user != nil {
		needs = append(needs, engine.Need{
			AnyOf: []engine.Fact{engine.User},
			Why:   fault{at: e.user, message: "it reads user"}.placed(),
			Fix:   "put a node before it that establishes the user on every path, or user.isAuthenticated && before what it reads",
		})
	}
	seen := map[string]bool{}
	for _, use := range e.inputs {
		if use.tested || seen[use.identifier] {
			continue
		}
		seen[use.identifier] = true
		needs = append(needs, engine.Need{
			AnyOf: []engine.Fact{engine.InputFact(use.identifier)},
			Why:   fault{at: use.at, message: fmt.Sprintf("it reads the input %q", use.identifier)}.placed(),
			Fix:   fmt.Sprintf("put has(inputs.%s) && before it, or make the input required", use.identifier),
		})
	}
	return append(needs, e.replyNeeds()...)
}

// expressionWalker finds what an expression uses. A variable of a comprehension with the name of
// one of the four variables counts as that one: this can require too much, never too little.
type expressionWalker struct {
	info   *ast.SourceInfo
	into   *expression
	faults []fault
}

// walk visits e. The facts in given hold whenever the value of e matters.
func (w *expressionWalker) walk(e ast.Expr, given engine.Facts) {
	if identifier, tested, ok := inputOf(e); ok {
		w.into.inputs = append(w.into.inputs, inputUse{identifier, w.at(e), tested || given.Has(engine.InputFact(identifier))})
		return
	}
	switch e.Kind() {
	case ast.IdentKind:
		w.walkIdent(e, given)
	case ast.SelectKind:
		w.walkSelect(e, given)
	case ast.CallKind:
		w.walkCall(e, given)
	case ast.ListKind:
		w.walkAll(e.AsList().Elements(), given)
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			w.walkAll([]ast.Expr{entry.AsMapEntry().Key(), entry.AsMapEntry().Value()}, given)
		}
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			w.walk(field.AsStructField().Value(), given)
		}
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		w.walkAll([]ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()}, given)
	}
}

// walkIdent visits a variable by its full name.
func (w *expressionWalker) walkIdent(e ast.Expr, given engine.Facts) {
	switch name := e.AsIdent(); name {
	case "user":
		w.useUser(e, given, usage{user: true, passkey: true, password: true})
	case "inputs":
		w.into.allInputs = true
	default:
		if reply, ok := replyOf(name); ok {
			w.into.replies = append(w.into.replies, replyUse{reply, w.at(e)})
		}
	}
}

func (w *expressionWalker) walkAll(list []ast.Expr, given engine.Facts) {
	for _, e := range list {
		w.walk(e, given)
	}
}

func (w *expressionWalker) at(e ast.Expr) common.Location { return w.info.GetStartLocation(e.ID()) }

func (w *expressionWalker) useUser(e ast.Expr, given engine.Facts, u usage) {
	if w.into.user == nil && !given.Has(engine.User) {
		w.into.user = w.at(e)
	}
	w.into.uses, w.into.ofUser = w.into.uses.with(u), true
}

// walkSelect visits a.b; of user it records the member.
func (w *expressionWalker) walkSelect(e ast.Expr, given engine.Facts) {
	s := e.AsSelect()
	if !isIdent(s.Operand(), "user") {
		w.walk(s.Operand(), given)
		return
	}
	if _, fact := factOf(e); fact {
		w.into.ofUser = true
		return
	}
	member := s.FieldName()
	w.useUser(s.Operand(), given, usage{user: true, passkey: member == "hasPasskey", password: member == "hasPassword"})
}

// walkCall visits a call. In A && B, and in A ? B : C, what A tests is known where B matters. CEL's
// && is false if either side is, even if the other fails, so each side also guards the other. With
// || it is the reverse.
func (w *expressionWalker) walkCall(e ast.Expr, given engine.Facts) {
	c := e.AsCall()
	args := c.Args()
	switch c.FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr:
		known := given
		for _, arg := range args {
			known = unionFacts(known, provenBy(arg, c.FunctionName() == operators.LogicalAnd).facts)
		}
		w.walkAll(args, known)
		return
	case operators.Conditional:
		w.walk(args[0], given)
		w.walk(args[1], unionFacts(given, provenBy(args[0], true).facts))
		w.walk(args[2], unionFacts(given, provenBy(args[0], false).facts))
		return
	case operators.Index:
		if isIdent(args[0], "inputs") {
			w.faults = append(w.faults, fault{at: w.at(e), message: "which input this reads is only known when it runs, so it cannot be checked; name the input"})
		}
	}
	if c.IsMemberFunction() {
		w.walk(c.Target(), given)
	}
	w.walkAll(args, given)
}

// inputOf recognizes inputs.x, inputs["x"], has(inputs.x) and "x" in inputs; tested is true for the
// last two.
func inputOf(e ast.Expr) (identifier string, tested, ok bool) {
	switch e.Kind() {
	case ast.SelectKind:
		s := e.AsSelect()
		return s.FieldName(), s.IsTestOnly(), isIdent(s.Operand(), "inputs")
	case ast.CallKind:
		args := e.AsCall().Args()
		switch e.AsCall().FunctionName() {
		case operators.Index:
			identifier, ok = literal(args[1])
			return identifier, false, ok && isIdent(args[0], "inputs")
		case operators.In:
			identifier, ok = literal(args[0])
			return identifier, true, ok && isIdent(args[1], "inputs")
		}
	}
	return "", false, false
}

func isIdent(e ast.Expr, name string) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == name }

func literal(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().Value().(string)
	return s, ok
}
