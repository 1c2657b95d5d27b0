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
	// TotalGroups and TotalRoles are the sizes of the whole lists, which have at most MaxMemberships items.
	TotalGroups *int `json:"totalGroups,omitempty"`
	TotalRoles  *int `json:"totalRoles,omitempty"`
}

// MaxMemberships limits the groups and the roles in an Access, as a page of a list.
const MaxMemberships = 100

// Access returns the groups and roles of a user, direct and inherited, at most MaxMemberships of each. For an unknown user the error is
// user_not_found, Class NotFound.
func (d *Directory) Access(ctx context.Context, c Call, userID string) (*Access, error) {
	return readAccount(ctx, d, c, userID, func(ctx context.Context, r store.Reader, userID string) (*Access, error) {
		var a Access
		var err error
		read := func(permission string, of func(context.Context, store.Reader, string) ([]schemas.Membership, error), to **[]schemas.Membership, total **int) {
			if err != nil || !c.Permits(permission) {
				return
			}
			var list []schemas.Membership
			list, err = of(ctx, r, userID)
			n := len(list)
			list = append([]schemas.Membership{}, list[:min(n, MaxMemberships)]...) // [], not null
			*to, *total = &list, &n
		}
		read("system:groups:read", store.GroupsOf, &a.Groups, &a.TotalGroups)
		read("system:roles:read", store.RolesOf, &a.Roles, &a.TotalRoles)
		return &a, err
	})
}
