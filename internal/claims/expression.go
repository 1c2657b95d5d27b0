package claims

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/postern-id/postern/internal/expr"
	"github.com/postern-id/postern/internal/recent"
	"github.com/postern-id/postern/schemas"
)

// The variables of expressions. The tags are the names in CEL.
type (
	userView struct {
		ID          string            `cel:"id"`
		Type        string            `cel:"type"`
		OUID        string            `cel:"ouId"`
		Attributes  *expr.Attributes  `cel:"attributes"`
		Groups      []string          `cel:"groups"`
		Roles       []string          `cel:"roles"`
		Permissions *expr.Permissions `cel:"permissions"`
		Unit        string            `cel:"unit"`
	}
	applicationView struct {
		ID       string `cel:"id"`
		Name     string `cel:"name"`
		OUID     string `cel:"ouId"`
		ClientID string `cel:"clientId"`
	}
)

// The limits of an expression, so that it costs no more than the rest of a token.
const (
	maxExpressionNodes = 500
	maxExpressionDepth = 50
	maxExpressionCost  = 100_000
	maxLoops           = 4
	maxValueDepth      = 10
	maxValues          = 1000 // with those in lists and objects
)

// environment is what expressions of claims can read.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	user, application, run := reflect.TypeFor[userView](), reflect.TypeFor[applicationView](), reflect.TypeFor[runView]()
	views, err := types.NewRegistry(user, application, run, types.ParseStructTags(true))
	if err != nil {
		return nil, err
	}
	return expr.StandardEnv().Extend(
		cel.CustomTypeAdapter(views),
		cel.CustomTypeProvider(views),
		cel.Variable("user", cel.ObjectType(user.String())),
		cel.Variable("application", cel.ObjectType(application.String())),
		cel.Variable("run", cel.ObjectType(run.String())),
		cel.CrossTypeNumericComparisons(true),
		cel.ParserRecursionLimit(maxExpressionDepth),
		cel.ExpressionNodeLimit(maxExpressionNodes),
	)
})

// programs are compiled expressions.
var programs = recent.Map[string, *compiledExpression]{Limit: 1000}

// compileExpression returns the program of an expression.
func compileExpression(text string) (*compiledExpression, error) {
	if known, found := programs.Find(text); found {
		return known, nil
	}
	checked, err := checkExpression(text)
	if err != nil {
		return nil, err
	}
	reads, err := runReads(checked.NativeRep())
	if err != nil {
		return nil, err
	}
	env, err := environment()
	if err != nil {
		return nil, err
	}
	program, err := env.Program(checked, cel.CostLimit(maxExpressionCost))
	if err != nil {
		return nil, err
	}
	compiled := &compiledExpression{program, reads}
	programs.Put(text, compiled)
	return compiled, nil
}

// checkExpression parses an expression and checks its types and its growth.
func checkExpression(text string) (*cel.Ast, error) {
	env, err := environment()
	if err != nil {
		return nil, err
	}
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	return checked, checkGrowth(checked.NativeRep())
}

// checkGrowth refuses what makes a small expression a large value, or compares such values: the cost of these
// operations is counted only after they ran. One operand must be small: then the operation fails, or both are.
func checkGrowth(checked *ast.AST) (err error) {
	loops, ofMacros := 0, map[int64]bool{}
	ast.PreOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.ComprehensionKind:
			loops++
			step := e.AsComprehension().LoopStep()
			ofMacros[step.ID()] = true
			if step.Kind() == ast.CallKind && step.AsCall().FunctionName() == operators.Conditional { // filter
				ofMacros[step.AsCall().Args()[1].ID()] = true
			}
		case ast.CallKind:
			if !ofMacros[e.ID()] && grows(checked, e.AsCall()) {
				err = errors.New("lists and maps cannot be joined, compared or looked up; compare their items")
			}
		}
	}))
	if loops > maxLoops {
		return fmt.Errorf("expected at most %d macros such as map, filter and exists, got %d", maxLoops, loops)
	}
	return err
}

// grows reports whether a call may join or compare large values.
func grows(checked *ast.AST, call ast.CallExpr) bool {
	switch call.FunctionName() {
	case operators.Add, operators.Equals, operators.NotEquals:
		return !isSmall(checked, call.Args()[0]) && !isSmall(checked, call.Args()[1])
	case operators.In:
		return !isSmall(checked, call.Args()[0])
	}
	return false
}

