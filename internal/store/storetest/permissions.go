package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// testPermissions assigns roles to users directly, through a group, through nested groups, and
// through a cycle.
func testPermissions(t *testing.T, s *store.Store) {
	o := newOrganization(t, s)
	for who, want := range map[schemas.Principal][]string{
		person(o.users[0]):    {"shop"},
		person(o.users[1]):    {"shop:orders", "shop:orders:read"},
		person(o.users[2]):    {"shop:orders:read"},
		person(o.users[3]):    nil,
		team(o.groups[0]):     {"shop:orders", "shop:orders:read"},
		team(o.groups[1]):     {"shop:orders:read"},
		team(o.groups[2]):     {"shop:orders:read"},
		team(schemas.NewID()): nil,
		program(o.app):        {"shop", "shop:orders:read"},
		program(o.users[0]):   nil,
		person("a\x00"):       nil,
	} {
		what := fmt.Sprintf("the permissions of %+v", who)
		reply(store.PermissionsOf(t.Context(), s, who)).equals(t, what, want)
		switch who.Type {
		case schemas.UserPrincipal:
			reply(s.Permissions(t.Context(), who.ID)).equals(t, what+", by the prepared query", want)
		case schemas.ApplicationPrincipal:
			reply(s.ApplicationPermissions(t.Context(), who.ID)).equals(t, what+", by the prepared query", want)
		}
	}
}

// testMemberships reads the groups and roles of users.
func testMemberships(t *testing.T, s *store.Store) {
	o := newOrganization(t, s)
	for i, want := range []struct{ groups, roles []string }{
		{nil, []string{"owner"}},
		{[]string{"group0", "group1", "group2"}, []string{"clerk", "reader"}},
		{[]string{"group1", "group2"}, []string{"reader"}},
		{},
	} {
		groups, err := s.GroupNames(t.Context(), o.users[i])
		must(t, err)
		roles, err := s.RoleNames(t.Context(), o.users[i])
		must(t, err)
		wantEqual(t, fmt.Sprint("the groups of user ", i), groups, want.groups)
		wantEqual(t, fmt.Sprint("the roles of user ", i), roles, want.roles)
		facts, err := s.ClaimFacts(t.Context(), o.users[i])
		must(t, err)
		var groupsOfClaims, directOfClaims, rolesOfClaims []string
		for _, g := range facts.Groups {
			groupsOfClaims = append(groupsOfClaims, g.Name)
			if g.Direct {
				directOfClaims = append(directOfClaims, g.Name)
			}
		}
		for _, r := range facts.Roles {
			rolesOfClaims = append(rolesOfClaims, r.Name)
		}
		wantEqual(t, fmt.Sprint("the groups of user ", i, " for claims"), groupsOfClaims, want.groups)
		wantEqual(t, fmt.Sprint("the direct groups of user ", i, " for claims"), directOfClaims, want.groups[:min(1, len(want.groups))])
		wantEqual(t, fmt.Sprint("the roles of user ", i, " for claims"), rolesOfClaims, want.roles)
	}
	for i, want := range []struct{ direct, inherited []string }{
		{[]string{"owner"}, nil}, {[]string{"group0"}, []string{"clerk", "group1", "group2", "reader"}}, {[]string{"group1"}, []string{"group2", "reader"}}, {},
	} {
		groups, err := store.GroupsOf(t.Context(), s, o.users[i])
		must(t, err)
		roles, err := store.RolesOf(t.Context(), s, o.users[i])
		must(t, err)
		var direct, inherited []string
		for _, m := range slices.Concat(groups, roles) {
			if m.ID == "" {
				t.Errorf("%q has no id", m.Name)
			}
			if m.Inherited {
				inherited = append(inherited, m.Name)
			} else {
				direct = append(direct, m.Name)
			}
		}
		slices.Sort(inherited)
		wantEqual(t, fmt.Sprint("the direct groups and roles of user ", i), direct, want.direct)
		wantEqual(t, fmt.Sprint("the inherited groups and roles of user ", i), inherited, want.inherited)
	}
}

