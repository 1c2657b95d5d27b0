package directory

import (
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

func TestCheckUser(t *testing.T) {
	w := newFixture(t)
	w.create(t, w.UserTypes, userType("Staff", `{"type": "object", "required": ["username", "password", "badge"], "properties": {
		"username": {"type": "string"}, "badge": {"type": "string", "x-unique": true}, "password": {"type": "string", "x-credential": true}}}`))
	w.create(t, w.Users, `{"type": "Staff", "attributes": {"username": "bob", "badge": "B1", "password": "quiet harbour lantern"}}`)
	tests := map[string]struct {
		user schemas.User
		want []string // path: message
	}{
		"who fits":                  {schemas.User{Type: "Person", Attributes: map[string]any{"username": "ada"}}, nil},
		"without a password":        {schemas.User{Type: "Staff", Attributes: map[string]any{"username": "ada", "badge": "B2"}}, nil},
		"in a unit":                 {schemas.User{Type: "Person", OUID: w.unit}, nil},
		"in none there is":          {schemas.User{Type: "Person", OUID: "none"}, []string{": there is no organization unit"}},
		"of no type":                {schemas.User{Type: "Robot"}, []string{": there is no such user type"}},
		"without a badge":           {schemas.User{Type: "Staff", Attributes: map[string]any{"username": "ada"}}, []string{"badge: required member"}},
		"with another user's badge": {schemas.User{Type: "Staff", Attributes: map[string]any{"username": "ada", "badge": " b1"}}, []string{"badge: another user has this value"}},
		"with much":                 {schemas.User{Type: "Person", Attributes: map[string]any{"given_name": strings.Repeat("a", 201), "locale": "?", "shoe": 1}}, []string{"given_name: expected at most", "locale: expected a language tag", "shoe: unknown member"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			u := test.user
			err := w.CheckUser(t.Context(), &u)
			if len(test.want) == 0 {
				must(t, err)
				if u.OUID != w.unit {
					t.Errorf("the unit is %q", u.OUID)
				}
				return
			}
			var got []string
			for _, p := range schemas.AsError(err).Errors {
				got = append(got, p.Path+": "+p.Message)
			}
			slices.Sort(got)
			if !schemas.HasCode(err, schemas.CodeUserDoesNotFit) || !slices.EqualFunc(got, test.want, strings.HasPrefix) {
				t.Errorf("got %v, expected %q", err, test.want)
			}
		})
	}
}

func TestUserType(t *testing.T) {
	w := newFixture(t)
	w.create(t, w.UserTypes, userType("Staff", `{"type": "object", "properties": {"username": {"type": "string"}}}`))
	got, err := w.UserType(t.Context(), "Staff")
	must(t, err)
	if got.Name != "Staff" || !strings.Contains(string(got.Schema), "username") {
		t.Errorf("got %+v", got)
	}
	if _, err := w.UserType(t.Context(), "Robot"); !schemas.HasCode(err, schemas.CodeUserDoesNotFit) {
		t.Errorf("a type that is not there: %v", err)
	}
}
