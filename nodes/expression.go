package nodes

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/expr"
	"github.com/postern-id/postern/schemas"
)

// Limits of an expression, so that it costs no more than the rest of a step.
const (
	maxExpressionNodes = 1000
	maxExpressionDepth = 50
	maxExpressionCost  = 100_000
	// maxMembers limits the members of members that an expression reads, as in a.b.c: the analysis
	// considers each of them with all before.
	maxMembers = 20
)

// expressionEnv returns the environment of expressions: the four variables and CEL's standard
// functions. None of these has side effects or reads a clock.
func expressionEnv() *cel.Env {
	user, application, request := reflect.TypeFor[userView](), reflect.TypeFor[applicationView](), reflect.TypeFor[requestView]()
	// ext.NativeTypes does the same, but its package links a megabyte of functions that expressions do not have.
	views := must(types.NewRegistry(user, application, request, types.ParseStructTags(true)))
	return must(expr.StandardEnv().Extend(
		cel.CustomTypeAdapter(views),
		cel.CustomTypeProvider(views),
		cel.Variable("user", cel.ObjectType(user.String())),
		cel.Variable("application", cel.ObjectType(application.String())),
		cel.Variable("request", cel.ObjectType(request.String())),
		cel.Variable("inputs", cel.MapType(cel.StringType, cel.StringType)),
		knowsBrowserOption(cel.ObjectType(user.String())),
		cel.CrossTypeNumericComparisons(true), // 0.5 < 1
		cel.ParserRecursionLimit(maxExpressionDepth),
		cel.ExpressionNodeLimit(maxExpressionNodes),
		cel.ASTValidators(cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals()),
	))
}

// expression is a compiled condition or value.
type expression struct {
	text    string
	program cel.Program
	inputs  []inputUse
	replies []replyUse
	// attributes are the reads that only the paths to the node can make certain.
	attributes []attributeUse
	// members are the members of user that it reads, wholeUser for any. allInputs reports that it
	// reads inputs as a whole and not only by name.
	members   map[string]bool
	allInputs bool
	scopes    bool            // it reads the requested scopes
	user      common.Location // the first use of user that needs one, nil for none
	expr      ast.Expr        // nil if it does not compile
	isTrue    provenCases     // facts if it is true
	isFalse   provenCases
}

// wholeUser is the member of an expression that reads user as a whole.
const wholeUser = "*"

// ofUser reports whether the expression reads any member of user.
func (e *expression) ofUser() bool { return len(e.members) > 0 }

// fault is an error in an expression, with its position.
type fault struct {
	at      common.Location
	message string
	rule    string // "" for RuleShape
	warning bool
}

// problem converts the fault to a finding in an expression at a path. The position inside is part of the
// message, because an expression can have several lines.
func (f fault) problem(path, text string) schemas.Problem {
	return schemas.Problem{Rule: f.rule, Path: path, Message: f.placed(), Within: f.within(text), Warning: f.warning}
}

// within returns the number of the character at fault in the text, from 1; 0 if it is not known.
func (f fault) within(text string) int {
	if f.at == nil || f.at.Line() < 1 {
		return 0
	}
	lines := strings.SplitAfter(text, "\n")
	if f.at.Line() > len(lines) {
		return 0
	}
	before := utf8.RuneCountInString(strings.Join(lines[:f.at.Line()-1], ""))
	return before + f.at.Column() + 1
}

// explain adds to a need why an expression has it, and where.
func (f fault) explain(need engine.Need, text string) engine.Need {
	need.Why, need.Within = f.placed(), f.within(text)
	return need
}

func (f fault) placed() string {
	if f.at == nil || f.at.Line() < 1 {
		return f.message
	}
	return fmt.Sprintf("at %d:%d of the expression: %s", f.at.Line(), f.at.Column()+1, f.message)
}

