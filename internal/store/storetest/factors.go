package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func newTOTP(userID string) schemas.TOTP {
	return schemas.TOTP{UserID: userID, Secret: []byte{0, 1, 0xff}, LastStep: 100, CreatedAt: noon(), AddedBy: weakSignIn()}
}

func useStep(userID string, step int64) []schemas.Change {
	return []schemas.Change{schemas.UseTOTP{UserID: userID, Step: step, At: noon().Add(time.Minute)}}
}

func giveCodes(userID string, codes ...string) []schemas.Change {
	c := schemas.SetRecoveryCodes{UserID: userID, At: noon(), AddedBy: weakSignIn()}
	for _, code := range codes {
		c.Hashes = append(c.Hashes, schemas.HashSecret(code))
	}
	return []schemas.Change{c}
}

func useCode(userID, code string) []schemas.Change {
	return []schemas.Change{schemas.UseRecoveryCode{UserID: userID, Hash: schemas.HashSecret(code), At: noon()}}
}

// created makes a user.
func created(t *testing.T, s RunStore, name string) schemas.User {
	t.Helper()
	u := newUser(name)
	apply(t, s, create(u)...)
	return u
}

func testTOTP(t *testing.T, s RunStore) {
	ctx, ann, bob := t.Context(), created(t, s, "ann"), created(t, s, "bob")
	read := func(userID string) *schemas.TOTP {
		got := reply(s.TOTP(ctx, userID)).get(t)
		return got
	}
	for _, id := range []string{ann.ID, schemas.NewID(), "a\x00"} {
		if read(id) != nil {
			t.Fatalf("%q has an app", id)
		}
	}
	wantError(t, s.Apply(ctx, useStep(ann.ID, 101)), schemas.Conflict, schemas.CodeUsed)
	app := newTOTP(ann.ID)
	apply(t, s, schemas.SetTOTP{TOTP: app})
	apply(t, s, schemas.SetTOTP{TOTP: newTOTP(bob.ID)})
	wantEqual(t, "the app", read(ann.ID), &app)
	for _, step := range []int64{100, 99, 0} {
		wantError(t, s.Apply(ctx, useStep(ann.ID, step)), schemas.Conflict, schemas.CodeUsed)
	}
	apply(t, s, useStep(ann.ID, 101)...)
	used := noon().Add(time.Minute)
	app.LastStep, app.LastUsedAt = 101, &used
	wantEqual(t, "the app that was used", read(ann.ID), &app)
	wantEqual(t, "another's", read(bob.ID).LastStep, int64(100))

	other := schemas.TOTP{UserID: ann.ID, Secret: []byte("other"), LastStep: 7, CreatedAt: noon()}
	apply(t, s, schemas.SetTOTP{TOTP: other})
	wantEqual(t, "the app in its place", read(ann.ID), &other)
	for range 2 {
		apply(t, s, schemas.DeleteTOTP{UserID: ann.ID})
	}
	if read(ann.ID) != nil || read(bob.ID) == nil {
		t.Fatal("expected one of the two to be gone")
	}
}

// testTOTPRace uses one code concurrently in the last steps of many runs.
func testTOTPRace(t *testing.T, s RunStore) {
	ann := created(t, s, "ann")
	apply(t, s, schemas.SetTOTP{TOTP: newTOTP(ann.ID)})
	for step := range int64(10) {
		oneWins(t, 8, schemas.CodeUsed, func(int) error {
			return s.Commit(t.Context(), newRun(), useStep(ann.ID, 200+step))
		})
	}
}

func testRecoveryCodes(t *testing.T, s RunStore) {
	ctx, ann, bob := t.Context(), created(t, s, "ann"), created(t, s, "bob")
	has := func(userID, code string) bool {
		found := reply(s.RecoveryCode(ctx, userID, schemas.HashSecret(code))).get(t)
		if found != nil {
			wantEqual(t, "the provenance", found.AddedBy, weakSignIn())
		}
		return found != nil && !found.Used
	}
	count := func() *schemas.RecoveryCodes {
		got := reply(s.RecoveryCodes(ctx, ann.ID)).get(t)
		return got
	}
	if count() != nil || has("a\x00", "a") {
		t.Fatal("there are codes that were never issued")
	}
	apply(t, s, giveCodes(ann.ID, "a", "b", "c")...)
	must(t, s.Apply(ctx, authorized(giveCodes(bob.ID, "a")))) // by an unlikely chance
	wantEqual(t, "the codes", count(), &schemas.RecoveryCodes{Total: 3, Left: 3, CreatedAt: noon(), AddedBy: weakSignIn()})
	wantError(t, s.Apply(ctx, useCode(ann.ID, "d")), schemas.Conflict, schemas.CodeUsed)
	apply(t, s, useCode(ann.ID, "a")...)
	wantError(t, s.Apply(ctx, useCode(ann.ID, "a")), schemas.Conflict, schemas.CodeUsed)
	wantEqual(t, "the codes", count(), &schemas.RecoveryCodes{Total: 3, Left: 2, CreatedAt: noon(), AddedBy: weakSignIn()})
	if has(ann.ID, "a") || !has(ann.ID, "b") || !has(bob.ID, "a") {
		t.Fatal("expected one code of one user to be used")
	}
	apply(t, s, giveCodes(ann.ID, "d")...)
	wantError(t, s.Apply(ctx, useCode(ann.ID, "b")), schemas.Conflict, schemas.CodeUsed)
	wantEqual(t, "the new codes", count(), &schemas.RecoveryCodes{Total: 1, Left: 1, CreatedAt: noon(), AddedBy: weakSignIn()})
	for range 2 {
		apply(t, s, schemas.DeleteRecoveryCodes{UserID: ann.ID})
	}
	if count() != nil || has(ann.ID, "d") || !has(bob.ID, "a") {
		t.Fatal("expected the codes of one user to be gone")
	}
}

