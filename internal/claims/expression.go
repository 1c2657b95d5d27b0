package claims

import (
	"reflect"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
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
	maxValueDepth      = 10
)

// environment is what expressions of claims can read.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	user, application := reflect.TypeFor[userView](), reflect.TypeFor[applicationView]()
	views, err := types.NewRegistry(user, application, types.ParseStructTags(true))
	if err != nil {
		return nil, err
	}
	return expr.StandardEnv().Extend(
		cel.CustomTypeAdapter(views),
		cel.CustomTypeProvider(views),
		cel.Variable("user", cel.ObjectType(user.String())),
		cel.Variable("application", cel.ObjectType(application.String())),
		cel.CrossTypeNumericComparisons(true),
		cel.ParserRecursionLimit(maxExpressionDepth),
		cel.ExpressionNodeLimit(maxExpressionNodes),
	)
})

// programs are compiled expressions.
var programs = recent.Map[string, cel.Program]{Limit: 1000}

// compileExpression returns the program of an expression.
func compileExpression(text string) (cel.Program, error) {
	if program, known := programs.Find(text); known {
		return program, nil
	}
	env, err := environment()
	if err != nil {
		return nil, err
	}
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	program, err := env.Program(checked, cel.CostLimit(maxExpressionCost))
	if err == nil {
		programs.Put(text, program)
	}
	return program, err
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
	result, _, err := program.Eval(map[string]any{"user": viewUser(s), "application": viewApplication(s.Application)})
	if err != nil {
		return nil, false
	}
	return toJSON(result, maxValueDepth)
}

// viewUser returns the user as expressions see it: without an address that the application does not get either.
func viewUser(s *Subject) userView {
	u := s.User
	if !s.Unverified && !u.Verified(schemas.EmailVerified) {
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
		*to = value.([]string)
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

// toJSON returns a value of CEL as a value of JSON.
func toJSON(v ref.Val, depth int) (any, bool) {
	switch v := v.(type) {
	case types.String:
		return string(v), true
	case types.Bool:
		return bool(v), true
	case types.Int:
		return int64(v), true
	case types.Double:
		return float64(v), true
	case traits.Mapper:
		return mapToJSON(v, depth)
	case traits.Lister:
		return listToJSON(v, depth)
	}
	return nil, false
}

func listToJSON(list traits.Lister, depth int) (any, bool) {
	items := []any{}
	for i := list.Iterator(); depth > 0 && i.HasNext() == types.True; {
		item, is := toJSON(i.Next(), depth-1)
		if !is {
			return nil, false
		}
		items = append(items, item)
	}
	return items, depth > 0
}

func mapToJSON(object traits.Mapper, depth int) (any, bool) {
	members := map[string]any{}
	for i := object.Iterator(); depth > 0 && i.HasNext() == types.True; {
		key := i.Next()
		name, isName := key.(types.String)
		value, is := toJSON(object.Get(key), depth-1)
		if !isName || !is {
			return nil, false
		}
		members[string(name)] = value
	}
	return members, depth > 0
}
