package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// testTables tests the table of every noun.
func testTables(t *testing.T, open func(*testing.T) *store.Store) {
	t.Run("organization units", testTable(open, units()))
	t.Run("user types", testTable(open, userTypes()))
	t.Run("users", testTable(open, users()))
	t.Run("groups", testTable(withMembers(open), groups()))
	t.Run("resource servers", testTable(open, resourceServers()))
	t.Run("roles", testTable(withMembers(open), roles()))
	t.Run("applications", testTable(open, applications()))
	t.Run("identity providers", testTable(open, identityProviders()))
}

// The ids of the principals of a store: those that can be members or get roles.
const (
	annID  = "01900000-0000-7000-8000-0000000000b1"
	teamID = "01900000-0000-7000-8000-0000000000b2"
	appID  = "01900000-0000-7000-8000-0000000000b3"
)

// withMembers adds a user, a group, an application and a resource server "shop"
// with permissions to what open opens.
func withMembers(open func(*testing.T) *store.Store) func(*testing.T) *store.Store {
	return func(t *testing.T) *store.Store {
		s := open(t)
		ann, app := newUser("ann"), newApplication("app", "")
		ann.ID, app.ID = annID, appID
		team := schemas.Group{ID: teamID, Name: "inhabitants", OUID: homeID, Members: []schemas.Principal{}, CreatedAt: noon(), UpdatedAt: noon()}
		shop := newResourceServer("shop")
		insert(t, s, &ann, &team, &app, &shop)
		return s
	}
}

func units() tableCase[schemas.OrganizationUnit] {
	fresh := func(n int) schemas.OrganizationUnit {
		return schemas.OrganizationUnit{Handle: fmt.Sprint("unit", n), Name: "Unit"}
	}
	return tableCase[schemas.OrganizationUnit]{
		table: store.Units(), code: "organization_unit_not_found", fresh: fresh,
		full: func() schemas.OrganizationUnit {
			return schemas.OrganizationUnit{Handle: "full", Name: "Full", Description: "All of it", LogoURL: "https://unit.example/logo", ParentID: homeID}
		},
		edit: func(u *schemas.OrganizationUnit) {
			u.Handle, u.Name, u.Description, u.ParentID = "edited", "Edited", "", ""
		},
		filters:  []string{"handle", "parentId"},
		prefixes: []string{"handle"},
	}
}

func userTypes() tableCase[schemas.UserType] {
	fresh := func(n int) schemas.UserType {
		return schemas.UserType{Name: fmt.Sprint("Type", n), OUID: homeID, Schema: json.RawMessage(`{"type":"object"}`)}
	}
	return tableCase[schemas.UserType]{
		table: store.UserTypes(), code: "user_type_not_found", fresh: fresh,
		full: func() schemas.UserType {
			return schemas.UserType{Name: "Full", Description: "All of it", OUID: homeID,
				Schema: json.RawMessage(`{ "properties": {"badge": {"x-unique":true}, "äöü": {"const":"\u0000"}} }`)}
		},
		edit: func(v *schemas.UserType) {
			v.Name, v.Description, v.Schema = "Edited", "", json.RawMessage(`{}`)
		},
		filters:  []string{"name", "ouId"},
		prefixes: []string{"name"},
	}
}

func users() tableCase[schemas.User] {
	return tableCase[schemas.User]{
		table: store.Users(), code: schemas.CodeUserNotFound,
		fresh: func(n int) schemas.User {
			return schemas.User{Type: "Person", OUID: homeID, Attributes: map[string]any{"username": fmt.Sprint("user", n)}, Status: schemas.UserActive}
		},
		full: func() schemas.User {
			return schemas.User{Type: "Person", OUID: homeID, Attributes: map[string]any{"username": "Full", "email": "full@example.com",
				"address": map[string]any{"city": "Zürich\n", "floor": 3.5}, "tags": []any{"a", true, nil}},
				Status: schemas.UserDisabled, LockedUntil: noon().Add(time.Hour)}
		},
		edit: func(u *schemas.User) {
			u.Attributes, u.LockedUntil = map[string]any{"email": "edited@example.com"}, noon().Add(time.Minute)
		},
		filters:  []string{"email", "id", "ouId", "type", "username"},
		prefixes: []string{"email", "username"},
	}
}

