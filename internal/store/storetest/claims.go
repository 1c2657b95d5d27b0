package storetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// newStaff returns a user type with two unique attributes.
func newStaff() schemas.UserType {
	staff := newUserType("Staff")
	staff.Schema = json.RawMessage(`{"type":"object","properties":{
		"username":{"type":"string","x-unique":true},"badge":{"x-unique":true},"phone":{"type":"string","x-unique":true},"floor":{}}}`)
	return staff
}

func newWorker(username string, badge any, phone string) schemas.User {
	u := newUser(username)
	u.Type = "Staff"
	u.Attributes["badge"], u.Attributes["phone"], u.Attributes["floor"] = badge, phone, 3
	return u
}

// testUniqueAttributes has what a user type calls unique be so, for users that
// flows create and for users that administrators do.
func testUniqueAttributes(t *testing.T, s *store.Store) {
	ctx, staff := t.Context(), newStaff()
	update(t, s, func(tx *store.Tx) error { return store.UserTypes().Insert(tx, &staff) })
	insert := func(u schemas.User) error {
		return s.Update(ctx, func(tx *store.Tx) error { return store.Users().Insert(tx, &u) })
	}
	ann := newWorker("ann", 7.5, "+41 1")
	must(t, s.Apply(ctx, create(ann)))
	for _, test := range []struct {
		user  schemas.User
		taken []string
	}{
		{newWorker("bob", 7.5, "+41 2"), []string{"badge"}},
		{newWorker("bob", 8, " +41 1 "), []string{"phone"}},
		{newWorker("ANN", 7.5, "+41 1"), []string{"username", "badge", "phone"}},
	} {
		for _, err := range []error{insert(test.user), s.Apply(ctx, create(test.user))} {
			wantError(t, err, schemas.Conflict, schemas.CodeAttributeTaken)
			var taken []string
			for _, p := range schemas.AsError(err).Errors {
				taken = append(taken, p.Path)
			}
			wantEqual(t, "the reported attributes", taken, test.taken)
		}
	}
	// Missing values do not collide, nor do values that another type does not mark as unique.
	for i := range 2 {
		none := newWorker(fmt.Sprint("none", i), nil, "")
		delete(none.Attributes, "badge")
		must(t, insert(none))
		person := newUser(fmt.Sprint("person", i))
		person.Attributes["badge"] = 7.5
		must(t, insert(person))
	}
	// A released value is free after the change commits, not before.
	bob := newWorker("bob", 9, "+41 9")
	must(t, insert(bob))
	changed := bob
	changed.Attributes = map[string]any{"username": "bobby", "badge": 10, "phone": "+41 1"}
	changed.UpdatedAt = bob.UpdatedAt.Add(time.Second)
	replace := func() error {
		return s.Update(ctx, func(tx *store.Tx) error { return store.Users().Replace(tx, &changed, bob.UpdatedAt) })
	}
	wantError(t, replace(), schemas.Conflict, schemas.CodeAttributeTaken)
	wantError(t, insert(newWorker("bob", 9, "+41 9")), schemas.Conflict, schemas.CodeAttributeTaken)
	changed.Attributes["phone"] = "+41 10"
	must(t, replace())
	must(t, insert(newWorker("bob", 9, "+41 9")))
	wantError(t, insert(newWorker("bobby", 11, "+41 11")), schemas.Conflict, schemas.CodeAttributeTaken)
	wantEqual(t, "the user found", reply(store.Users().Find(ctx, s, "username", "BOBBY")).get(t).ID, bob.ID)
	update(t, s, func(tx *store.Tx) error { return store.Users().Delete(tx, bob.ID, changed.UpdatedAt) })
	must(t, insert(newWorker("bobby", 10, "+41 10")))
}

// testReclaim makes an attribute unique that users already have.
func testReclaim(t *testing.T, s *store.Store) {
	ctx, staff := t.Context(), newStaff()
	unique := staff.Schema
	staff.Schema = json.RawMessage(`{}`)
	ann, bob := newWorker("ann", 1, ""), newWorker("bob", 1, "")
	update(t, s, func(tx *store.Tx) error {
		must(t, store.UserTypes().Insert(tx, &staff))
		must(t, store.Users().Insert(tx, &ann))
		return store.Users().Insert(tx, &bob)
	})
	was := staff.UpdatedAt
	staff.Schema, staff.UpdatedAt = unique, was.Add(time.Second)
	reclaim := func(users ...*schemas.User) error {
		return s.Update(ctx, func(tx *store.Tx) error {
			must(t, store.UserTypes().Replace(tx, &staff, was))
			for _, u := range users {
				if err := store.ReindexUser(tx, u); err != nil {
					return err
				}
			}
			return nil
		})
	}
	wantError(t, reclaim(&ann, &bob), schemas.Conflict, schemas.CodeAttributeTaken)
	must(t, reclaim(&ann))
	wantError(t, s.Apply(ctx, create(newWorker("carol", 1, ""))), schemas.Conflict, schemas.CodeAttributeTaken)
	wantError(t, s.Apply(ctx, create(newUser("Ann"))), schemas.Conflict, schemas.CodeAttributeTaken)
}

