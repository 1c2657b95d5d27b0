package directory

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// A caller who may write users could take over any account by a new password or by taking
// the name it signs in with. So changing what identifies a user requires the user's
// permissions.
func TestNoTakeoverOfMorePermittedUsers(t *testing.T) {
	tests := map[string]struct {
		body string // with the user's attributes; "" to delete
		path string // the forbidden path; "-" if none
	}{
		"a password":                 {`{"type": "Person", "attributes": {"username": "root", "email": "root@example.org", "password": "grey lantern harbour"}}`, "attributes.password"},
		"the username":               {`{"type": "Person", "attributes": {"username": "mine", "email": "root@example.org"}}`, "attributes.username"},
		"no username":                {`{"type": "Person", "attributes": {"email": "root@example.org"}}`, "attributes.username"},
		"the address":                {`{"type": "Person", "attributes": {"username": "root", "email": "mine@example.org"}}`, "attributes.email"},
		"that it is verified":        {`{"type": "Person", "attributes": {"username": "root", "email": "root@example.org", "email_verified": true}}`, "attributes.email_verified"},
		"the type":                   {`{"type": "Other", "attributes": {"username": "root", "email": "root@example.org"}}`, "type"},
		"the user as a whole":        {"", ""},
		"the name as it reads":       {`{"type": "Person", "attributes": {"username": "root", "email": "root@example.org", "name": "Root"}}`, "-"},
		"the unit":                   {`{"type": "Person", "ouId": "UNIT", "attributes": {"username": "root", "email": "root@example.org"}}`, "-"},
		"nothing":                    {`{"type": "Person", "attributes": {"username": "root", "email": "root@example.org"}}`, "-"},
		"a name in another spelling": {`{"type": "Person", "attributes": {"username": "ROOT", "email": "root@example.org"}}`, "attributes.username"},
		"everything at a time":       {`{"type": "Other", "attributes": {"username": "mine", "email": "mine@example.org"}}`, "type"},
		"an invalid value":           {`{"type": "Person", "attributes": {"username": "root", "email": "root@example.org", "password": "x"}}`, "attributes.password"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.create(t, w.UserTypes, userType("Other", `{"type": "object"}`))
			other := w.create(t, w.Units, `{"handle": "other", "name": "Other"}`)
			keeper := w.create(t, w.Users, person("keeper"))
			w.role(t, keeper, "system")
			id := w.create(t, w.Users, person("root", `"email": "root@example.org"`))
			group := w.create(t, w.Groups, object(t, "name", "G", "members", []schemas.Principal{{Type: schemas.UserPrincipal, ID: id}}))
			w.create(t, w.Roles, object(t, "name", "R", "permissions", []string{"system:groups:write"},
				"assignments", []schemas.Principal{{Type: schemas.GroupPrincipal, ID: group}}))
			do := func(ctx context.Context, c Call) error {
				if test.body == "" {
					return w.Users.Delete(ctx, c, id, "")
				}
				_, err := w.Users.Replace(ctx, c, id, "", doc(t, strings.ReplaceAll(test.body, "UNIT", other)))
				return err
			}
			weak := as(schemas.NewID(), "system:users:write", "system:groups:read", "system:group")
			err := do(t.Context(), weak)
			if test.path == "-" {
				must(t, err)
				return
			}
			if !schemas.HasClass(err, schemas.Forbidden) || !strings.Contains(err.Error(), `"system:groups:write"`) {
				t.Fatalf("got %v", err)
			}
			reported := map[string]bool{}
			for _, p := range schemas.AsError(err).Errors {
				reported[p.Path] = true
			}
			if !reported[test.path] {
				t.Errorf("got %v, expected it at %q", err, test.path)
			}
			if u := w.user(t, id); !maps.Equal(u.Attributes, map[string]any{"username": "root", "email": "root@example.org"}) {
				t.Errorf("the change was made anyway: %v", u.Attributes)
			}
			if test.path == "attributes.password" && strings.Contains(test.body, `"x"`) {
				return // invalid for every caller
			}
			must(t, do(t.Context(), as(schemas.NewID(), "system:users:write", "system:groups")))
		})
	}
}

// A token with fewer permissions than its user cannot gain the others by a new password.
func TestOwnAccountNeedsOwnPermissions(t *testing.T) {
	w := newFixture(t)
	id := w.create(t, w.Users, person("root"))
	w.role(t, id, "system")
	body := doc(t, `{"type": "Person", "attributes": {"username": "root", "password": "grey lantern harbour"}}`)
	_, err := w.Users.Replace(t.Context(), as(id, "system:users:write"), id, "", body)
	refused(t, err, schemas.CodeForbidden, `attributes.password: the permission "system"`)
	_, err = w.Users.Replace(t.Context(), as(id, "system"), id, "", body)
	must(t, err)
}
