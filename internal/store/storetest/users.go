package storetest

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func testUserRoundTrip(t *testing.T, s RunStore) {
	reply(s.User(t.Context(), schemas.NewID())).fails(t, schemas.NotFound, schemas.CodeUserNotFound)

	u := verifiedUser("ann", "ann@example.com")
	u.Attributes["address"] = map[string]any{"city": "Zürich\n", "floor": 3.5}
	u.Attributes["tags"] = []any{"a", true, nil}
	apply(t, s, create(u)...)
	reply(s.User(t.Context(), u.ID)).equals(t, "the user", &u)

	for attribute, value := range map[string]string{"username": "ann", "email": "ann@example.com"} {
		reply(s.UserByAttribute(t.Context(), "", attribute, value)).equals(t, "the user found by "+attribute, &u)
	}
	// A username and an email address are different identifiers.
	reply(s.UserByAttribute(t.Context(), "", "username", "ann@example.com")).fails(t, schemas.NotFound, schemas.CodeUserNotFound)

	// A user without a username can be found only by id.
	created(t, s, "")
	created(t, s, "")
	reply(s.UserByAttribute(t.Context(), "", "username", "")).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
}

// wantTaken creates a user with values that other users have, and compares the reported attributes.
func wantTaken(t *testing.T, s RunStore, u schemas.User, attributes ...string) {
	t.Helper()
	wantTakenError(t, s.Apply(t.Context(), create(u)), attributes...)
}

func wantTakenError(t *testing.T, err error, attributes ...string) {
	t.Helper()
	wantError(t, err, schemas.Conflict, schemas.CodeAttributeTaken)
	var paths []string
	for _, p := range schemas.AsError(err).Errors {
		paths = append(paths, p.Path)
	}
	wantEqual(t, "the reported attributes", paths, attributes)
}

func testIdentifiers(t *testing.T, s RunStore) {
	u := verifiedUser("Ann.Smith", "Ann@Example.com")
	apply(t, s, create(u)...)
	for _, name := range []string{"ann.smith", "ANN.SMITH", "Ann.Smith"} {
		wantEqual(t, "the id of "+name, reply(s.UserByAttribute(t.Context(), "", "username", name)).get(t).ID, u.ID)
		wantTaken(t, s, newUser(name), "username")
	}
	wantTaken(t, s, verifiedUser("bob", "ANN@EXAMPLE.COM"), "email")
	apply(t, s, create(newUser("Bob"))...) // the rejected write has not stored the name
}

// testOneValueOneUser signs up a user with another user's address as the username, which would
// identify the wrong user.
func testOneValueOneUser(t *testing.T, s RunStore) {
	named := verifiedUser("ann@corp.example", "Ann@Corp.example") // the same twice is fine
	apply(t, s, append(create(verifiedUser("victim", "Victim@Corp.Example")), create(named)...)...)
	wantTaken(t, s, newUser("victim@corp.example"), "username")
	wantTaken(t, s, verifiedUser("victim@corp.example", "VICTIM@corp.example"), "username", "email")
	wantTaken(t, s, verifiedUser("victim@ｃorp.example", "mixed@corp.example"), "username")
	wantTaken(t, s, verifiedUser("bob", "ann@CORP.example"), "email")

	reply(s.UserByAttribute(t.Context(), "", "username", "victim@corp.example")).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
	for _, attribute := range schemas.IdentifyingAttributes() {
		wantEqual(t, "the id found by "+attribute, reply(s.UserByAttribute(t.Context(), "", attribute, "ANN@corp.example")).get(t).ID, named.ID)
	}
	apply(t, s, create(verifiedUser("bob", "mixed@corp.example"))...) // the rejected write has not stored the name
}