// isSmall reports whether a value is no list and no map, or is stored as it is.
func isSmall(checked *ast.AST, e ast.Expr) bool {
	switch t := checked.GetType(e.ID()); t.Kind() {
	case types.ListKind, types.MapKind, types.DynKind, types.AnyKind, types.TypeParamKind:
	default:
		return true
	}
	for {
		switch e.Kind() {
		case ast.IdentKind:
			return checked.GetType(e.ID()).Kind() == types.StructKind // user, application or run, and no variable of a macro with that name
		case ast.SelectKind:
			e = e.AsSelect().Operand()
		default:
			return false
		}
	}
}

// readsFacts reports whether an expression may read what is no attribute of the user. It names each member.
func readsFacts(c *schemas.Claim) bool {
	for _, member := range []string{"groups", "roles", "permissions", "unit"} {
		if strings.Contains(c.Expression, member) {
			return true
		}
	}
	return false
}

// evaluateExpression returns the value of an expression. It has none if it fails, for example because the user lacks an
// attribute that it reads.
func evaluateExpression(c *schemas.Claim, s *Subject) (any, bool) {
	program, err := compileExpression(c.Expression)
	if err != nil {
		return nil, false
	}
	if s.Facts != nil && s.Facts.TooManyGroups && strings.Contains(c.Expression, "groups") {
		return nil, false
	}
	result, _, err := program.Eval(map[string]any{"user": viewUser(c, s), "application": viewApplication(s.Application), "run": viewRun(s.Run)})
	if err != nil {
		return nil, false
	}
	return new(encoder).encode(result, maxValueDepth+1)
}

// viewUser returns the user as expressions see it: without an address that the application does not get either.
func viewUser(c *schemas.Claim, s *Subject) userView {
	u := s.User
	if !s.releasesUnverified(c) && !u.Verified(schemas.EmailVerified) {
		u = u.WithoutEmail()
	}
	view := userView{ID: u.ID, Type: u.Type, OUID: u.OUID, Attributes: expr.ViewAttributes(u.Attributes), Permissions: expr.ViewPermissions(nil)}
	if s.Facts == nil {
		return view
	}
	all := &schemas.Claim{}
	lists := map[*[]string]func(*schemas.Claim, *Subject) (any, bool){&view.Groups: groups, &view.Roles: roles}
	for to, read := range lists {
		value, _ := read(all, s)
		*to, _ = value.([]string)
	}
	held, _ := permissions(all, s)
	view.Permissions = expr.ViewPermissions(held.([]string))
	if path, found := unit(&schemas.Claim{Format: "path"}, s); found {
		view.Unit = path.(string)
	}
	return view
}

func viewApplication(a *schemas.Application) applicationView {
	if a == nil {
		return applicationView{}
	}
	return applicationView{ID: a.ID, Name: a.Name, OUID: a.OUID, ClientID: a.ClientID}
}

// encoder makes JSON of values of CEL, and counts them.
type encoder struct{ values int }

// encode returns a value as a value of JSON; false if it has none, or is too large.
func (c *encoder) encode(v ref.Val, depth int) (any, bool) {
	if c.values++; c.values > maxValues || depth == 0 {
		return nil, false
	}
	switch v := v.(type) {
	case types.String:
		return string(v), true
	case types.Bool:
		return bool(v), true
	case types.Int:
		return int64(v), true
	case types.Double:
		return float64(v), !math.IsInf(float64(v), 0) && !math.IsNaN(float64(v))
	case traits.Mapper:
		return c.encodeMap(v, depth)
	case traits.Lister:
		return c.encodeList(v, depth)
	}
	return nil, false
}

func (c *encoder) encodeList(list traits.Lister, depth int) (any, bool) {
	items := []any{}
	for i := list.Iterator(); i.HasNext() == types.True; {
		item, is := c.encode(i.Next(), depth-1)
		if !is {
			return nil, false
		}
		items = append(items, item)
	}
	return items, true
}

func (c *encoder) encodeMap(object traits.Mapper, depth int) (any, bool) {
	members := map[string]any{}
	for i := object.Iterator(); i.HasNext() == types.True; {
		key := i.Next()
		name, isName := key.(types.String)
		value, is := c.encode(object.Get(key), depth-1)
		if !isName || !is {
			return nil, false
		}
		members[string(name)] = value
	}
	return members, true
}
