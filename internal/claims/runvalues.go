package claims

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/postern-id/postern/internal/expr"
	"github.com/postern-id/postern/schemas"
)

// Values of a run
//
// A run forgets its values when it ends. Those that a claim of its application reads are stored with the sign-in, and
// never change: a token that is refreshed has the same ones. So a claim names each value that it reads, in a
// source or in an expression.

// The limits of the values of a run.
const (
	maxRunValues     = 20   // that the claims of an application read
	maxRunValueBytes = 1000 // of one, as JSON; a larger one is not stored
)

// runView is the variable run of expressions.
type runView struct {
	Inputs  *expr.Attributes `cel:"inputs"`
	Replies *expr.Attributes `cel:"replies"`
}

func viewRun(values schemas.RunValues) runView {
	inputs, replies := map[string]any{}, map[string]any{}
	for name, v := range values {
		input, reply, value, _ := schemas.ParseVariable(name)
		if input != "" {
			inputs[input] = v
			continue
		}
		of, _ := replies[reply].(map[string]any)
		if of == nil {
			of = map[string]any{}
			replies[reply] = of
		}
		of[value] = v
	}
	return runView{Inputs: expr.ViewAttributes(inputs), Replies: expr.ViewAttributes(replies)}
}

// RunReads returns the names of the values of a run that claims read, by the index of the claim.
func RunReads(list []schemas.Claim) map[int][]string {
	found := map[int][]string{}
	for i := range list {
		if names := readsOfRun(&list[i]); len(names) > 0 {
			found[i] = names
		}
	}
	return found
}

// ReadsRun reports whether any claim reads a value of a run.
func ReadsRun(list []schemas.Claim) bool {
	return slices.ContainsFunc(list, func(c schemas.Claim) bool { return len(readsOfRun(&c)) > 0 })
}

func readsOfRun(c *schemas.Claim) []string {
	switch {
	case c.Variable != "":
		return []string{c.Variable}
	case !strings.Contains(c.Expression, "run"):
		return nil
	}
	compiled, err := compileExpression(c.Expression)
	if err != nil {
		return nil
	}
	return compiled.reads
}

// RunValues returns those values of a run that claims read, of those that find returns.
func RunValues(list []schemas.Claim, find func(name string) (any, bool)) schemas.RunValues {
	values := schemas.RunValues{}
	for _, names := range RunReads(list) {
		for _, name := range names {
			value, found := find(name)
			if text, err := json.Marshal(value); found && err == nil && len(text) <= maxRunValueBytes {
				values[name] = value
			}
		}
	}
	return values
}

func runValue(c *schemas.Claim, s *Subject) (any, bool) {
	value, found := s.Run[c.Variable]
	return value, found
}

// runReads returns the names of the values of a run that an expression reads.
func runReads(checked *ast.AST) (names []string, err error) {
	seen := map[int64]bool{}
	ast.PreOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		members, passed := membersOfRun(checked, e)
		if seen[e.ID()] || passed == nil {
			return
		}
		for _, id := range passed {
			seen[id] = true
		}
		name := strings.Join(members, ".")
		_, _, _, isValue := schemas.ParseVariable(name)
		switch isReply := len(members) == 2 && members[0] == "replies"; {
		case isReply && e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly(): // has(run.replies.risk)
		case !isValue || len(members) != map[string]int{"inputs": 2, "replies": 3}[members[0]]:
			err = errors.New("name each value of the run, as in run.inputs.department or run.replies.risk.level")
		case !slices.Contains(names, name):
			names = append(names, name)
		}
	}))
	return names, err
}

// membersOfRun returns the names of the members of the variable run that an expression reads, as in
// run.inputs["department"], and the ids of its parts; none if it does not read the variable.
func membersOfRun(checked *ast.AST, e ast.Expr) (members []string, passed []int64) {
	for {
		passed = append(passed, e.ID())
		switch e.Kind() {
		case ast.IdentKind: // and no variable of a macro with that name
			if e.AsIdent() != "run" || checked.GetType(e.ID()).Kind() != types.StructKind {
				return nil, nil
			}
			slices.Reverse(members)
			return members, passed
		case ast.SelectKind:
			members, e = append(members, e.AsSelect().FieldName()), e.AsSelect().Operand()
		case ast.CallKind:
			name, is := literalIndex(e.AsCall())
			if !is {
				return nil, nil
			}
			members, e = append(members, name), e.AsCall().Args()[0]
		default:
			return nil, nil
		}
	}
}

// literalIndex returns the member that an operator [] reads, if it is written as a text.
func literalIndex(call ast.CallExpr) (name string, is bool) {
	if call.FunctionName() != operators.Index || call.Args()[1].Kind() != ast.LiteralKind {
		return "", false
	}
	text, is := call.Args()[1].AsLiteral().(types.String)
	return string(text), is
}

// compiledExpression is an expression that can be evaluated.
type compiledExpression struct {
	cel.Program
	reads []string // the values of the run
}