// testUserRaces concurrently creates users with one value: a name in several spellings, or a
// username that equals the email address of another user, and the reverse.
func testUserRaces(wanted func(round int) []schemas.User) func(*testing.T, RunStore) {
	return func(t *testing.T, s RunStore) {
		for round := range 20 {
			users := wanted(round)
			winner := oneWins(t, len(users), schemas.CodeAttributeTaken, func(i int) error {
				return s.Commit(t.Context(), newRun(), create(users[i]))
			})
			wantOnly(t, s, users, winner)
		}
	}
}

func usersOfOneValue(round int) (users []schemas.User) {
	x, y := fmt.Sprintf("x%d@y.example", round), fmt.Sprintf("y%d@x.example", round)
	for range 2 {
		users = append(users, newUser(x), verifiedUser("", x), verifiedUser(x, y), verifiedUser(y, x))
	}
	return users
}

func usersOfOneName(round int) (users []schemas.User) {
	for range 4 {
		for _, spelling := range []string{"racer%d", "Racer%d", "RACER%d", "rAcEr%d"} {
			users = append(users, newUser(fmt.Sprintf(spelling, round)))
		}
	}
	return users
}

// testUnfitIdentifiers tries names that look like another user's, or that cannot be stored.
func testUnfitIdentifiers(t *testing.T, s RunStore) {
	apply(t, s, create(newUser("ann"))...)
	for _, name := range []string{" ", "Ann Smith", "ann\u200b", "аnn", "\u202enna", "a\x00", "\xff", strings.Repeat("ä", schemas.MaxIdentifierBytes)} {
		u := newUser(name)
		u.Attributes["email"] = "not an address"
		err := s.Apply(t.Context(), create(u))
		wantError(t, err, schemas.Invalid, schemas.CodeInvalidRequest)
		wantEqual(t, "the problems", schemas.AsError(err).Errors, u.CheckIdentifiers())
		wantEqual(t, "the number of problems", len(u.CheckIdentifiers()), 2)
		reply(s.User(t.Context(), u.ID)).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
		reply(s.UserByAttribute(t.Context(), "", "username", name)).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
	}
	// Ornamental letters equal their plain letters.
	got := reply(s.UserByAttribute(t.Context(), "", "username", "𝐀𝐧𝐧")).get(t)
	wantEqual(t, "the name", got.Text("username"), "ann")
}

func testPasswords(t *testing.T, s RunStore) {
	u := newUser("ann")
	apply(t, s, append(create(u), schemas.SetPassword{UserID: u.ID, Hash: "$argon2id$1", At: noon()})...)
	apply(t, s, schemas.SetPassword{UserID: u.ID, ID: "second", Hash: "$argon2id$2", At: noon(), AddedBy: weakSignIn()})
	reply(s.Password(t.Context(), u.ID)).equals(t, "the password", schemas.Password{ID: "second", Hash: "$argon2id$2", AddedBy: weakSignIn()})
	wantEqual(t, "the hash of an unknown user", reply(s.Password(t.Context(), schemas.NewID())).get(t).Hash, "")
}

// An address is verified that the user still has, and nothing else of the user
// changes.
func testVerifyEmail(t *testing.T, s *store.Store) {
	u := newUser("ann")
	u.Attributes["email"] = "Ann@example.com"
	apply(t, s, create(u)...)
	at := u.UpdatedAt.Add(time.Minute)
	verify := func(userID, email string) error {
		return s.Apply(t.Context(), []schemas.Change{schemas.VerifyEmail{UserID: userID, Email: email, At: at}})
	}
	wantError(t, verify(u.ID, "former@example.com"), schemas.Conflict, schemas.CodeInvalidCode)
	wantError(t, verify(schemas.NewID(), "ann@example.com"), schemas.Conflict, schemas.CodeInvalidCode)
	reply(s.User(t.Context(), u.ID)).equals(t, "the user who has another address", &u)

	must(t, verify(u.ID, "ann@EXAMPLE.com"))
	want := u
	want.Attributes, want.UpdatedAt = maps.Clone(u.Attributes), at
	want.Attributes["email_verified"] = true
	reply(s.UserByAttribute(t.Context(), "", "email", "ann@example.com")).equals(t, "the user", &want)
}