func testHolders(t *testing.T, s *store.Store) {
	o := newOrganization(t, s)
	for _, test := range []struct {
		permission string
		limit      int
		want       []string
	}{
		{"shop", 10, o.users[:1]},
		{"shop:orders", 10, o.users[:2]},
		{"shop:orders:read", 10, o.users[:3]},
		{"shop:orders:read", 2, o.users[:2]},
		{"shop:orders:items:read", 10, o.users[:2]}, // who has shop:orders has what is below it
		{"shop:orders:reader", 10, o.users[:2]},
		{"sho", 10, nil},
		{"shopping", 10, nil},
		{"", 10, nil},
		{"shop:\x00", 10, nil},
	} {
		t.Run(fmt.Sprintf("%q up to %d", test.permission, test.limit), func(t *testing.T) {
			reply(store.PermissionHolders(t.Context(), s, test.permission, test.limit)).equals(t, "the holders", test.want)
		})
	}
}

// testActiveHolders omits users who may not sign in.
func testActiveHolders(t *testing.T, s *store.Store) {
	o := newOrganization(t, s)
	until := noon().Add(time.Hour)
	change := func(i int, set func(u *schemas.User)) {
		update(t, s, func(tx *store.Tx) error {
			u := reply(store.Users().Get(t.Context(), tx, o.users[i])).get(t)
			set(u)
			return store.Users().Replace(tx, u, u.UpdatedAt)
		})
	}
	change(0, func(u *schemas.User) { u.Status = schemas.UserDisabled })
	change(1, func(u *schemas.User) { u.LockedUntil = until })
	for _, test := range []struct {
		at    time.Time
		limit int
		want  []string
	}{
		{noon(), 10, o.users[2:3]},
		{until.Add(-time.Microsecond), 10, o.users[2:3]},
		{until, 10, o.users[1:3]},
		{until, 1, o.users[1:2]},
	} {
		reply(store.ActiveHolders(t.Context(), s, "shop:orders:read", test.at, test.limit)).equals(t, fmt.Sprintf("who can act at %s", test.at), test.want)
	}
	reply(store.PermissionHolders(t.Context(), s, "shop:orders:read", 10)).equals(t, "who has the permission", o.users[:3])
}

// testFlowPermissions reads the permissions of the applications that use a flow, for each purpose
// of a flow.
func testFlowPermissions(t *testing.T, s *store.Store) {
	o := newOrganization(t, s)
	in, up, neither := newFlow(schemas.Authentication, "in"), newFlow(schemas.Registration, "up"), newFlow(schemas.Authentication, "neither")
	recovery, invitation := newFlow(schemas.Authentication, "recovery"), newFlow(schemas.Authentication, "invitation")
	client, plain := newClient("client"), newApplication("plain", "")
	client.AuthFlowID, plain.AuthFlowID, plain.RegistrationFlowID, plain.RecoveryFlowID, plain.InvitationFlowID = in.ID, in.ID, up.ID, recovery.ID, invitation.ID
	update(t, s, func(tx *store.Tx) error {
		return errors.Join(store.Flows().Insert(tx, &in), store.Flows().Insert(tx, &up), store.Flows().Insert(tx, &recovery), store.Flows().Insert(tx, &invitation), store.Flows().Insert(tx, &neither),
			store.Applications().Insert(tx, &client), store.Applications().Insert(tx, &plain))
	})
	o.grant(t, s, "cook", []string{"shop:stock"}, program(plain.ID), program(client.ID))
	o.grant(t, s, "porter", []string{"shop:orders:read"}, program(plain.ID))
	for id, want := range map[string][]string{
		in.ID:           {"openid", "shop:orders", "shop:orders:read", "shop:stock"},
		up.ID:           {"shop:orders:read", "shop:stock"},
		recovery.ID:     {"shop:orders:read", "shop:stock"},
		invitation.ID:   {"shop:orders:read", "shop:stock"},
		neither.ID:      nil,
		schemas.NewID(): nil,
	} {
		wantEqual(t, "what the applications of a flow have", reply(store.ReachOf(t.Context(), s, []string{id}, nil)).get(t).Applications, want)
	}
}

