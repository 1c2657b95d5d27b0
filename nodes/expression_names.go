package nodes

import "reflect"

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
			f := v.view.Field(i)
			names = append(names, ExpressionName{v.name + "." + f.Tag.Get("cel"), typeInWords(f.Type)})
		}
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
