package nodes

import (
	"fmt"
	"maps"

	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/postern-id/postern/engine"
)

// usage is what an expression needs to be fetched.
type usage struct{ user, passkey, password bool }

func (u usage) with(v usage) usage {
	return usage{u.user || v.user, u.passkey || v.passkey, u.password || v.password}
}

// inputUse is a place where an expression reads an input, or only asks whether
// there is one.
type inputUse struct {
	identifier string
	at         common.Location
	tested     bool // by has, or read where a has before it was true
}

// checkInputs reports inputs that the flow does not collect, or that are
// secret.
func (e *expression) checkInputs(c *engine.Config) []fault {
	var faults []fault
	seen := map[string]bool{}
	for _, use := range e.inputs {
		if seen[use.identifier] {
			continue
		}
		seen[use.identifier] = true
		for _, p := range checkInput(c, "", use.identifier) {
			faults = append(faults, fault{use.at, p.Message})
		}
	}
	return faults
}

// checkFacts reports what the expression reads though it is not certain.
func (e *expression) checkFacts(certain engine.Facts) []fault {
	var faults []fault
	if e.uses.user && !certain.Has(engine.User) {
		faults = append(faults, fault{e.user,
			"it reads user, but it is not certain here that the run knows one; put a node before it that establishes the user on every path"})
	}
	for _, use := range e.inputs {
		if !use.tested && !certain.Has(engine.InputFact(use.identifier)) {
			faults = append(faults, fault{use.at, fmt.Sprintf(
				"it reads the input %q, which does not have a value on every path to here; put has(inputs.%s) && before it, or make the input required",
				use.identifier, use.identifier)})
		}
	}
	return faults
}

// walker finds what an expression uses. It takes a variable of a comprehension
// that is named like one of ours for ours: that asks too much, never too
// little.
type walker struct {
	info   *ast.SourceInfo
	into   *expression
	faults []fault
}

// walk visits e. The inputs in given are known to have a value whenever the
// value of e matters.
func (w *walker) walk(e ast.Expr, given map[string]bool) {
	if identifier, tested, ok := inputOf(e); ok {
		w.into.inputs = append(w.into.inputs, inputUse{identifier, w.at(e), tested || given[identifier]})
		return
	}
	switch e.Kind() {
	case ast.IdentKind:
		if e.AsIdent() == "user" {
			w.useUser(e, usage{user: true, passkey: true, password: true})
		}
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

func (w *walker) walkAll(list []ast.Expr, given map[string]bool) {
	for _, e := range list {
		w.walk(e, given)
	}
}

func (w *walker) at(e ast.Expr) common.Location { return w.info.GetStartLocation(e.ID()) }

func (w *walker) useUser(e ast.Expr, u usage) {
	if w.into.user == nil {
		w.into.user = w.at(e)
	}
	w.into.uses = w.into.uses.with(u)
}

// walkSelect visits a.b; of user it notes which member.
func (w *walker) walkSelect(e ast.Expr, given map[string]bool) {
	s := e.AsSelect()
	if !isIdent(s.Operand(), "user") {
		w.walk(s.Operand(), given)
		return
	}
	member := s.FieldName()
	w.useUser(s.Operand(), usage{user: true, passkey: member == "hasPasskey", password: member == "hasPassword"})
}

// walkCall visits a call. In A && B, and in A ? B : C, what A tests is known
// where B matters; CEL's && is false when either side is, even if the other
// fails, so each side also speaks for the other. With || it is the other way
// round.
func (w *walker) walkCall(e ast.Expr, given map[string]bool) {
	c := e.AsCall()
	args := c.Args()
	switch c.FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr:
		known := given
		for _, arg := range args {
			known = union(known, testedBy(arg, c.FunctionName() == operators.LogicalAnd))
		}
		w.walkAll(args, known)
		return
	case operators.Conditional:
		w.walk(args[0], given)
		w.walk(args[1], union(given, testedBy(args[0], true)))
		w.walk(args[2], union(given, testedBy(args[0], false)))
		return
	case operators.Index:
		if isIdent(args[0], "inputs") {
			w.faults = append(w.faults, fault{w.at(e), "which input this reads is only known when it runs, so it cannot be checked; name the input"})
		}
	}
	if c.IsMemberFunction() {
		w.walk(c.Target(), given)
	}
	w.walkAll(args, given)
}

// testedBy returns the inputs that certainly have a value when e has the truth.
func testedBy(e ast.Expr, truth bool) map[string]bool {
	if identifier, tested, ok := inputOf(e); ok && tested && truth {
		return map[string]bool{identifier: true}
	}
	if e.Kind() != ast.CallKind {
		return nil
	}
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case operators.LogicalNot:
		return testedBy(args[0], !truth)
	case operators.LogicalAnd:
		if truth {
			return testedByAll(args, truth)
		}
	case operators.LogicalOr:
		if !truth {
			return testedByAll(args, truth)
		}
	}
	return nil
}

func testedByAll(args []ast.Expr, truth bool) map[string]bool {
	var known map[string]bool
	for _, arg := range args {
		known = union(known, testedBy(arg, truth))
	}
	return known
}

// inputOf recognises inputs.x, inputs["x"], has(inputs.x) and "x" in inputs;
// tested tells the latter two.
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

func union(a, b map[string]bool) map[string]bool {
	if len(a) == 0 {
		return b
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