// testFlowUsers reads the users of several types who sign in with flows, directly or as sub-flows.
func testFlowUsers(t *testing.T, s *store.Store) {
	o := newOrganization(t, s)
	robots := newUserType("Robot")
	insert(t, s, &robots)
	robot := newUser("robot")
	robot.Type = robots.Name
	apply(t, s, schemas.CreateUser{User: robot})
	o.grant(t, s, "stocker", []string{"shop:stock"}, person(robot.ID))
	update(t, s, func(tx *store.Tx) error { // which thus has shop:orders and shop:orders:read, too
		group := reply(store.Groups().Get(t.Context(), tx, o.groups[0])).get(t)
		was := group.UpdatedAt
		group.Members, group.UpdatedAt = append(group.Members, person(robot.ID)), was.Add(time.Second)
		return store.Groups().Replace(tx, group, was)
	})

	persons := schemas.PersonName
	for name, test := range map[string]struct {
		types [][]string // that the applications of the flow allow; nil: all
		want  []string
	}{
		"no application":                  {nil, nil},
		"all types":                       {[][]string{nil}, []string{"shop", "shop:orders", "shop:orders:read", "shop:stock"}},
		"an empty list, which is all":     {[][]string{{}}, []string{"shop", "shop:orders", "shop:orders:read", "shop:stock"}},
		"persons":                         {[][]string{{persons}}, []string{"shop", "shop:orders", "shop:orders:read"}},
		"robots":                          {[][]string{{"Robot"}}, []string{"shop:orders", "shop:orders:read", "shop:stock"}},
		"neither":                         {[][]string{{"Ghost", "Robo", "obot"}}, nil},
		"robots here, persons elsewhere":  {[][]string{{"Robot"}, {persons}}, []string{"shop", "shop:orders", "shop:orders:read", "shop:stock"}},
		"several types at one of the two": {[][]string{{"Ghost"}, {"Ghost", "Robot"}}, []string{"shop:orders", "shop:orders:read", "shop:stock"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFlow(schemas.Authentication, "f"+schemas.NewID())
			insert(t, s, &f)
			for i, types := range test.types {
				app := newApplication(fmt.Sprint(name, i), "")
				app.AuthFlowID, app.AllowedUserTypes = f.ID, types
				if i%2 == 1 {
					app.AuthFlowID, app.RegistrationFlowID = "", f.ID
				}
				insert(t, s, &app)
			}
			wantEqual(t, "what its users have", reply(store.ReachOf(t.Context(), s, []string{f.ID, schemas.NewID()}, nil)).get(t).Users, test.want)
			got := reply(store.ReachOf(t.Context(), s, []string{f.ID}, [][2]string{{"AUTHENTICATION", "other"}, {"AUTHENTICATION", f.Handle}})).get(t)
			wantEqual(t, "what users have of a flow that any application may get", got.Users, []string{"shop", "shop:orders", "shop:orders:read", "shop:stock"})
		})
	}
	for _, test := range []struct{ types, want []string }{
		{nil, []string{"shop", "shop:orders", "shop:orders:read", "shop:stock"}},
		{[]string{"Robot"}, []string{"shop:orders", "shop:orders:read", "shop:stock"}},
		{[]string{"Ghost", persons}, []string{"shop", "shop:orders", "shop:orders:read"}},
		{[]string{"Ghost", "a\x00"}, nil},
	} {
		reply(store.UserPermissions(t.Context(), s, test.types)).equals(t, fmt.Sprintf("what users of %q have", test.types), test.want)
	}
}