// deactivated are the states of a user who is not active at noon.
func deactivated() map[string]func(u *schemas.User) {
	return map[string]func(u *schemas.User){
		schemas.CodeAccountDisabled: func(u *schemas.User) { u.Status = schemas.UserDisabled },
		schemas.CodeAccountLocked:   func(u *schemas.User) { u.LockedUntil = noon().Add(time.Hour) },
	}
}

// For a disabled or locked user, no commit that depends on an authentication succeeds, and no
// session starts.
func testInactiveUser(t *testing.T, s *store.Store) {
	h := newHolder(t, s)
	replace := func(set func(u *schemas.User)) {
		t.Helper()
		update(t, s, func(tx *store.Tx) error {
			u := reply(store.Users().Get(t.Context(), tx, h.user.ID)).get(t)
			u.Status, u.LockedUntil = "", time.Time{}
			set(u)
			return store.Users().Replace(tx, u, u.UpdatedAt)
		})
	}
	session := func(at time.Time) []schemas.Change { return start(newSignIn(h.user.ID, at)) }
	for code, set := range deactivated() {
		replace(set)
		for _, p := range h.proofs {
			wantError(t, s.Apply(t.Context(), h.require(p)), schemas.Forbidden, code)
			wantError(t, s.Commit(t.Context(), newRun(), h.require(p)), schemas.Forbidden, code)
		}
		wantError(t, s.Apply(t.Context(), session(noon())), schemas.Forbidden, code)
		found := reply(s.User(t.Context(), h.user.ID)).get(t)
		if got := found.CheckActive(noon()); got == nil || got.Code != code {
			t.Errorf("the user is read as %+v", found)
		}
		replace(func(*schemas.User) {})
		apply(t, s, h.require(h.proofs[schemas.PasswordProof])...)
		apply(t, s, session(noon())...)
	}
	// A lock ends by itself, and not before.
	replace(deactivated()[schemas.CodeAccountLocked])
	end := noon().Add(time.Hour)
	wantError(t, s.Apply(t.Context(), session(end.Add(-time.Microsecond))), schemas.Forbidden, schemas.CodeAccountLocked)
	apply(t, s, session(end)...)
}

// EndAccess ends all sessions of the user, including the acting one, with their tokens, and all
// runs except the one that ends the access. It changes nothing of other users.
func testEndAccess(t *testing.T, s *store.Store) {
	ctx, a, bob := t.Context(), newAuthorizing(t, s), created(t, s, "bob")
	theirs, expired := newSignIn(bob.ID, noon()), newSignIn(a.user.ID, noon().Add(-2*time.Hour))
	apply(t, s, start(theirs, expired)...)
	live := reply(store.SessionsOf(ctx, s, a.user.ID, noon())).get(t)
	commitEnd(t, a, schemas.RequireProofs{UserID: a.user.ID, Proofs: []schemas.Proof{{Kind: schemas.SessionProof, Of: live[0].ID}}, At: noon()},
		schemas.EndAccess{UserID: a.user.ID, Reason: "account_disabled", At: noon()})
	reply(store.SessionsOf(ctx, s, a.user.ID, noon().Add(-24*time.Hour))).equals(t, "the sessions that are left", nil)
	reply(store.SessionsOf(ctx, s, bob.ID, noon())).equals(t, "the sessions of another", []schemas.Session{theirs})
	events := reply(s.Events(ctx, schemas.EventQuery{UserID: a.user.ID, Action: "session.ended", Limit: 10})).get(t)
	wantEqual(t, "how many ends are recorded", len(events), len(live)+1) // and the expired one
	for _, e := range events {
		wantEqual(t, "the reason", e.Detail["reason"], "account_disabled")
	}
	wantError(t, s.Apply(ctx, []schemas.Change{schemas.EndAccess{UserID: schemas.NewID(), At: noon()}}), schemas.NotFound, schemas.CodeUserNotFound)
}
