package directory

import (
	"context"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Access is what a user belongs to and, next to the lists of passkeys, factors and identities, whether
// the user has a password.
type Access struct {
	Password bool `json:"password"`
	// Groups and Roles are sorted by name. They are absent if the caller may not read groups or roles.
	Groups *[]schemas.Membership `json:"groups,omitempty"`
	Roles  *[]schemas.Membership `json:"roles,omitempty"`
}

// Access returns the groups and roles of a user, direct and inherited, and whether the user has a
// password. For an unknown user the error is user_not_found, Class NotFound.
func (d *Directory) Access(ctx context.Context, c Call, userID string) (*Access, error) {
	return readAccount(ctx, d, c, userID, func(ctx context.Context, r store.Reader, userID string) (*Access, error) {
		has, err := store.HasPassword(ctx, r, userID)
		a := &Access{Password: has}
		read := func(permission string, of func(context.Context, store.Reader, string) ([]schemas.Membership, error), to **[]schemas.Membership) {
			if err != nil || !c.Permits(permission) {
				return
			}
			var list []schemas.Membership
			list, err = of(ctx, r, userID)
			list = append([]schemas.Membership{}, list...) // [], not null
			*to = &list
		}
		read("system:groups:read", store.GroupsOf, &a.Groups)
		read("system:roles:read", store.RolesOf, &a.Roles)
		return a, err
	})
}