func groups() tableCase[schemas.Group] {
	return tableCase[schemas.Group]{
		table: store.Groups(), code: "group_not_found",
		fresh: func(n int) schemas.Group {
			return schemas.Group{Name: fmt.Sprint("group", n), OUID: homeID, Members: []schemas.Principal{}}
		},
		full: func() schemas.Group {
			return schemas.Group{Name: "full", Description: "All of it", OUID: homeID, Members: []schemas.Principal{
				{Type: schemas.GroupPrincipal, ID: teamID}, {Type: schemas.UserPrincipal, ID: annID}}}
		},
		edit: func(g *schemas.Group) {
			g.Name, g.Description = "edited", ""
			g.Members = []schemas.Principal{{Type: schemas.UserPrincipal, ID: annID}}
		},
		filters:  []string{"name", "ouId"},
		prefixes: []string{"name"},
	}
}

func roles() tableCase[schemas.Role] {
	return tableCase[schemas.Role]{
		table: store.Roles(), code: "role_not_found",
		fresh: func(n int) schemas.Role {
			return schemas.Role{Name: fmt.Sprint("role", n), OUID: homeID, Permissions: []string{}, Assignments: []schemas.Principal{}}
		},
		full: func() schemas.Role {
			return schemas.Role{Name: "full", Description: "All of it", OUID: homeID,
				Permissions: []string{"shop", "shop:orders:read"},
				Assignments: []schemas.Principal{{Type: schemas.ApplicationPrincipal, ID: appID},
					{Type: schemas.GroupPrincipal, ID: teamID}, {Type: schemas.UserPrincipal, ID: annID}}}
		},
		edit: func(v *schemas.Role) {
			v.Name, v.Description, v.Permissions = "edited", "", []string{"shop:orders"}
			v.Assignments = []schemas.Principal{{Type: schemas.UserPrincipal, ID: annID}}
		},
		filters:  []string{"name", "ouId"},
		prefixes: []string{"name"},
	}
}

