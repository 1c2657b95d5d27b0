package storetest

import (
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// deactivated are the ways of not being active at noon.
func deactivated() map[string]func(u *schemas.User) {
	return map[string]func(u *schemas.User){
		schemas.CodeAccountDisabled: func(u *schemas.User) { u.Status = schemas.UserDisabled },
		schemas.CodeAccountLocked:   func(u *schemas.User) { u.LockedUntil = noon().Add(time.Hour) },
	}
}

// Nothing that rests on an authentication is committed, and no session starts, for a user
// who is disabled or locked.
func testInactiveUser(t *testing.T, s *store.Store) {
	ctx := t.Context()
	h, changes := held()
	must(t, s.Apply(ctx, changes))
	replace := func(set func(u *schemas.User)) {
		t.Helper()
		update(t, s, func(tx *store.Tx) error {
			u := reply(store.Users().Get(ctx, tx, h.user.ID)).get(t)
			u.Status, u.LockedUntil = "", time.Time{}
			set(u)
			return store.Users().Replace(tx, u, u.UpdatedAt)
		})
	}
	session := func(at time.Time) []schemas.Change { return start(newSignIn(h.user.ID, at)) }
	for code, set := range deactivated() {
		replace(set)
		for _, p := range h.proofs {
			wantError(t, s.Apply(ctx, h.require(p)), schemas.Forbidden, code)
			wantError(t, s.Commit(ctx, newRun(), h.require(p)), schemas.Forbidden, code)
		}
		wantError(t, s.Apply(ctx, session(noon())), schemas.Forbidden, code)
		found := reply(s.User(ctx, h.user.ID)).get(t)
		if got := found.CheckActive(noon()); got == nil || got.Code != code {
			t.Errorf("the user is read as %+v", found)
		}
		replace(func(*schemas.User) {})
		must(t, s.Apply(ctx, h.require(h.proofs[schemas.PasswordProof])))
		must(t, s.Apply(ctx, session(noon())))
	}
	// A lock ends by itself, and not before.
	replace(deactivated()[schemas.CodeAccountLocked])
	end := noon().Add(time.Hour)
	wantError(t, s.Apply(ctx, session(end.Add(-time.Microsecond))), schemas.Forbidden, schemas.CodeAccountLocked)
	must(t, s.Apply(ctx, session(end)))
}

// The end of access ends all sessions of the user, the acting one too, the tokens in them, and all
// runs except the one that ends it; and nothing of other users.
func testEndAccess(t *testing.T, s *store.Store) {
	ctx, a := t.Context(), newAuthorizing(t, s)
	r := a.answered(t, "code")
	reply(s.RedeemCode(ctx, []byte("code"), a.family(r), noon(), noon())).get(t)
	mine, other, another := newRun(), newRun(), newRun()
	mine.UserID, other.UserID = a.user.ID, a.user.ID
	for _, run := range []*schemas.Run{mine, other, another} {
		must(t, s.Commit(ctx, run, nil))
	}
	bob := newUser("bob")
	theirs, expired := newSignIn(bob.ID, noon()), newSignIn(a.user.ID, noon().Add(-2*time.Hour))
	must(t, s.Apply(ctx, append(create(bob), start(theirs, expired)...)))
	live := reply(store.SessionsOf(ctx, s, a.user.ID, noon())).get(t)
	acting := schemas.RequireProofs{UserID: a.user.ID, Proofs: []schemas.Proof{{Kind: schemas.SessionProof, Of: live[0].ID}}, At: noon()}
	end := []schemas.Change{acting, schemas.EndAccess{UserID: a.user.ID, Reason: "account_disabled", At: noon()}}
	must(t, s.Commit(ctx, next(mine, "done"), end))
	for _, run := range []*schemas.Run{mine, another} {
		reply(s.Run(ctx, run.ID)).get(t)
	}
	reply(s.Run(ctx, other.ID)).fails(t, schemas.Invalid, schemas.CodeExecutionNotFound)
	reply(s.RefreshFamily(ctx, r.ID)).fails(t, schemas.Invalid, schemas.CodeRefreshNotFound)
	wantEqual(t, "the sessions that are left", len(reply(store.SessionsOf(ctx, s, a.user.ID, noon().Add(-24*time.Hour))).get(t)), 0)
	reply(store.SessionsOf(ctx, s, bob.ID, noon())).equals(t, "the sessions of another", []schemas.Session{theirs})
	if d := claims(t, s, schemas.LogoutDelivery, noon()); d == nil || d.Target != a.client.ID {
		t.Errorf("the client is not notified: %+v", d)
	}
	events := reply(s.Events(ctx, schemas.EventQuery{UserID: a.user.ID, Action: "session.ended", Limit: 10})).get(t)
	wantEqual(t, "how many ends are recorded", len(events), len(live)+1) // and the expired one
	for _, e := range events {
		wantEqual(t, "the reason", e.Detail["reason"], "account_disabled")
	}
	wantError(t, s.Apply(ctx, []schemas.Change{schemas.EndAccess{UserID: schemas.NewID(), At: noon()}}), schemas.NotFound, schemas.CodeUserNotFound)
}
