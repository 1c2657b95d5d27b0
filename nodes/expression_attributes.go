package nodes

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/postern-id/postern/engine"
)

// Attributes in expressions
//
// A user has the attributes that their type requires and any others that were set, so an expression
// can fail for one user and work for all others. Every read of an attribute therefore needs a guard
// in the expression, or a node on every path that makes the attribute certain: user-create, which
// takes it from a required input, user-resolve, which found the user by it, or email-otp.
//
// A guard is has(user.attributes.x), or "x" in user.attributes, wherever the value of the read
// matters only if the guard is true: see knownInParts. Members of an attribute are checked in the
// same way. So are members of a variable of a comprehension, such as t.name in
// user.attributes.tags.exists(t, t.name == "x"), which only a guard can make certain. A member whose
// name is computed is never certain.

// attributeUse is a place where an expression reads an attribute, or a member of one, without a
// guard.
type attributeUse struct {
	names    []string // the attribute and its members; nil if they are computed
	text     string   // the expression that reads it, and the guard: "user.attributes.email"
	guard    string
	at       common.Location
	withUser bool // the expression is certain of a user there
}

// memberOf recognizes x.name, x["name"], has(x.name) and "name" in x; tested is true for the last
// two.
func memberOf(e ast.Expr) (of ast.Expr, name string, tested, ok bool) {
	switch e.Kind() {
	case ast.SelectKind:
		s := e.AsSelect()
		return s.Operand(), s.FieldName(), s.IsTestOnly(), true
	case ast.CallKind:
		args := e.AsCall().Args()
		switch e.AsCall().FunctionName() {
		case operators.Index:
			name, ok = literal(args[1])
			return args[0], name, false, ok
		case operators.In:
			name, ok = literal(args[0])
			return args[1], name, true, ok
		}
	}
	return nil, "", false, false
}

// attributesOf returns the names that lead from the user's attributes to the value of e: nil for
// user.attributes itself. The names of a variable of a comprehension start with one that no
// attribute has.
func attributesOf(e ast.Expr) (names []string, text string, ok bool) {
	if e.Kind() == ast.IdentKind {
		name := e.AsIdent()
		_, reply := replyOf(name)
		return []string{"(" + name + ")"}, name, !reply && !isVariable(name)
	}
	of, name, tested, ok := memberOf(e)
	switch {
	case !ok || tested:
		return nil, "", false
	case isIdent(of, "user"):
		return nil, "user.attributes", name == "attributes"
	}
	if names, text, ok = attributesOf(of); !ok {
		return nil, "", false
	}
	return append(names, name), text + memberText(name), true
}

// isVariable reports whether the name is one of the variables of every expression.
func isVariable(name string) bool {
	return name == "user" || name == "inputs" || name == "application" || name == "request"
}

// memberText returns the source text that selects a member.
func memberText(name string) string {
	path := strings.TrimPrefix(string(engine.AttributeFact(name)), string(engine.AttributeFact()))
	if strings.HasPrefix(path, "[") {
		return path
	}
	return "." + path
}

// guardOf returns the source text of the test whether a value has a member.
func guardOf(of ast.Expr, name, text string) string {
	if strings.HasSuffix(text, "."+name) {
		return "has(" + text + ")"
	}
	_, whole, _ := attributesOf(of)
	return fmt.Sprintf("%q in %s", name, whole)
}

// attributesTested returns the fact that a guard proves: that the member exists, and everything that
// leads to it.
func attributesTested(e ast.Expr) (facts []engine.Fact) {
	of, name, tested, ok := memberOf(e)
	if !ok || !tested {
		return nil
	}
	names, _, ok := attributesOf(of)
	if !ok || of.Kind() == ast.IdentKind && isVariable(of.AsIdent()) {
		return nil
	}
	names = append(names, name)
	for i := range names {
		facts = append(facts, engine.AttributeFact(names[:i+1]...))
	}
	return facts
}

// useAttributes records a read of an attribute that no guard makes certain.
func (w *expressionWalker) useAttributes(e ast.NavigableExpr, given engine.Facts) {
	use := attributeUse{at: w.at(e), withUser: given.Has(engine.User)}
	of, name, tested, named := memberOf(e)
	switch {
	case tested:
		return
	case named && isObject(e):
		return // its members always exist
	case named:
		use.names, use.text, named = attributesOf(e)
		use.guard = guardOf(of, name, use.text)
		if named && (use.names == nil || given.Has(engine.AttributeFact(use.names...))) {
			return
		}
	}
	if !named {
		if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Index {
			of = e.AsCall().Args()[0]
		}
		if of == nil || !readsLists(of) {
			return
		}
		use.names = nil
	}
	w.into.attributes = append(w.into.attributes, use)
}

// isObject reports whether e selects a member of a value whose type declares its members.
func isObject(e ast.NavigableExpr) bool {
	children := e.Children()
	return len(children) > 0 && children[0].Type().Kind() == types.StructKind
}

// readsLists reports whether e can be a list or map that is different in each run: it reads the user,
// the request or a variable of a comprehension.
func readsLists(e ast.Expr) bool {
	found := false
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(part ast.Expr) {
		if part.Kind() == ast.IdentKind {
			_, _, local := attributesOf(part)
			found = found || local || isIdent(part, "user") || isIdent(part, "request")
		}
	}))
	return found
}

// attributeNeeds returns the attributes that must be certain for the expression.
func (e *expression) attributeNeeds() (needs []engine.Need) {
	for _, use := range firstUses(e.attributes, func(use attributeUse) string { return use.text }) {
		need := engine.Need{Rule: engine.RuleAttribute, AnyOf: []engine.Fact{engine.AttributeFact(use.names...)}}
		if !use.withUser {
			need.Given = engine.User // otherwise the missing user is the finding
		}
		if use.names == nil {
			need = fault{at: use.at, message: "it reads a member whose name is known only at run time"}.explain(need, e.text)
			need.Fix = "name the attribute, as in user.attributes.x, and put has(user.attributes.x) && before it; use exists() for the items of a list"
		} else {
			need = fault{at: use.at, message: "it reads " + use.text}.explain(need, e.text)
			need.Fix = fmt.Sprintf("put %s && before it; for a value that is no condition, write %[1]s ? %[2]s : null", use.guard, use.text)
		}
		needs = append(needs, need)
	}
	return needs
}
