package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// entered is a user who says to have an address.
func entered(username, email string) schemas.User {
	u := newUser(username)
	u.Attributes["email"] = email
	return u
}

func verify(u schemas.User) []schemas.Change {
	return []schemas.Change{schemas.VerifyEmail{UserID: u.ID, Email: u.Text("email"), At: u.UpdatedAt.Add(time.Minute)}}
}

// testUnverifiedEmail has users enter an address that another one owns: it identifies
// none of them, until one verifies it, who alone has it then.
func testUnverifiedEmail(t *testing.T, s *store.Store) {
	ctx := t.Context()
	mallory, victim, third := entered("mallory", "Victim@example.com"), entered("victim", "victim@EXAMPLE.com"), entered("third", "victim@example.com")
	for _, u := range []schemas.User{mallory, victim, third} {
		must(t, s.Apply(ctx, create(u)))
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

	must(t, s.Apply(ctx, verify(victim)))
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
		must(t, s.Apply(ctx, change(former.ID, map[string]any{"given_name": "M"})))
	}
	// No other user may enter it or use it as a username.
	wantError(t, s.Apply(ctx, create(entered("fourth", "victim@example.com"))), schemas.Conflict, schemas.CodeAttributeTaken)
	wantError(t, s.Apply(ctx, create(newUser("victim@example.com"))), schemas.Conflict, schemas.CodeAttributeTaken)
	wantError(t, s.Apply(ctx, change(mallory.ID, map[string]any{"email": "victim@example.com"})), schemas.Conflict, schemas.CodeAttributeTaken)
	must(t, s.Apply(ctx, verify(victim))) // once more changes nothing
	reply(s.User(ctx, victim.ID)).equals(t, "the owner", owner)
}

// testEmailStated has administrators, and sign-ups that verify before they store, claim
// addresses that others have entered.
func testEmailStated(t *testing.T, s *store.Store) {
	ctx := t.Context()
	squatter := entered("squatter", "owner@example.com")
	must(t, s.Apply(ctx, create(squatter)))
	owner := entered("owner", "owner@example.com")
	owner.Attributes["email_verified"] = true
	update(t, s, func(tx *store.Tx) error { return store.Users().Insert(tx, &owner) })
	got := reply(s.User(ctx, squatter.ID)).get(t)
	wantEqual(t, "the address of the squatter", got.Text("email"), "")

	// The owner takes another one: the first is free, and the second not verified.
	must(t, s.Apply(ctx, change(owner.ID, map[string]any{"email": "new@example.com"})))
	for _, address := range []string{"owner@example.com", "new@example.com"} {
		reply(s.UserByAttribute(ctx, "", "email", address)).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
	}
	wantError(t, s.Apply(ctx, verify(owner)), schemas.Conflict, schemas.CodeInvalidCode) // of the first address
	must(t, s.Apply(ctx, create(entered("heir", "owner@example.com"))))

	// An unverified address does not block a username, and its owner is the user with that username.
	must(t, s.Apply(ctx, create(newUser("new@example.com"))))
	got = reply(s.User(ctx, owner.ID)).get(t)
	wantEqual(t, "the address of who did not verify it", got.Text("email"), "")
	// One's own username may be one's address.
	self := entered("self@example.com", "self@example.com")
	must(t, s.Apply(ctx, create(self)))
	reply(s.UserByAttribute(ctx, "", "email", "self@example.com")).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
	wantEqual(t, "who is found by the username", reply(s.UserByAttribute(ctx, "", "username", "self@example.com")).get(t).ID, self.ID)
	must(t, s.Apply(ctx, verify(self)))
	reply(s.UserByAttribute(ctx, "", "email", "self@example.com")).get(t)
}

// testEmailRace lets users verify one address at once, while they change it and others enter it
// too: in the end one user has it, verified.
func testEmailRace(t *testing.T, s *store.Store) {
	const rounds, contenders = 8, 8
	for round := range rounds {
		address := fmt.Sprintf("race%d@example.com", round)
		users := make([]schemas.User, contenders)
		for i := range users {
			users[i] = entered(fmt.Sprintf("racer%d-%d", round, i), address)
			if i < contenders/2 {
				must(t, s.Apply(t.Context(), create(users[i])))
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
				err = s.Apply(t.Context(), change(users[0].ID, map[string]any{"given_name": "R"}))
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
