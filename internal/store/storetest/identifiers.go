package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// newStaff returns a user type with two unique attributes.
func newStaff() schemas.UserType {
	staff := newUserType("Staff")
	staff.Schema = json.RawMessage(`{"type":"object","properties":{
		"username":{"type":"string","x-unique":true},"badge":{"x-unique":true},"phone":{"type":"string","x-unique":true},"desk's (?)":{"x-unique":true},"floor":{}}}`)
	return staff
}

func newWorker(username string, badge any, phone string) schemas.User {
	u := newUser(username)
	u.Type = "Staff"
	u.Attributes["badge"], u.Attributes["phone"], u.Attributes["floor"] = badge, phone, 3
	return u
}

// testUniqueAttributes checks the unique attributes of a user type, for users that flows create and
// for users that administrators create.
func testUniqueAttributes(t *testing.T, s *store.Store) {
	ctx, staff := t.Context(), newStaff()
	insert(t, s, &staff)
	insert := func(u schemas.User) error {
		return s.Update(ctx, func(tx *store.Tx) error { return store.Users().Insert(tx, &u) })
	}
	ann := newWorker("ann", 7.5, "+41 1")
	apply(t, s, create(ann)...)
	for _, test := range []struct {
		user  schemas.User
		taken []string
	}{
		{newWorker("bob", 7.5, "+41 2"), []string{"badge"}},
		{newWorker("bob", 8, " +41 1 "), []string{"phone"}},
		{newWorker("ANN", 7.5, "+41 1"), []string{"username", "badge", "phone"}},
	} {
		for _, err := range []error{insert(test.user), s.Apply(ctx, create(test.user))} {
			wantTakenError(t, err, test.taken...)
		}
		wantObstacles(t, s, test.taken, test.user)
	}
	first, second := newWorker("imp", 10, "+41 10"), newWorker("kim", 11, "+41 11")
	first.Attributes["desk's (?)"], second.Attributes["desk's (?)"] = 3, 3
	wantObstacles(t, s, []string{"desk's (?)"}, first, second)
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

// wantObstacles expects that the attributes of the last user are taken, for an import that is undone.
func wantObstacles(t *testing.T, s *store.Store, taken []string, users ...schemas.User) {
	t.Helper()
	var list []store.NewUser
	for _, u := range users {
		list = append(list, store.NewUser{User: u, Event: schemas.Event{ID: schemas.NewID(), At: noon(), Action: "user.imported", UserID: u.ID}})
	}
	undo := errors.New("undone")
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		found, err := store.ImportUsers(tx, list)
		if err == nil {
			wantEqual(t, "the taken attributes", slices.Sorted(slices.Values(found[len(found)-1].Taken)), slices.Sorted(slices.Values(taken)))
			err = undo
		}
		return err
	})
	if !errors.Is(err, undo) {
		t.Error(err)
	}
}

