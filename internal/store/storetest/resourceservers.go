package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// newResourceServer has the permissions H, H:orders, H:orders:read,
// H:orders:items, H:orders:items:read, H:stock.
func newResourceServer(handle string) schemas.ResourceServer {
	v := schemas.ResourceServer{
		ID: schemas.NewID(), Handle: handle, Name: "Shop", OUID: homeID, CreatedAt: noon(), UpdatedAt: noon(),
		Resources: []schemas.Resource{
			{Handle: "orders", Name: "Orders", Description: "What was ordered",
				Actions: []schemas.ResourceAction{{Handle: "read", Name: "Read", Description: "Look"}},
				Resources: []schemas.Resource{
					{Handle: "items", Actions: []schemas.ResourceAction{{Handle: "read"}}},
				}},
			{Handle: "stock"},
		},
	}
	v.Permissions = v.AllPermissions()
	return v
}

func resourceServers() tableCase[schemas.ResourceServer] {
	return tableCase[schemas.ResourceServer]{
		table: store.ResourceServers(), code: "resource_server_not_found",
		fresh: func(n int) schemas.ResourceServer {
			handle := fmt.Sprint("server", n)
			return schemas.ResourceServer{Handle: handle, Name: "Server", OUID: homeID, Resources: []schemas.Resource{}, Permissions: []string{handle}}
		},
		full: func() schemas.ResourceServer {
			v := newResourceServer("full")
			v.ID, v.Description, v.Identifier, v.IsReadOnly = "", "All of it", "https://api.example/", true
			return v
		},
		edit: func(v *schemas.ResourceServer) {
			v.Handle, v.Name, v.Description, v.Identifier, v.IsReadOnly = "edited", "Edited", "", "", false
			v.Resources = []schemas.Resource{{Handle: "stock", Resources: []schemas.Resource{{Handle: "orders"}}}, {Handle: "a"}}
			v.Permissions = v.AllPermissions()
		},
		meta: func(v *schemas.ResourceServer) (*string, *time.Time, *time.Time) {
			return &v.ID, &v.CreatedAt, &v.UpdatedAt
		},
		values: map[string]func(*schemas.ResourceServer) string{
			"handle":     func(v *schemas.ResourceServer) string { return v.Handle },
			"identifier": func(v *schemas.ResourceServer) string { return v.Identifier },
			"ouId":       func(v *schemas.ResourceServer) string { return v.OUID },
		},
	}
}

// testTreeInUse has roles grant permissions of a tree that changes: they keep
// what they have, and what they have stays.
func testTreeInUse(t *testing.T, s *store.Store) {
	ctx, shop := t.Context(), newResourceServer("shop")
	clerk := schemas.Role{ID: schemas.NewID(), Name: "Clerk", OUID: homeID, Permissions: []string{"shop:orders:items:read"},
		Assignments: []schemas.Principal{}, CreatedAt: noon(), UpdatedAt: noon()}
	update(t, s, func(tx *store.Tx) error {
		must(t, store.ResourceServers().Insert(tx, &shop))
		return store.Roles().Insert(tx, &clerk)
	})
	// The tree changes around the permission: siblings go and come, in another order.
	was := shop.UpdatedAt
	shop.UpdatedAt = was.Add(time.Second)
	shop.Resources = []schemas.Resource{{Handle: "returns"}, shop.Resources[0]}
	shop.Resources[1].Actions = nil
	shop.Permissions = shop.AllPermissions()
	update(t, s, func(tx *store.Tx) error { return store.ResourceServers().Replace(tx, &shop, was) })

	narrow, renamed := shop, shop
	narrow.Resources = shop.Resources[:1]
	renamed.Handle = "store"
	for _, changed := range []schemas.ResourceServer{narrow, renamed} {
		wantError(t, s.Update(ctx, func(tx *store.Tx) error { return store.ResourceServers().Replace(tx, &changed, shop.UpdatedAt) }), schemas.Conflict, schemas.CodeConflict)
	}
	wantError(t, s.Update(ctx, func(tx *store.Tx) error { return store.ResourceServers().Delete(tx, shop.ID, shop.UpdatedAt) }), schemas.Conflict, schemas.CodeConflict)
	reply(store.ResourceServers().Get(ctx, s, shop.ID)).equals(t, "the resource server", &shop)
	role := reply(store.Roles().Get(ctx, s, clerk.ID)).get(t)
	wantEqual(t, "the role", role, &clerk)

	// Without the role the tree may go.
	update(t, s, func(tx *store.Tx) error {
		must(t, store.Roles().Delete(tx, clerk.ID, clerk.UpdatedAt))
		return store.ResourceServers().Delete(tx, shop.ID, shop.UpdatedAt)
	})
	update(t, s, func(tx *store.Tx) error { return store.ResourceServers().Insert(tx, &shop) })
}

// testPermissionWithoutResourceServer has a role grant what no resource server has.
func testPermissionWithoutResourceServer(t *testing.T, s *store.Store) {
	role := schemas.Role{ID: schemas.NewID(), Name: "Clerk", OUID: homeID, Permissions: []string{"shop"}, CreatedAt: noon(), UpdatedAt: noon()}
	wantError(t, s.Update(t.Context(), func(tx *store.Tx) error { return store.Roles().Insert(tx, &role) }), schemas.Conflict, schemas.CodeConflict)
	reply(store.Roles().Get(t.Context(), s, role.ID)).fails(t, schemas.NotFound, "role_not_found")
}
