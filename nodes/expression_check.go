package nodes

import (
	"fmt"
	"slices"

	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/postern-id/postern/engine"
)

// inputUse is a place where an expression reads an input or tests whether it is present.
type inputUse struct {
	identifier string
	at         common.Location
	tested     bool // with has, or where an earlier has was true
}

// firstUses returns the first of the uses with each name.
func firstUses[T any](uses []T, name func(T) string) (first []T) {
	seen := map[string]bool{}
	for _, use := range uses {
		if !seen[name(use)] {
			seen[name(use)] = true
			first = append(first, use)
		}
	}
	return first
}

func nameOfInput(use inputUse) string { return use.identifier }

// checkInputs reports inputs that the flow does not collect or that are secret.
func (e *expression) checkInputs(c *engine.Config) (faults []fault) {
	for _, use := range firstUses(e.inputs, nameOfInput) {
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
		needs = append(needs, fault{at: e.user, message: "it reads user"}.explain(engine.Need{
			AnyOf: []engine.Fact{engine.User},
			Fix:   "establish the user on every path to this node, or add user.isAuthenticated && before the access",
		}, e.text))
	}
	untested := slices.DeleteFunc(slices.Clone(e.inputs), func(use inputUse) bool { return use.tested })
	for _, use := range firstUses(untested, nameOfInput) {
		needs = append(needs, fault{at: use.at, message: fmt.Sprintf("it reads the input %q", use.identifier)}.explain(engine.Need{
			AnyOf: []engine.Fact{engine.InputFact(use.identifier)},
			Fix:   fmt.Sprintf("put has(inputs.%s) && before it, or make the input required", use.identifier),
		}, e.text))
	}
	return slices.Concat(needs, e.attributeNeeds(), e.replyNeeds())
}

// expressionWalker finds what an expression uses. A variable of a comprehension with the name of
// one of the four variables counts as that one: this can require too much, never too little.
type expressionWalker struct {
	info   *ast.SourceInfo
	into   *expression
	faults []fault
	prover truthProver
}

// walk visits e. The facts in given hold whenever the value of e matters.
func (w *expressionWalker) walk(e ast.NavigableExpr, given engine.Facts) {
	if identifier, tested, ok := inputOf(e); ok {
		w.into.inputs = append(w.into.inputs, inputUse{identifier, w.at(e), tested || given.Has(engine.InputFact(identifier))})
		return
	}
	w.useAttributes(e, given)
	switch e.Kind() {
	case ast.IdentKind:
		w.walkIdent(e, given)
	case ast.SelectKind:
		if s := e.AsSelect(); isIdent(s.Operand(), "user") {
			_, isFact := factOf(e)
			w.warnOfBrowser(e)
			w.useUser(s.Operand(), s.FieldName(), isFact || given.Has(engine.User))
			return
		} else if isIdent(s.Operand(), "request") {
			w.into.scopes = w.into.scopes || s.FieldName() == "scopes"
			return
		}
	case ast.CallKind:
		if asksForBrowser(e) {
			w.walkBrowser(e, given)
			return
		}
		if call := e.AsCall(); call.FunctionName() == operators.Index && isIdent(call.Args()[0], "inputs") {
			w.faults = append(w.faults, fault{at: w.at(e), message: "the input is known only at run time, so it cannot be checked; name the input"})
		}
	}
	known := w.knownInParts(e, given)
	for i, part := range e.Children() {
		w.walk(part, known[min(i, len(known)-1)])
	}
}

// walkIdent visits a variable by its full name.
func (w *expressionWalker) walkIdent(e ast.Expr, given engine.Facts) {
	switch name := e.AsIdent(); name {
	case "user":
		w.useUser(e, wholeUser, given.Has(engine.User))
	case "inputs":
		w.into.allInputs = true
	case "request":
		w.into.scopes = true
	default:
		if reply, ok := replyOf(name); ok {
			w.into.replies = append(w.into.replies, replyUse{reply, w.at(e)})
		}
	}
}

func (w *expressionWalker) at(e ast.Expr) common.Location { return w.info.GetStartLocation(e.ID()) }

// useUser records that a member of user is read. It needs a user unless that is certain.
func (w *expressionWalker) useUser(e ast.Expr, member string, certain bool) {
	if w.into.user == nil && !certain {
		w.into.user = w.at(e)
	}
	w.into.members[member] = true
}

// knownInParts returns the facts that hold where the parts of e matter; the last ones are those of
// all further parts. In A && B, and in A ? B : C, what A tests is known where B matters. CEL's && is
// false if either side is, even if the other fails, so each side also guards the other. With || it
// is the reverse.
func (w *expressionWalker) knownInParts(e ast.Expr, given engine.Facts) []engine.Facts {
	if e.Kind() != ast.CallKind {
		return []engine.Facts{given}
	}
	args, function := e.AsCall().Args(), e.AsCall().FunctionName()
	switch function {
	case operators.LogicalAnd, operators.LogicalOr:
		for _, arg := range args {
			given = given.Union(w.prover.provenBy(arg, function == operators.LogicalAnd, nil).facts)
		}
	case operators.Conditional:
		return []engine.Facts{given, given.Union(w.prover.provenBy(args[0], true, nil).facts), given.Union(w.prover.provenBy(args[0], false, nil).facts)}
	}
	return []engine.Facts{given}
}

// inputOf recognizes inputs.x, inputs["x"], has(inputs.x) and "x" in inputs; tested is true for the
// last two.
func inputOf(e ast.Expr) (identifier string, tested, ok bool) {
	of, identifier, tested, ok := memberOf(e)
	return identifier, tested, ok && isIdent(of, "inputs")
}

func isIdent(e ast.Expr, name string) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == name }

func literal(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().Value().(string)
	return s, ok
}
