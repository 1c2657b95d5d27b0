package nodes

import (
	"reflect"
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/postern-id/postern/schemas"
)

// The variables of expressions. The tags are the names in CEL.
type (
	userView struct {
		ID              string          `cel:"id"`
		Type            string          `cel:"type"`
		OUID            string          `cel:"ouId"`
		Attributes      *attributesView `cel:"attributes"`
		HasPasskey      bool            `cel:"hasPasskey"`
		HasPassword     bool            `cel:"hasPassword"`
		IsNew           bool            `cel:"isNew"`
		IsAuthenticated bool            `cel:"isAuthenticated"`
		Methods         []string        `cel:"methods"`

		Groups           []string         `cel:"groups"`
		Roles            []string         `cel:"roles"`
		Permissions      *permissionsView `cel:"permissions"`
		HasTOTP          bool             `cel:"hasTotp"`
		HasRecoveryCodes bool             `cel:"hasRecoveryCodes"`
		HasIdentity      bool             `cel:"hasIdentity"`
		KnowsBrowser     bool             `cel:"knowsBrowser"`

		knownFor []string // what the browser is known for: see knowsBrowserFor
	}
	applicationView struct {
		ID       string `cel:"id"`
		Name     string `cel:"name"`
		OUID     string `cel:"ouId"`
		ClientID string `cel:"clientId"`
	}
	requestView struct {
		Origin    string   `cel:"origin"`
		Language  string   `cel:"language"`
		ACRValues []string `cel:"acrValues"`
		Scopes    []string `cel:"scopes"`
	}
)

// attributesView is a map with values of any type, which CEL cannot derive from a Go map.
type attributesView struct{ traits.Mapper }

func viewAttributes(attributes map[string]any) *attributesView {
	return &attributesView{types.NewStringInterfaceMap(types.DefaultTypeAdapter, attributes)}
}

// Type returns the type for the type check.
func (*attributesView) Type() ref.Type { return cel.MapType(cel.StringType, cel.DynType) }

// permissionsView is a list of permissions. A permission is in the list if one of them covers it: a
// condition about one permission also holds for users with a permission above it.
type permissionsView struct {
	traits.Lister
	held []string
}

func viewPermissions(held []string) *permissionsView {
	return &permissionsView{types.NewStringList(types.DefaultTypeAdapter, held), held}
}

// Type returns the type for the type check.
func (*permissionsView) Type() ref.Type { return cel.ListType(cel.StringType) }

// Contains implements the operator in.
func (p *permissionsView) Contains(wanted ref.Val) ref.Val {
	permission, ok := wanted.(types.String)
	covers := func(held string) bool { return schemas.CoversPermission(held, string(permission)) }
	return types.Bool(ok && slices.ContainsFunc(p.held, covers))
}

// ExpressionName is a name that expressions can read.
type ExpressionName struct {
	Name string // such as user.id
	Type string // the type of its value in words
}

// ExpressionNames returns the names that the expressions of every flow can read: the members of user,
// application and request.
func ExpressionNames() (names []ExpressionName) {
	for _, v := range []struct {
		name string
		view reflect.Type
	}{{"application", reflect.TypeFor[applicationView]()}, {"request", reflect.TypeFor[requestView]()}, {"user", reflect.TypeFor[userView]()}} {
		for i := range v.view.NumField() {
			if f := v.view.Field(i); f.IsExported() {
				names = append(names, ExpressionName{v.name + "." + f.Tag.Get("cel"), typeInWords(f.Type)})
			}
		}
	}
	for _, strength := range schemas.KnownFor() {
		names = append(names, ExpressionName{"user." + knowsBrowserFunction + `("` + strength + `")`, typeInWords(reflect.TypeFor[bool]())})
	}
	return names
}

// typeInWords describes the type of a member for authors.
func typeInWords(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.String:
		return "text"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t == reflect.TypeFor[*attributesView]():
		return "the attributes by name"
	}
	return "a list of texts"
}
