package storetest

import (
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func testUserRoundTrip(t *testing.T, s RunStore) {
	ctx := t.Context()
	reply(s.User(ctx, schemas.NewID())).fails(t, schemas.NotFound, schemas.CodeUserNotFound)

	u := newUser("ann")
	u.Attributes["email"], u.Attributes["email_verified"] = "ann@example.com", true
	u.Attributes["address"] = map[string]any{"city": "Zürich\n", "floor": 3.5}
	u.Attributes["tags"] = []any{"a", true, nil}
	must(t, s.Apply(ctx, create(u)))
	reply(s.User(ctx, u.ID)).equals(t, "the user", &u)

	for attribute, value := range map[string]string{"username": "ann", "email": "ann@example.com"} {
		reply(s.UserByAttribute(ctx, "", attribute, value)).equals(t, "the user found by "+attribute, &u)
	}
	// A username and an email are two things.
	reply(s.UserByAttribute(ctx, "", "username", "ann@example.com")).fails(t, schemas.NotFound, schemas.CodeUserNotFound)

	// A user without a name is found by id only.
	nobody := newUser("")
	must(t, s.Apply(ctx, create(nobody)))
	must(t, s.Apply(ctx, create(newUser(""))))
	reply(s.UserByAttribute(ctx, "", "username", "")).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
}

func testIdentifiers(t *testing.T, s RunStore) {
	ctx := t.Context()
	u := newUser("Ann.Smith")
	u.Attributes["email"], u.Attributes["email_verified"] = "Ann@Example.com", true
	must(t, s.Apply(ctx, create(u)))

	for _, name := range []string{"ann.smith", "ANN.SMITH", "Ann.Smith"} {
		wantEqual(t, "the id of "+name, reply(s.UserByAttribute(ctx, "", "username", name)).get(t).ID, u.ID)
		err := s.Apply(ctx, create(newUser(name)))
		wantError(t, err, schemas.Conflict, schemas.CodeAttributeTaken)
		if problems := schemas.AsError(err).Errors; len(problems) != 1 || problems[0].Path != "username" {
			t.Fatalf("problems %v, expected one at username", problems)
		}
	}
	clash := newUser("somebody")
	clash.Attributes["email"], clash.Attributes["email_verified"] = "ANN@EXAMPLE.COM", true
	err := s.Apply(ctx, create(clash))
	wantError(t, err, schemas.Conflict, schemas.CodeAttributeTaken)
	wantEqual(t, "the attribute", schemas.AsError(err).Errors[0].Path, "email")
	// The name that came with the taken address was not kept.
	must(t, s.Apply(ctx, create(newUser("Somebody"))))
}

// testOneValueOneUser signs up a user with another user's address as the username, which would
// identify the wrong user.
func testOneValueOneUser(t *testing.T, s RunStore) {
	ctx := t.Context()
	victim := newUser("victim")
	victim.Attributes["email"], victim.Attributes["email_verified"] = "Victim@Corp.Example", true
	must(t, s.Apply(ctx, create(victim)))
	named := newUser("ann@corp.example")
	named.Attributes["email"], named.Attributes["email_verified"] = "Ann@Corp.example", true // the same twice is fine
	must(t, s.Apply(ctx, create(named)))

	both := newUser("victim@corp.example")
	both.Attributes["email"], both.Attributes["email_verified"] = "VICTIM@corp.example", true
	mixed := newUser("victim@ｃorp.example")
	mixed.Attributes["email"], mixed.Attributes["email_verified"] = "mixed@corp.example", true
	addressed := newUser("somebody")
	addressed.Attributes["email"], addressed.Attributes["email_verified"] = "ann@CORP.example", true
	for _, test := range []struct {
		user  schemas.User
		paths []string
	}{
		{newUser("victim@corp.example"), []string{"username"}},
		{both, []string{"username", "email"}},
		{mixed, []string{"username"}},
		{addressed, []string{"email"}},
	} {
		err := s.Apply(ctx, create(test.user))
		wantError(t, err, schemas.Conflict, schemas.CodeAttributeTaken)
		var paths []string
		for _, p := range schemas.AsError(err).Errors {
			paths = append(paths, p.Path)
		}
		wantEqual(t, "the reported attributes", paths, test.paths)
	}

	reply(s.UserByAttribute(ctx, "", "username", "victim@corp.example")).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
	for _, attribute := range schemas.IdentifyingAttributes() {
		wantEqual(t, "the id found by "+attribute, reply(s.UserByAttribute(ctx, "", attribute, "ANN@corp.example")).get(t).ID, named.ID)
	}
	// What was refused has claimed nothing.
	free := newUser("somebody")
	free.Attributes["email"], free.Attributes["email_verified"] = "mixed@corp.example", true
	must(t, s.Apply(ctx, create(free)))
}

// testValueRace has users created at once whose username is another's email, and
// whose two values are another's the other way round.
func testValueRace(t *testing.T, s RunStore) {
	const rounds, contenders = 20, 8
	for round := range rounds {
		x, y := fmt.Sprintf("x%d@y.example", round), fmt.Sprintf("y%d@x.example", round)
		var users [contenders]schemas.User
		var won atomic.Int32
		winner := -1
		together(contenders, func(i int) {
			switch i % 4 {
			case 0:
				users[i] = newUser(x)
			case 1:
				users[i] = newUser("")
				users[i].Attributes["email"], users[i].Attributes["email_verified"] = x, true
			case 2:
				users[i] = newUser(x)
				users[i].Attributes["email"], users[i].Attributes["email_verified"] = y, true
			case 3:
				users[i] = newUser(y)
				users[i].Attributes["email"], users[i].Attributes["email_verified"] = x, true
			}
			err := s.Commit(t.Context(), newRun(), create(users[i]))
			if err == nil {
				won.Add(1)
				winner = i
			} else if !schemas.HasCode(err, schemas.CodeAttributeTaken) {
				t.Errorf("%v, expected %s", err, schemas.CodeAttributeTaken)
			}
		})
		if won.Load() != 1 || t.Failed() {
			t.Fatalf("%d users have one value, expected 1", won.Load())
		}
		wantOnly(t, s, users[:], winner)
	}
}

// testUnfitIdentifiers has names that pass for another's or cannot be kept.
func testUnfitIdentifiers(t *testing.T, s RunStore) {
	ctx := t.Context()
	must(t, s.Apply(ctx, create(newUser("ann"))))
	for _, name := range []string{" ", "Ann Smith", "ann\u200b", "аnn", "\u202enna", "a\x00", "\xff", strings.Repeat("ä", schemas.MaxIdentifierBytes)} {
		u := newUser(name)
		u.Attributes["email"] = "not an address"
		err := s.Apply(ctx, create(u))
		wantError(t, err, schemas.Invalid, schemas.CodeInvalidRequest)
		wantEqual(t, "the problems", schemas.AsError(err).Errors, u.CheckIdentifiers())
		wantEqual(t, "the number of problems", len(u.CheckIdentifiers()), 2)
		reply(s.User(ctx, u.ID)).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
		reply(s.UserByAttribute(ctx, "", "username", name)).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
	}
	// Ornamental letters are those they adorn.
	got := reply(s.UserByAttribute(ctx, "", "username", "𝐀𝐧𝐧")).get(t)
	wantEqual(t, "the name", got.Text("username"), "ann")
}

func testIdentifierRace(t *testing.T, s RunStore) {
	const rounds, contenders = 20, 16
	spellings := []string{"racer%d", "Racer%d", "RACER%d", "rAcEr%d"}
	for round := range rounds {
		var users [contenders]schemas.User
		var won atomic.Int32
		winner := -1
		together(contenders, func(i int) {
			users[i] = newUser(fmt.Sprintf(spellings[i%len(spellings)], round))
			err := s.Commit(t.Context(), newRun(), create(users[i]))
			if err == nil {
				won.Add(1)
				winner = i
			} else if !schemas.HasCode(err, schemas.CodeAttributeTaken) {
				t.Errorf("%v, expected %s", err, schemas.CodeAttributeTaken)
			}
		})
		if won.Load() != 1 || t.Failed() {
			t.Fatalf("%d users were created with one name, expected 1", won.Load())
		}
		wantOnly(t, s, users[:], winner)
	}
}

func testPasswords(t *testing.T, s RunStore) {
	ctx := t.Context()
	u := newUser("ann")
	must(t, s.Apply(ctx, append(create(u), schemas.SetPassword{UserID: u.ID, Hash: "$argon2id$1", At: noon()})))
	must(t, s.Apply(ctx, []schemas.Change{schemas.SetPassword{UserID: u.ID, ID: "second", Hash: "$argon2id$2", At: noon(), AddedBy: weakSignIn()}}))
	reply(s.Password(ctx, u.ID)).equals(t, "the password", schemas.Password{ID: "second", Hash: "$argon2id$2", AddedBy: weakSignIn()})
	wantEqual(t, "the hash of an unknown user", reply(s.Password(ctx, schemas.NewID())).get(t).Hash, "")
}

// An address is verified that the user still has, and nothing else of the user
// changes.
func testVerifyEmail(t *testing.T, s *store.Store) {
	ctx := t.Context()
	u := newUser("ann")
	u.Attributes["email"] = "Ann@example.com"
	must(t, s.Apply(ctx, create(u)))
	at := u.UpdatedAt.Add(time.Minute)
	verify := func(userID, email string) error {
		return s.Apply(ctx, []schemas.Change{schemas.VerifyEmail{UserID: userID, Email: email, At: at}})
	}
	wantError(t, verify(u.ID, "former@example.com"), schemas.Conflict, schemas.CodeInvalidCode)
	wantError(t, verify(schemas.NewID(), "ann@example.com"), schemas.Conflict, schemas.CodeInvalidCode)
	reply(s.User(ctx, u.ID)).equals(t, "the user who has another address", &u)

	must(t, verify(u.ID, "ann@EXAMPLE.com"))
	want := u
	want.Attributes, want.UpdatedAt = maps.Clone(u.Attributes), at
	want.Attributes["email_verified"] = true
	reply(s.UserByAttribute(ctx, "", "email", "ann@example.com")).equals(t, "the user", &want)
}
