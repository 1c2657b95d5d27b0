package directory

import (
	"context"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// The last administrator cannot lose the permission, whatever grants it.
func TestOneAdministratorRemains(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		admins := h.create(t, h.Groups, object(t, "name", "Admins", "members", []schemas.Principal{h.user()}))
		outer := h.create(t, h.Groups, object(t, "name", "Outer", "members", []schemas.Principal{group(admins)}))
		role := h.create(t, h.Roles, object(t, "name", "All", "permissions", []string{"system"}, "assignments", []schemas.Principal{group(outer)}))
		before := len(h.events(t))
		for name, do := range map[string]func(context.Context, Call) error{
			"no longer a member": func(ctx context.Context, c Call) error {
				_, err := h.RemoveMember(ctx, c, admins, h.user())
				return err
			},
			"a group without members":  h.replace(t, h.Groups, admins, object(t, "name", "Admins")),
			"a group out of the group": h.replace(t, h.Groups, outer, object(t, "name", "Outer")),
			"a role that gives less": h.replace(t, h.Roles, role, object(t, "name", "All", "permissions", []string{"system:users"},
				"assignments", []schemas.Principal{group(outer)})),
			"a role without assignments": func(ctx context.Context, c Call) error {
				_, err := h.Unassign(ctx, c, role, group(outer))
				return err
			},
			"no such role": func(ctx context.Context, c Call) error { return h.Roles.Delete(ctx, c, role, "") },
		} {
			if err := do(t.Context(), SystemCall()); !schemas.HasCode(err, schemas.CodeLastAdministrator) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if after := len(h.events(t)); after != before {
			t.Errorf("%d events of what was refused", after-before)
		}
		// One transaction may move the permission to another user.
		must(t, h.Transact(t.Context(), SystemCall(), func(c Call) error {
			if _, err := h.RemoveMember(t.Context(), c, admins, h.user()); err != nil {
				return err
			}
			_, err := h.AddMember(t.Context(), c, admins, h.other())
			return err
		}))
	})
}
