package nodes

import (
	"reflect"

	"github.com/postern-id/postern/internal/expr"
	"github.com/postern-id/postern/schemas"
)

// The variables of expressions. The tags are the names in CEL.
type (
	userView struct {
		ID              string           `cel:"id"`
		Type            string           `cel:"type"`
		OUID            string           `cel:"ouId"`
		Attributes      *expr.Attributes `cel:"attributes"`
		HasPasskey      bool             `cel:"hasPasskey"`
		HasPassword     bool             `cel:"hasPassword"`
		IsNew           bool             `cel:"isNew"`
		IsAuthenticated bool             `cel:"isAuthenticated"`
		Methods         []string         `cel:"methods"`

		Groups           []string          `cel:"groups"`
		Roles            []string          `cel:"roles"`
		Permissions      *expr.Permissions `cel:"permissions"`
		HasTOTP          bool              `cel:"hasTotp"`
		HasRecoveryCodes bool              `cel:"hasRecoveryCodes"`
		HasIdentity      bool              `cel:"hasIdentity"`
		KnowsBrowser     bool              `cel:"knowsBrowser"`

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
	case t == reflect.TypeFor[*expr.Attributes]():
		return "the attributes by name"
	}
	return "a list of texts"
}
