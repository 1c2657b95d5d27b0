package directory

import (
	"context"
	"fmt"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func (d *Directory) roleCollection() *collection[schemas.Role] {
	table := store.Roles()
	return &collection[schemas.Role]{
		d: d, table: table,
		noun:     newNoun(Noun{Name: "role", Schema: schemas.RoleSchema, Key: "name", Filters: table.Filters(), Prefixes: table.Prefixes(), administers: true}),
		meta:     func(r *schemas.Role) meta { return meta{&r.ID, &r.CreatedAt, &r.UpdatedAt} },
		complete: func(w *writeContext, _, r *schemas.Role) { defaultUnit(w, &r.OUID) },
		check:    checkRole,
		changed:  func(w *writeContext, _, _ *schemas.Role) error { return guardGrants(w) },
		remove:   func(w *writeContext, r *schemas.Role) { w.requirePermissions("", "the role", r.Permissions) },
	}
}

// Assign assigns a role to a user, a group or an application. An existing assignment
// changes nothing.
func (d *Directory) Assign(ctx context.Context, c Call, roleID string, p schemas.Principal) (*Item, error) {
	return d.roles.updatePart(ctx, c, roleID, "assignments[0]", func(_ *writeContext, r *schemas.Role) { r.Assignments = addPrincipal(r.Assignments, p) })
}

// Assignments returns a page of the assignments of a role, sorted by type and id.
func (d *Directory) Assignments(ctx context.Context, c Call, roleID string, q Query) (*Page, error) {
	return d.roles.principals(ctx, c, roleID, q)
}

// Unassign removes an assignment of a role. A missing assignment changes nothing.
func (d *Directory) Unassign(ctx context.Context, c Call, roleID string, p schemas.Principal) (*Item, error) {
	return d.roles.updatePart(ctx, c, roleID, "assignments[0]", func(_ *writeContext, r *schemas.Role) { r.Assignments = removePrincipal(r.Assignments, p) })
}

// checkRole requires every permission that a role grants before and after the change.
func checkRole(w *writeContext, old, r *schemas.Role) {
	was := orZero(old)
	checkName(w, was.Name, r.Name)
	checkUnique(w, store.Roles(), "name", r.Name, was.ID)
	checkExists(w, store.Units(), "ouId", r.OUID)
	w.requirePermissions("", "the role", was.Permissions)
	at := func(i int) string { return fmt.Sprintf("permissions[%d]", i) }
	checkPermissions(w, at, r.Permissions, nil)
	checkPrincipals(w, "assignments", was.Assignments, r.Assignments,
		schemas.UserPrincipal, schemas.GroupPrincipal, schemas.ApplicationPrincipal)
	r.Permissions = append([]string{}, r.Permissions...)
	slices.Sort(r.Permissions)
	r.Assignments = sortedPrincipals(r.Assignments)
}