// testUniqueRace has many want one value at once, by flows and by
// administrators.
func testUniqueRace(t *testing.T, s *store.Store) {
	const rounds, contenders = 10, 8
	staff := newStaff()
	update(t, s, func(tx *store.Tx) error { return store.UserTypes().Insert(tx, &staff) })
	for round := range rounds {
		oneWins(t, contenders, schemas.CodeAttributeTaken, func(i int) error {
			u := newWorker(fmt.Sprintf("u%d-%d", round, i), round, fmt.Sprintf("p%d", round))
			if i%2 == 0 {
				return s.Apply(t.Context(), create(u))
			}
			return s.Update(t.Context(), func(tx *store.Tx) error { return store.Users().Insert(tx, &u) })
		})
	}
}

// setScope gives a user type an identifier scope and claims the values of its users again.
func setScope(t *testing.T, s *store.Store, name, scope string) error {
	ctx := t.Context()
	return s.Update(ctx, func(tx *store.Tx) error {
		staff, err := store.UserTypes().Find(ctx, tx, "name", name)
		if err != nil {
			return err
		}
		was := staff.UpdatedAt
		staff.IdentifierScope, staff.UpdatedAt = scope, was.Add(time.Second)
		if err := store.UserTypes().Replace(tx, staff, was); err != nil {
			return err
		}
		users, err := store.Users().List(ctx, tx, store.Page{Limit: 100, Member: "type", Value: name})
		for i := 0; err == nil && i < len(users); i++ {
			err = store.ReindexUser(tx, &users[i])
		}
		return err
	})
}

// testIdentifierScopes lets users of two scopes have the same values, and users of one scope not.
func testIdentifierScopes(t *testing.T, s *store.Store) {
	ctx, staff := t.Context(), newStaff()
	staff.IdentifierScope = schemas.TypeIdentifiers
	update(t, s, func(tx *store.Tx) error { return store.UserTypes().Insert(tx, &staff) })
	person, worker := newUser("ann"), newWorker("ann", 1, "+41 1")
	must(t, s.Apply(ctx, create(person)))
	must(t, s.Apply(ctx, create(worker)))
	wantError(t, s.Apply(ctx, create(newWorker("ANN", 2, ""))), schemas.Conflict, schemas.CodeAttributeTaken)
	wantError(t, s.Apply(ctx, create(newWorker("bob", 1, ""))), schemas.Conflict, schemas.CodeAttributeTaken)
	for userType, id := range map[string]string{"": person.ID, "Person": person.ID, "Staff": worker.ID} {
		wantEqual(t, "the user in the scope of "+userType, reply(s.UserByAttribute(ctx, userType, "username", "Ann")).get(t).ID, id)
	}
	reply(s.UserByAttribute(ctx, "", "username", "Staff\x1fann")).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
	wantError(t, setScope(t, s, "Staff", ""), schemas.Conflict, schemas.CodeAttributeTaken)
	wantEqual(t, "the user after a rejected change", reply(s.UserByAttribute(ctx, "Staff", "username", "ann")).get(t).ID, worker.ID)
}

// testScopeRace changes the scope of a type while a user of it is created: the user is found afterwards.
func testScopeRace(t *testing.T, s *store.Store) {
	ctx, staff := t.Context(), newStaff()
	update(t, s, func(tx *store.Tx) error { return store.UserTypes().Insert(tx, &staff) })
	scopes := []string{schemas.TypeIdentifiers, ""}
	for round := range 20 {
		changed := make(chan error, 1)
		go func() { changed <- setScope(t, s, "Staff", scopes[round%2]) }()
		worker := newWorker(fmt.Sprint("worker", round), round, "")
		must(t, s.Apply(ctx, create(worker)))
		must(t, <-changed)
		wantEqual(t, "the user found", reply(s.UserByAttribute(ctx, "Staff", "username", worker.Text("username"))).get(t).ID, worker.ID)
	}
}