// organization contains users and their permissions:
//
//	users[0]                          shop
//	users[1] in groups[0]             shop:orders
//	users[2] in groups[1]             shop:orders:read, by groups[2]
//	users[3]                          nothing
//	groups[0] in groups[1] in groups[2] in groups[1]
type organization struct {
	users, groups []string
	app           string
}

func newOrganization(t *testing.T, s *store.Store) *organization {
	t.Helper()
	o := &organization{}
	shop, app := newResourceServer("shop"), newApplication("app", "")
	o.app = app.ID
	insert(t, s, &shop, &app)
	for i := range 4 {
		u := newUser(fmt.Sprint("user", i))
		apply(t, s, create(u)...)
		o.users = append(o.users, u.ID)
	}
	var groups [3]schemas.Group
	for i := range groups {
		groups[i] = schemas.Group{ID: schemas.NewID(), Name: fmt.Sprint("group", i), OUID: homeID, CreatedAt: noon(), UpdatedAt: noon()}
		o.groups = append(o.groups, groups[i].ID)
		insert(t, s, &groups[i])
	}
	groups[0].Members = []schemas.Principal{person(o.users[1])}
	groups[1].Members = []schemas.Principal{person(o.users[2]), team(o.groups[0]), team(o.groups[2])}
	groups[2].Members = []schemas.Principal{team(o.groups[1])}
	for i := range groups {
		update(t, s, func(tx *store.Tx) error { return store.Groups().Replace(tx, &groups[i], noon()) })
	}
	o.grant(t, s, "owner", []string{"shop"}, person(o.users[0]), program(o.app))
	o.grant(t, s, "clerk", []string{"shop:orders"}, team(o.groups[0]))
	o.grant(t, s, "reader", []string{"shop:orders:read"}, team(o.groups[2]), program(o.app))
	o.grant(t, s, "nobody's", []string{"shop:stock"})
	return o
}

func (o *organization) grant(t *testing.T, s *store.Store, name string, permissions []string, to ...schemas.Principal) {
	t.Helper()
	role := newRole(name, permissions, to...)
	insert(t, s, &role)
}

func newRole(name string, permissions []string, to ...schemas.Principal) schemas.Role {
	return schemas.Role{ID: schemas.NewID(), Name: name, OUID: homeID, Permissions: permissions, Assignments: append([]schemas.Principal{}, to...),
		CreatedAt: noon(), UpdatedAt: noon()}
}

func person(id string) schemas.Principal {
	return schemas.Principal{Type: schemas.UserPrincipal, ID: id}
}

func team(id string) schemas.Principal {
	return schemas.Principal{Type: schemas.GroupPrincipal, ID: id}
}

func program(id string) schemas.Principal {
	return schemas.Principal{Type: schemas.ApplicationPrincipal, ID: id}
}

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
		filters:  []string{"handle", "identifier", "ouId"},
		prefixes: []string{"handle"},
	}
}

// testTreeInUse changes a tree whose permissions roles grant: the roles keep these permissions.
func testTreeInUse(t *testing.T, s *store.Store) {
	ctx, shop := t.Context(), newResourceServer("shop")
	clerk := newRole("Clerk", []string{"shop:orders:items:read"})
	insert(t, s, &shop, &clerk)
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

	// Without the role, the tree can be deleted.
	update(t, s, func(tx *store.Tx) error {
		must(t, store.Roles().Delete(tx, clerk.ID, clerk.UpdatedAt))
		return store.ResourceServers().Delete(tx, shop.ID, shop.UpdatedAt)
	})
	insert(t, s, &shop)
}

// testPermissionWithoutResourceServer grants a permission that no resource server has.
func testPermissionWithoutResourceServer(t *testing.T, s *store.Store) {
	role := newRole("Clerk", []string{"shop"})
	wantError(t, s.Update(t.Context(), func(tx *store.Tx) error { return store.Roles().Insert(tx, &role) }), schemas.Conflict, schemas.CodeConflict)
	reply(store.Roles().Get(t.Context(), s, role.ID)).fails(t, schemas.NotFound, "role_not_found")
}