// testReclaim makes an attribute unique that users already have.
func testReclaim(t *testing.T, s *store.Store) {
	ctx, staff := t.Context(), newStaff()
	unique := staff.Schema
	staff.Schema = json.RawMessage(`{}`)
	ann, bob := newWorker("ann", 1, ""), newWorker("bob", 1, "")
	insert(t, s, &staff, &ann, &bob)
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

// testUniqueRace claims one value many times concurrently, in flows and by administrators.
func testUniqueRace(t *testing.T, s *store.Store) {
	const rounds, contenders = 10, 8
	staff := newStaff()
	insert(t, s, &staff)
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
	return s.Update(t.Context(), func(tx *store.Tx) error {
		staff, err := store.UserTypes().Find(t.Context(), tx, "name", name)
		if err != nil {
			return err
		}
		was := staff.UpdatedAt
		staff.IdentifierScope, staff.UpdatedAt = scope, was.Add(time.Second)
		if err := store.UserTypes().Replace(tx, staff, was); err != nil {
			return err
		}
		users, err := store.Users().List(t.Context(), tx, store.Page{Limit: 100, Member: "type", Value: name})
		for i := 0; err == nil && i < len(users); i++ {
			err = store.ReindexUser(tx, &users[i])
		}
		return err
	})
}

// testIdentifierScopes checks that users of two scopes can have the same values, and users of one
// scope cannot.
func testIdentifierScopes(t *testing.T, s *store.Store) {
	ctx, staff := t.Context(), newStaff()
	staff.IdentifierScope = schemas.TypeIdentifiers
	insert(t, s, &staff)
	person, worker := newUser("ann"), newWorker("ann", 1, "+41 1")
	apply(t, s, create(person)...)
	apply(t, s, create(worker)...)
	wantError(t, s.Apply(ctx, create(newWorker("ANN", 2, ""))), schemas.Conflict, schemas.CodeAttributeTaken)
	wantError(t, s.Apply(ctx, create(newWorker("bob", 1, ""))), schemas.Conflict, schemas.CodeAttributeTaken)
	for userType, id := range map[string]string{"": person.ID, "Person": person.ID, "Staff": worker.ID} {
		wantEqual(t, "the user in the scope of "+userType, reply(s.UserByAttribute(ctx, userType, "username", "Ann")).get(t).ID, id)
	}
	reply(s.UserByAttribute(ctx, "", "username", "Staff\x1fann")).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
	for _, name := range []string{"ann", "Staff"} {
		found := reply(store.Users().List(ctx, s, store.Page{Member: "username", Value: name, Limit: 9, Prefix: true})).get(t)
		wantEqual(t, "the users by the prefix "+name, len(found), map[string]int{"ann": 2}[name])
	}
	wantError(t, setScope(t, s, "Staff", ""), schemas.Conflict, schemas.CodeAttributeTaken)
	wantEqual(t, "the user after a rejected change", reply(s.UserByAttribute(ctx, "Staff", "username", "ann")).get(t).ID, worker.ID)
}

// testScopeRace changes the scope of a type while a user of it is created: the user is found afterwards.
func testScopeRace(t *testing.T, s *store.Store) {
	staff := newStaff()
	insert(t, s, &staff)
	scopes := []string{schemas.TypeIdentifiers, ""}
	for round := range 20 {
		changed := make(chan error, 1)
		go func() { changed <- setScope(t, s, "Staff", scopes[round%2]) }()
		worker := newWorker(fmt.Sprint("worker", round), round, "")
		apply(t, s, create(worker)...)
		must(t, <-changed)
		wantEqual(t, "the user found", reply(s.UserByAttribute(t.Context(), "Staff", "username", worker.Text("username"))).get(t).ID, worker.ID)
	}
}

// entered is a user with an unverified address.
func entered(username, email string) schemas.User {
	u := newUser(username)
	u.Attributes["email"] = email
	return u
}

func verify(u schemas.User) []schemas.Change {
	return []schemas.Change{schemas.VerifyEmail{UserID: u.ID, Email: u.Text("email"), At: u.UpdatedAt.Add(time.Minute)}}
}

// testUnverifiedEmail enters an address of another user. It identifies none of the users until one
// verifies it; then only that user has it.
func testUnverifiedEmail(t *testing.T, s *store.Store) {
	ctx := t.Context()
	mallory, victim, third := entered("mallory", "Victim@example.com"), entered("victim", "victim@EXAMPLE.com"), entered("third", "victim@example.com")
	for _, u := range []schemas.User{mallory, victim, third} {
		apply(t, s, create(u)...)
	}
	reply(s.UserByAttribute(ctx, "", "email", "victim@example.com")).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
	listed := func() (names []string) {
		found := reply(store.Users().List(ctx, s, store.Page{Member: "email", Value: "VICTIM@example.com", Limit: 2})).get(t)
		n := reply(store.Users().Count(ctx, s, store.Page{Member: "email", Value: "VICTIM@example.com"})).get(t)
		for _, u := range found {
			names = append(names, u.Text("username"))
		}
		return append(names, fmt.Sprint(n))
	}
	wantEqual(t, "a page of who has the address, and their number", listed(), []string{"mallory", "victim", "3"})

	apply(t, s, verify(victim)...)
	owner := reply(s.UserByAttribute(ctx, "", "email", "victim@example.com")).get(t)
	wantEqual(t, "the owner of the address", owner.ID, victim.ID)
	wantEqual(t, "who has the address", listed(), []string{"victim", "1"})
	for _, former := range []schemas.User{mallory, third} {
		got := reply(s.User(ctx, former.ID)).get(t)
		wantEqual(t, "the attributes of a former holder", got.Attributes, map[string]any{"username": former.Text("username"), "given_name": former.Text("given_name")})
		events := reply(s.Events(ctx, schemas.EventQuery{UserID: former.ID, Action: "email.lost", Limit: 10})).get(t)
		if len(events) != 1 || events[0].Detail["owner"] != victim.ID || len(events[0].Detail) != 1 {
			t.Fatalf("the events of a former holder: %+v", events)
		}
		wantError(t, s.Apply(ctx, verify(former)), schemas.Conflict, schemas.CodeInvalidCode)
		apply(t, s, change(former.ID, map[string]any{"given_name": "M"})...)
	}
	// No other user may enter it or use it as a username.
	wantError(t, s.Apply(ctx, create(entered("fourth", "victim@example.com"))), schemas.Conflict, schemas.CodeAttributeTaken)
	wantError(t, s.Apply(ctx, create(newUser("victim@example.com"))), schemas.Conflict, schemas.CodeAttributeTaken)
	wantError(t, s.Apply(ctx, authorized(change(mallory.ID, map[string]any{"email": "victim@example.com"}))), schemas.Conflict, schemas.CodeAttributeTaken)
	must(t, s.Apply(ctx, verify(victim))) // once more changes nothing
	reply(s.User(ctx, victim.ID)).equals(t, "the owner", owner)
}

// testPrefixes finds users by the start of a username or an address, as identifiers are compared.
func testPrefixes(t *testing.T, s *store.Store) {
	for _, u := range []schemas.User{
		verifiedUser("Ann", "ann@example.com"), verifiedUser("", "anna@example.com"), entered("anton", "Ann_b@example.com"),
		verifiedUser("anx@example.com", "anx@example.com"), newUser("bert"), newUser("a_n"), newUser("añb"),
	} {
		apply(t, s, create(u)...)
	}
	for _, test := range []struct{ member, prefix, want string }{
		{"username", "AN", "Ann anton anx@example.com"},
		{"username", " ann ", "Ann"},
		{"username", "ａn", "Ann anton anx@example.com"},
		{"username", "ann@", ""},
		{"username", "a_", "a_n"},
		{"username", "a%", ""},
		{"username", "an\U0010ffff", ""},
		{"username", "a", "a_n Ann anton anx@example.com añb"},
		{"email", "Ann", "ann@example.com Ann_b@example.com anna@example.com"},
		{"email", "anx@example.com", "anx@example.com"},
	} {
		p := store.Page{Member: test.member, Value: test.prefix, Limit: 10, Prefix: true}
		var found []string
		for _, u := range reply(store.Users().List(t.Context(), s, p)).get(t) {
			found = append(found, u.Text(test.member))
		}
		wantEqual(t, "the users whose "+test.member+" starts with "+test.prefix, strings.Join(found, " "), test.want)
		reply(store.Users().Count(t.Context(), s, p)).equals(t, "their number", len(found))
	}
	apply(t, s, change(reply(store.Users().Find(t.Context(), s, "username", "bert")).get(t).ID, map[string]any{"username": "robert"})...)
	reply(store.Users().Count(t.Context(), s, store.Page{Member: "username", Value: "bert", Prefix: true})).equals(t, "the users with the former name", 0)
}

// testEmailStated claims addresses that others have entered, by administrators and by sign-ups that
// verify before they store.
func testEmailStated(t *testing.T, s *store.Store) {
	squatter := entered("squatter", "owner@example.com")
	apply(t, s, create(squatter)...)
	owner := entered("owner", "owner@example.com")
	owner.Attributes["email_verified"] = true
	insert(t, s, &owner)
	got := reply(s.User(t.Context(), squatter.ID)).get(t)
	wantEqual(t, "the address of the squatter", got.Text("email"), "")

	// The owner changes the address: the first is free, and the second is not verified.
	apply(t, s, change(owner.ID, map[string]any{"email": "new@example.com"})...)
	for _, address := range []string{"owner@example.com", "new@example.com"} {
		reply(s.UserByAttribute(t.Context(), "", "email", address)).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
	}
	wantError(t, s.Apply(t.Context(), verify(owner)), schemas.Conflict, schemas.CodeInvalidCode) // of the first address
	apply(t, s, create(entered("heir", "owner@example.com"))...)

	// An unverified address does not block a username, and its owner is the user with that username.
	apply(t, s, create(newUser("new@example.com"))...)
	got = reply(s.User(t.Context(), owner.ID)).get(t)
	wantEqual(t, "the address of who did not verify it", got.Text("email"), "")
	// The username and the address of a user may be equal.
	self := entered("self@example.com", "self@example.com")
	apply(t, s, create(self)...)
	reply(s.UserByAttribute(t.Context(), "", "email", "self@example.com")).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
	wantEqual(t, "who is found by the username", reply(s.UserByAttribute(t.Context(), "", "username", "self@example.com")).get(t).ID, self.ID)
	apply(t, s, verify(self)...)
	reply(s.UserByAttribute(t.Context(), "", "email", "self@example.com")).get(t)
}

// testEmailRace verifies one address for several users concurrently, while they change it and
// others enter it: in the end one user has the verified address.
func testEmailRace(t *testing.T, s *store.Store) {
	const rounds, contenders = 8, 8
	for round := range rounds {
		address := fmt.Sprintf("race%d@example.com", round)
		users := make([]schemas.User, contenders)
		for i := range users {
			users[i] = entered(fmt.Sprintf("racer%d-%d", round, i), address)
			if i < contenders/2 {
				apply(t, s, create(users[i])...)
			}
		}
		var mu sync.Mutex
		won := 0
		together(contenders, func(i int) {
			var err error
			switch {
			case i >= contenders/2:
				err = s.Apply(t.Context(), create(users[i]))
			case i == 0:
				err = s.Apply(t.Context(), authorized(change(users[0].ID, map[string]any{"given_name": "R"})))
			default:
				if err = s.Apply(t.Context(), verify(users[i])); err == nil {
					mu.Lock()
					won++
					mu.Unlock()
				}
			}
			if err != nil && !schemas.HasCode(err, schemas.CodeInvalidCode) && !schemas.HasCode(err, schemas.CodeAttributeTaken) {
				t.Errorf("user %d: %v", i, err)
			}
		})
		wantEqual(t, "the number of users who have verified the address", won, 1)
		left := reply(store.Users().List(t.Context(), s, store.Page{Member: "email", Value: address, Limit: 10})).get(t)
		if len(left) != 1 || !left[0].Verified(schemas.EmailVerified) {
			t.Fatalf("the address is that of %+v", left)
		}
	}
}