// testReferences refers to missing resources in users and applications, and deletes resources that
// are referred to.
func testReferences(t *testing.T, s *store.Store) {
	unit, staff, flow := newUnit("unit"), newUserType("Staff"), newFlow(schemas.Authentication, "a")
	ann, app := newUser("ann"), newApplication("app", "")
	ann.Type, ann.OUID = staff.Name, unit.ID
	app.OUID, app.AuthFlowID, app.RegistrationFlowID, app.RecoveryFlowID, app.InvitationFlowID, app.AddressFlowID = unit.ID, flow.ID, flow.ID, flow.ID, flow.ID, flow.ID
	for _, missing := range []any{&staff, &unit, &flow} {
		wantConflict(t, s.Update(t.Context(), func(tx *store.Tx) error { return store.Applications().Insert(tx, &app) }))
		insert(t, s, missing)
	}
	insert(t, s, &app, &ann)

	later := noon().Add(time.Second)
	for _, change := range []func(tx *store.Tx) error{
		func(tx *store.Tx) error { return store.Units().Delete(tx, unit.ID, noon()) },
		func(tx *store.Tx) error { return store.UserTypes().Delete(tx, staff.ID, noon()) },
		func(tx *store.Tx) error { return store.Flows().Delete(tx, flow.ID, 1) },
		func(tx *store.Tx) error {
			renamed := staff
			renamed.Name, renamed.UpdatedAt = "Workers", later
			return store.UserTypes().Replace(tx, &renamed, noon())
		},
		func(tx *store.Tx) error { return replaceUser(tx, ann, "Nobody", unit.ID) },
		func(tx *store.Tx) error { return replaceUser(tx, ann, staff.Name, "nowhere") },
		func(tx *store.Tx) error { return replaceApp(tx, app, "nowhere", flow.ID, flow.ID, "", "") },
		func(tx *store.Tx) error { return replaceApp(tx, app, unit.ID, "gone", flow.ID, "", "") },
		func(tx *store.Tx) error { return replaceApp(tx, app, unit.ID, flow.ID, "gone", "", "") },
		func(tx *store.Tx) error { return replaceApp(tx, app, unit.ID, flow.ID, flow.ID, "gone", "") },
		func(tx *store.Tx) error { return replaceApp(tx, app, unit.ID, flow.ID, flow.ID, "", "gone") },
		func(tx *store.Tx) error {
			app := app
			app.AddressFlowID = "gone"
			return replaceApp(tx, app, unit.ID, flow.ID, flow.ID, "", "")
		},
	} {
		wantConflict(t, s.Update(t.Context(), change))
	}
	bob, carol := newUser("bob"), newUser("carol")
	bob.Type, carol.OUID = "Nobody", "nowhere"
	for _, u := range []schemas.User{bob, carol} {
		wantConflict(t, s.Apply(t.Context(), create(u)))
		wantConflict(t, s.Update(t.Context(), func(tx *store.Tx) error { return store.Users().Insert(tx, &u) }))
	}
	update(t, s, func(tx *store.Tx) error {
		must(t, replaceUser(tx, ann, "Person", homeID))
		app.AddressFlowID = ""
		must(t, replaceApp(tx, app, homeID, "", "", "", ""))
		return errors.Join(store.UserTypes().Delete(tx, staff.ID, noon()), store.Flows().Delete(tx, flow.ID, 1),
			store.Units().Delete(tx, unit.ID, noon()))
	})
}

func replaceUser(tx *store.Tx, u schemas.User, userType, unit string) error {
	u.Type, u.OUID, u.UpdatedAt = userType, unit, noon().Add(time.Second)
	return store.Users().Replace(tx, &u, noon())
}

func replaceApp(tx *store.Tx, a schemas.Application, unit, signIn, signUp, recovery, invitation string) error {
	a.OUID, a.AuthFlowID, a.RegistrationFlowID, a.RecoveryFlowID, a.InvitationFlowID, a.UpdatedAt = unit, signIn, signUp, recovery, invitation, noon().Add(time.Second)
	return store.Applications().Replace(tx, &a, noon())
}

func wantConflict(t *testing.T, err error) {
	t.Helper()
	if !schemas.HasClass(err, schemas.Conflict) {
		t.Fatalf("the answer is %v, expected a conflict", err)
	}
}

// testReferenceRace creates users of a type while the type is deleted: no user remains without a
// type.
func testReferenceRace(t *testing.T, s *store.Store) {
	const rounds, contenders = 20, 8
	for range rounds {
		staff := newUserType("Staff")
		insert(t, s, &staff)
		together(contenders+1, func(i int) {
			u, err := newUser(""), error(nil)
			u.Type = staff.Name
			if i == contenders/2 {
				err = s.Update(t.Context(), func(tx *store.Tx) error { return store.UserTypes().Delete(tx, staff.ID, noon()) })
			} else {
				err = s.Apply(t.Context(), create(u))
			}
			if !schemas.HasClass(err, schemas.Conflict) {
				check(t, err)
			}
		})
		left := reply(store.Users().List(t.Context(), s, store.Page{Limit: 100, Member: "type", Value: staff.Name})).get(t)
		found := reply(store.UserTypes().Find(t.Context(), s, "name", staff.Name)).get(t)
		if found == nil && len(left) > 0 {
			t.Fatalf("%d users have a type that is gone", len(left))
		}
		if found == nil {
			continue
		}
		update(t, s, func(tx *store.Tx) error {
			for _, u := range left {
				must(t, store.Users().Delete(tx, u.ID, u.UpdatedAt))
			}
			return store.UserTypes().Delete(tx, staff.ID, noon())
		})
	}
}