func testRecoveryCodeRace(t *testing.T, s RunStore) {
	ann := created(t, s, "ann")
	apply(t, s, giveCodes(ann.ID, "0", "1", "2", "3")...)
	for i := range 4 {
		oneWins(t, 8, schemas.CodeUsed, func(int) error {
			return s.Commit(t.Context(), newRun(), useCode(ann.ID, fmt.Sprint(i)))
		})
	}
}

func testRecoveryCodeSets(t *testing.T, s *store.Store) {
	ann := created(t, s, "ann")
	for range 5 {
		together(4, func(i int) {
			check(t, s.Apply(t.Context(), authorized(giveCodes(ann.ID, fmt.Sprint("a", i), fmt.Sprint("b", i)))))
		})
		wantEqual(t, "how many codes there are", reply(s.RecoveryCodes(t.Context(), ann.ID)).get(t).Total, 2)
	}
}

func testFactorsGo(t *testing.T, s *store.Store) {
	ctx, ann := t.Context(), created(t, s, "ann")
	apply(t, s, append(giveCodes(ann.ID, "a"), schemas.SetTOTP{TOTP: newTOTP(ann.ID)})...)
	update(t, s, func(tx *store.Tx) error {
		app := reply(store.TOTPOf(ctx, tx, ann.ID)).get(t)
		codes := reply(store.RecoveryCodesOf(ctx, tx, ann.ID)).get(t)
		if app == nil || app.LastStep != 100 || codes == nil || codes.Left != 1 {
			t.Fatalf("in a transaction they are %+v, %+v", app, codes)
		}
		return store.Users().Delete(tx, ann.ID, ann.UpdatedAt)
	})
	app := reply(s.TOTP(ctx, ann.ID)).get(t)
	codes := reply(s.RecoveryCodes(ctx, ann.ID)).get(t)
	if app != nil || codes != nil {
		t.Fatalf("of a user who is gone there are %+v, %+v", app, codes)
	}
}

func change(userID string, attributes map[string]any) []schemas.Change {
	return []schemas.Change{schemas.UpdateUser{UserID: userID, Attributes: attributes, At: noon()}}
}

func testUpdateUser(t *testing.T, s RunStore) {
	ctx, ann, bob := t.Context(), created(t, s, "ann"), created(t, s, "bob")
	apply(t, s, change(ann.ID, map[string]any{"given_name": "Anne", "email": "ann@example.com", "email_verified": true})...)
	apply(t, s, change(ann.ID, map[string]any{"family_name": "Smith", "username": "anne"})...)
	got := reply(s.User(ctx, ann.ID)).get(t)
	wantEqual(t, "the attributes", got.Attributes,
		map[string]any{"username": "anne", "given_name": "Anne", "family_name": "Smith", "email": "ann@example.com", "email_verified": true})
	if !got.UpdatedAt.After(ann.UpdatedAt) {
		t.Fatalf("changed at %v, expected after %v: who has read it before must see that", got.UpdatedAt, ann.UpdatedAt)
	}
	reply(s.UserByAttribute(ctx, "", "username", "ann")).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
	for attribute, value := range map[string]string{"username": "anne", "email": "ann@example.com"} {
		wantEqual(t, "who is found by "+value, reply(s.UserByAttribute(ctx, "", attribute, value)).get(t).ID, ann.ID)
	}
	wantError(t, s.Apply(ctx, authorized(change(bob.ID, map[string]any{"username": "ANN@example.com"}))), schemas.Conflict, schemas.CodeAttributeTaken)
	wantError(t, s.Apply(ctx, authorized(change(bob.ID, map[string]any{"username": "a\x00b"}))), schemas.Invalid, schemas.CodeInvalidRequest)
	must(t, s.Apply(ctx, authorized(change(bob.ID, map[string]any{"username": "ann"})))) // it is free now
}

func testUpdateUserRace(t *testing.T, s RunStore) {
	for round := range 5 {
		name := fmt.Sprintf("wanted%d", round)
		users := make([]schemas.User, 6)
		for i := range users {
			users[i] = created(t, s, fmt.Sprintf("u%d-%d", round, i))
		}
		oneWins(t, len(users), schemas.CodeAttributeTaken, func(i int) error {
			return s.Apply(t.Context(), authorized(change(users[i].ID, map[string]any{"username": name})))
		})
	}
}

func testUpdateUnique(t *testing.T, s *store.Store) {
	staff := newStaff()
	insert(t, s, &staff)
	ann, bob := newWorker("ann", 7, "+41 1"), newWorker("bob", 8, "+41 2")
	apply(t, s, append(create(ann), create(bob)...)...)
	wantError(t, s.Apply(t.Context(), authorized(change(bob.ID, map[string]any{"badge": 7}))), schemas.Conflict, schemas.CodeAttributeTaken)
	apply(t, s, change(ann.ID, map[string]any{"badge": 9})...)
	apply(t, s, change(bob.ID, map[string]any{"badge": 7})...)
}
