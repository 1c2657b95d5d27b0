package directory

import (
	"context"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Access is what gives a user permissions.
type Access struct {
	// Groups and Roles are sorted by name. They are absent if the caller may not read groups or roles.
	Groups *[]schemas.Membership `json:"groups,omitempty"`
	Roles  *[]schemas.Membership `json:"roles,omitempty"`
}

// Access returns the groups and roles of a user, direct and inherited. For an unknown user the error is
// user_not_found, Class NotFound.
func (d *Directory) Access(ctx context.Context, c Call, userID string) (*Access, error) {
	return readAccount(ctx, d, c, userID, func(ctx context.Context, r store.Reader, userID string) (*Access, error) {
		var a Access
		var err error
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
		return &a, err
	})
}
