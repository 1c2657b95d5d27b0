package directory

import (
	"context"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// The last administrator cannot lose the permission in any way.
func TestTheLastAdministratorIsKept(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		root := w.create(t, w.Users, person("root"))
		members := []schemas.Principal{{Type: schemas.UserPrincipal, ID: root}}
		inner := w.create(t, w.Groups, object(t, "name", "Inner", "members", members))
		outer := w.create(t, w.Groups, object(t, "name", "Outer", "members", []schemas.Principal{{Type: schemas.GroupPrincipal, ID: inner}}))
		assigned := []schemas.Principal{{Type: schemas.GroupPrincipal, ID: outer}}
		role := w.create(t, w.Roles, object(t, "name", "Admin", "permissions", []string{"system"}, "assignments", assigned))

		replace := func(r Resource, id string, pairs ...any) func(context.Context, Call) error {
			return func(ctx context.Context, c Call) error {
				_, err := r.Replace(ctx, c, id, "", doc(t, object(t, pairs...)))
				return err
			}
		}
		ways := map[string]func(context.Context, Call) error{
			"deleting the user":        func(ctx context.Context, c Call) error { return w.Users.Delete(ctx, c, root, "") },
			"leaving the group":        replace(w.Groups, inner, "name", "Inner"),
			"taking the groups apart":  replace(w.Groups, outer, "name", "Outer"),
			"removing all assignments": replace(w.Roles, role, "name", "Admin", "permissions", []string{"system"}),
			"granting less":            replace(w.Roles, role, "name", "Admin", "permissions", []string{"system:users"}, "assignments", assigned),
			"deleting the role":        func(ctx context.Context, c Call) error { return w.Roles.Delete(ctx, c, role, "") },
			"removing the member": func(ctx context.Context, c Call) error {
				_, err := w.RemoveMember(ctx, c, inner, members[0])
				return err
			},
		}
		for name, way := range ways {
			if err := way(t.Context(), SystemCall()); !schemas.HasCode(err, schemas.CodeLastAdministrator) || !schemas.HasClass(err, schemas.Conflict) {
				t.Errorf("%s: got %v", name, err)
			}
			dry := SystemCall()
			dry.DryRun = true
			if err := way(t.Context(), dry); !schemas.HasCode(err, schemas.CodeLastAdministrator) {
				t.Errorf("%s, tried: got %v", name, err)
			}
		}
		must(t, replace(w.Users, root, "type", "Person", "attributes", map[string]any{"username": "root", "name": "Root"})(t.Context(), SystemCall()))

		// One transaction may move the permission to another user.
		must(t, w.Transact(t.Context(), SystemCall(), func(c Call) error {
			if err := ways["deleting the role"](t.Context(), c); err != nil {
				return err
			}
			_, err := w.Roles.Create(t.Context(), c, doc(t, object(t, "name", "Admin", "permissions", []string{"system"}, "assignments", members)))
			return err
		}))
		second := w.create(t, w.Users, person("second"))
		w.role(t, second, "system")
		must(t, ways["deleting the user"](t.Context(), SystemCall()))
	})
}

// Without an administrator there is none to protect.
func TestNoAdministratorToKeep(t *testing.T) {
	w := newFixture(t)
	id := w.create(t, w.Users, person("ada"))
	w.role(t, id, "system:users")
	must(t, w.Users.Delete(t.Context(), SystemCall(), id, ""))
}

// If two administrators delete each other at the same time, one remains.
func TestAdministratorsDeleteEachOther(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		ids := []string{w.create(t, w.Users, person("one")), w.create(t, w.Users, person("two"))}
		for _, id := range ids {
			w.role(t, id, "system")
		}
		for _, err := range together(2, func(i int) error { return w.Users.Delete(t.Context(), as(ids[1-i], "system"), ids[i], "") }) {
			if err != nil && !schemas.HasCode(err, schemas.CodeLastAdministrator) {
				t.Error(err)
			}
		}
		left, err := store.PermissionHolders(t.Context(), w.store, "system", 10)
		must(t, err)
		if len(left) != 1 {
			t.Errorf("%d administrators are left", len(left))
		}
	})
}