// compileExpression checks and plans a condition that is evaluated where the given facts hold. It
// never returns nil: an expression that does not compile uses nothing.
func compileExpression(env *cel.Env, c *engine.Config, text string, given engine.Facts) (*expression, []fault) {
	return compileTyped(env, c, text, given, func(t *cel.Type) string {
		if t.IsExactType(cel.BoolType) || mayBeDynamic(c, t) {
			return ""
		}
		return fmt.Sprintf("a condition must be a boolean, but this is a %s; compare it with a value", t)
	})
}

// compileTyped compiles an expression with a type for which unfit reports no fault.
func compileTyped(env *cel.Env, c *engine.Config, text string, given engine.Facts, unfit func(*cel.Type) string) (*expression, []fault) {
	e := &expression{text: text, members: map[string]bool{}}
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		return e, explainIssues(c, text, issues.Errors())
	}
	native := checked.NativeRep()
	if deep := deepestMember(native.Expr()); deep > maxMembers {
		return e, []fault{{message: fmt.Sprintf("it reads a member of a member %d levels deep, expected at most %d; read a member nearer to the variable", deep, maxMembers)}}
	}
	if message := unfit(checked.OutputType()); message != "" {
		return e, []fault{{at: native.SourceInfo().GetStartLocation(native.Expr().ID()), message: message}}
	}
	program, err := env.Program(checked, cel.CostLimit(maxExpressionCost))
	if err != nil {
		return e, []fault{{message: err.Error()}}
	}
	e.program, e.expr = program, native.Expr()
	w := expressionWalker{info: native.SourceInfo(), into: e, prover: truthProver{maxProofSteps}}
	w.walk(ast.NavigateAST(native), given)
	e.isTrue, e.isFalse = provenBy(native.Expr(), true), provenBy(native.Expr(), false)
	return e, w.faults
}

// expressionAt describes an expression to the engine. Every call of matches may have a pattern.
func expressionAt(path, text string) engine.Expression {
	return engine.Expression{Path: path, Text: text, Regexes: strings.Count(text, overloads.Matches)}
}

// deepestMember returns how many members the longest chain such as a.b["c"] has.
func deepestMember(e ast.Expr) (deepest int) {
	members := map[int64]int{}
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(part ast.Expr) {
		var of ast.Expr
		switch {
		case part.Kind() == ast.SelectKind:
			of = part.AsSelect().Operand()
		case part.Kind() == ast.CallKind && part.AsCall().FunctionName() == operators.Index:
			of = part.AsCall().Args()[0]
		default:
			return
		}
		members[part.ID()] = members[of.ID()] + 1
		deepest = max(deepest, members[part.ID()])
	}))
	return deepest
}

func (e *expression) eval(values map[string]any) (bool, error) {
	result, _, err := e.program.Eval(values)
	if err != nil {
		return false, err
	}
	yes, ok := result.Value().(bool)
	if !ok {
		return false, errors.New("the result is not a boolean")
	}
	return yes, nil
}

// expressionFailed returns the decision to end the run, because an expression has no value. Every
// outcome could be the wrong one: a condition may admit users where it is true, and another where it
// is false. The reason is for the log and the audit log. It contains no values, and users do not see
// it, because it can reveal what their account lacks.
func expressionFailed(reason string, args ...any) *engine.Decision {
	failed := schemas.Errorf(schemas.Invalid, schemas.CodeExpressionFailed,
		"the flow cannot continue, because one of its expressions has no value for this user; the operator finds the node and the reason in the audit log")
	failed.Err = fmt.Errorf(reason, args...)
	return &engine.Decision{Fail: failed}
}

// evalFault describes in general terms why an expression failed. CEL's message can quote values,
// which are personal data.
func evalFault(err error) string {
	var cancelled interpreter.EvalCancelledError
	switch {
	case errors.As(err, &cancelled):
		return "it exceeds the cost limit of expressions; simplify it"
	case strings.HasPrefix(err.Error(), "no such key"):
		return "it reads an attribute that this user does not have; put has(…) && before it"
	case strings.HasPrefix(err.Error(), "no such overload"):
		return "a value has the wrong type for the expression"
	}
	return "it could not be evaluated"
}
