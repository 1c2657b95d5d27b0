package claims

import (
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/postern-id/postern/internal/recent"
	"github.com/postern-id/postern/schemas"
)

// reading is what the value of a claim depends on, as far as users may be able to set it.
type reading struct {
	attributes []string
	everything bool // it may depend on any attribute
	userType   bool
	unit       bool
	run        []string // values of the run, by their names
	// constant states that all users have the same value: who gets the claim has it.
	constant bool
}

func readsNothing(*schemas.Claim) reading    { return reading{} }
func readsType(*schemas.Claim) reading       { return reading{userType: true} }
func readsUnit(*schemas.Claim) reading       { return reading{unit: true} }
func readsVariable(c *schemas.Claim) reading { return reading{run: []string{c.Variable}} }
func readsConstant(*schemas.Claim) reading   { return reading{constant: true} }

// readsAttribute returns the attributes from which schemas.User.AttributeClaim computes a claim. Users cannot set what
// states a verification, nor the time of the last change.
func readsAttribute(c *schemas.Claim) reading {
	attribute := attributeOf(c)
	if schemas.VerificationAttributes()[attribute] != "" || attribute == schemas.UpdatedAt {
		return reading{}
	}
	return reading{attributes: append([]string{attribute}, schemas.ComposedOf(attribute)...)}
}

// expressionReadings are what compiled expressions read.
var expressionReadings = recent.Map[string, reading]{Limit: 1000}

// readsExpression returns what an expression reads. One that does not compile has no value.
func readsExpression(c *schemas.Claim) reading {
	if known, is := expressionReadings.Find(c.Expression); is {
		return known
	}
	checked, err := checkExpression(c.Expression)
	if err != nil {
		return reading{}
	}
	r := expressionReader{checked: checked.NativeRep()}
	r.read(ast.NavigateAST(r.checked))
	r.found.run, _ = runReads(r.checked) // an expression with an error has no value
	r.found.constant = !r.readsUser && len(r.found.run) == 0
	expressionReadings.Put(c.Expression, r.found)
	return r.found
}

// expressionReader finds what an expression reads of the user. Whatever it does not recognize may read everything.
type expressionReader struct {
	checked   *ast.AST
	found     reading
	readsUser bool
}

func (r *expressionReader) read(e ast.NavigableExpr) {
	if attribute, is := r.attribute(e); is {
		r.readsUser = true
		if !slices.Contains(r.found.attributes, attribute) {
			r.found.attributes = append(r.found.attributes, attribute)
		}
		return
	}
	switch {
	case e.Kind() == ast.SelectKind && r.isUser(e.AsSelect().Operand()):
		r.readMember(e.AsSelect().FieldName())
		return
	case r.isUser(e):
		r.readsUser = true
		r.found.everything, r.found.userType, r.found.unit = true, true, true
	}
	for _, child := range e.Children() {
		r.read(child)
	}
}

// readMember notes a member of the user.
func (r *expressionReader) readMember(name string) {
	r.readsUser = true
	switch name {
	case "attributes":
		r.found.everything = true
	case "type":
		r.found.userType = true
	case "ouId", "unit":
		r.found.unit = true
	}
}

// attribute returns the attribute that a part of the expression reads, as in user.attributes.team,
// user.attributes["team"], and "team" in user.attributes.
func (r *expressionReader) attribute(e ast.Expr) (name string, is bool) {
	switch e.Kind() {
	case ast.SelectKind:
		return e.AsSelect().FieldName(), r.isAttributes(e.AsSelect().Operand())
	case ast.CallKind:
		call := e.AsCall()
		args := call.Args()
		switch {
		case call.FunctionName() == operators.Index && r.isAttributes(args[0]):
			return literal(args[1])
		case call.FunctionName() == operators.In && r.isAttributes(args[1]):
			return literal(args[0])
		}
	}
	return "", false
}

func (r *expressionReader) isUser(e ast.Expr) bool {
	return e.Kind() == ast.IdentKind && e.AsIdent() == "user" && r.checked.GetType(e.ID()).Kind() == types.StructKind
}

func (r *expressionReader) isAttributes(e ast.Expr) bool {
	return e.Kind() == ast.SelectKind && e.AsSelect().FieldName() == "attributes" && r.isUser(e.AsSelect().Operand())
}

func literal(e ast.Expr) (text string, is bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	text, is = e.AsLiteral().Value().(string)
	return text, is
}
