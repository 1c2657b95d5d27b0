package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// testReferences has users and applications name what is not there, and what
// they name be deleted.
func testReferences(t *testing.T, s *store.Store) {
	ctx := t.Context()
	unit, staff, flow := newUnit("unit"), newUserType("Staff"), newFlow(schemas.Authentication, "a")
	ann, app := newUser("ann"), newApplication("app", "")
	ann.Type, ann.OUID = staff.Name, unit.ID
	app.OUID, app.AuthFlowID, app.RegistrationFlowID, app.RecoveryFlowID = unit.ID, flow.ID, flow.ID, flow.ID
	insertUser := func(tx *store.Tx) error { return store.Users().Insert(tx, &ann) }
	insertApp := func(tx *store.Tx) error { return store.Applications().Insert(tx, &app) }
	for _, step := range []func(tx *store.Tx) error{
		func(tx *store.Tx) error { return store.UserTypes().Insert(tx, &staff) },
		func(tx *store.Tx) error { return store.Units().Insert(tx, &unit) },
		func(tx *store.Tx) error { return store.Flows().Insert(tx, &flow) },
	} {
		wantConflict(t, s.Update(ctx, insertApp))
		update(t, s, step)
	}
	update(t, s, insertApp)
	update(t, s, insertUser)

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
		func(tx *store.Tx) error { return replaceApp(tx, app, "nowhere", flow.ID, flow.ID, "") },
		func(tx *store.Tx) error { return replaceApp(tx, app, unit.ID, "gone", flow.ID, "") },
		func(tx *store.Tx) error { return replaceApp(tx, app, unit.ID, flow.ID, "gone", "") },
		func(tx *store.Tx) error { return replaceApp(tx, app, unit.ID, flow.ID, flow.ID, "gone") },
	} {
		wantConflict(t, s.Update(ctx, change))
	}
	bob, carol := newUser("bob"), newUser("carol")
	bob.Type, carol.OUID = "Nobody", "nowhere"
	for _, u := range []schemas.User{bob, carol} {
		wantConflict(t, s.Apply(ctx, create(u)))
		wantConflict(t, s.Update(ctx, func(tx *store.Tx) error { return store.Users().Insert(tx, &u) }))
	}
	update(t, s, func(tx *store.Tx) error {
		must(t, replaceUser(tx, ann, "Person", homeID))
		must(t, replaceApp(tx, app, homeID, "", "", ""))
		return errors.Join(store.UserTypes().Delete(tx, staff.ID, noon()), store.Flows().Delete(tx, flow.ID, 1),
			store.Units().Delete(tx, unit.ID, noon()))
	})
}

func replaceUser(tx *store.Tx, u schemas.User, userType, unit string) error {
	u.Type, u.OUID, u.UpdatedAt = userType, unit, noon().Add(time.Second)
	return store.Users().Replace(tx, &u, noon())
}

func replaceApp(tx *store.Tx, a schemas.Application, unit, signIn, signUp, recovery string) error {
	a.OUID, a.AuthFlowID, a.RegistrationFlowID, a.RecoveryFlowID, a.UpdatedAt = unit, signIn, signUp, recovery, noon().Add(time.Second)
	return store.Applications().Replace(tx, &a, noon())
}

func wantConflict(t *testing.T, err error) {
	t.Helper()
	if !schemas.HasClass(err, schemas.Conflict) {
		t.Fatalf("the answer is %v, expected a conflict", err)
	}
}

// testReferenceRace has users of a type sign up while the type is deleted: no
// user is left without a type.
func testReferenceRace(t *testing.T, s *store.Store) {
	const rounds, contenders = 20, 8
	for range rounds {
		staff := newUserType("Staff")
		update(t, s, func(tx *store.Tx) error { return store.UserTypes().Insert(tx, &staff) })
		together(contenders+1, func(i int) {
			if i == contenders/2 {
				if err := s.Update(t.Context(), func(tx *store.Tx) error { return store.UserTypes().Delete(tx, staff.ID, noon()) }); err != nil && !schemas.HasClass(err, schemas.Conflict) {
					t.Error(err)
				}
				return
			}
			u := newUser("")
			u.Type = staff.Name
			if err := s.Apply(t.Context(), create(u)); err != nil && !schemas.HasClass(err, schemas.Conflict) {
				t.Error(err)
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
