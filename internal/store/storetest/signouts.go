package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// testLogouts notifies clients of the end of a session: those with tokens and a URI, once each.
func testLogouts(t *testing.T, s *store.Store) {
	ctx, a := t.Context(), newAuthorizing(t, s)
	silent, untrusted := newClient("silent"), newClient("stranger")
	silent.OAuth().BackchannelLogoutURI = ""
	insert(t, s, &silent, &untrusted)
	for i, app := range []schemas.Application{a.client, a.client, silent} {
		at := *a
		at.client = app
		r := at.answered(t, fmt.Sprint("code", i))
		var family *schemas.RefreshFamily
		if i == 0 {
			family = at.family(r)
		}
		reply(s.RedeemCode(ctx, at.redemption(fmt.Append(nil, "code", i), family, noon(), noon()))).get(t)
	}
	endAt(t, s, a.session.ID, noon().Add(time.Minute))
	endAt(t, s, a.session.ID, noon().Add(2*time.Minute)) // it is gone
	d := claims(t, s, schemas.LogoutDelivery, noon().Add(time.Minute))
	if d == nil {
		t.Fatal("no client is notified that the session has ended")
	}
	wantEqual(t, "the notified client", []any{d.Target, d.CreatedAt, d.ExpiresAt}, []any{a.client.ID, noon().Add(time.Minute), noon().Add(24*time.Hour + time.Minute)})
	var reported schemas.SessionEnd
	must(t, json.Unmarshal(d.Body, &reported))
	wantEqual(t, "the notification", reported, schemas.SessionEnd{SessionID: a.session.ID, UserID: a.user.ID})
	wantEqual(t, "other notified clients", claims(t, s, schemas.LogoutDelivery, noon().Add(time.Minute)), (*schemas.Delivery)(nil))

	expiring := newSignIn(a.user.ID, noon())
	apply(t, s, start(expiring)...)
	a.session = expiring
	a.answered(t, "code3")
	reply(s.RedeemCode(ctx, a.redemption([]byte("code3"), nil, noon(), noon()))).get(t)
	reply(s.Sweep(ctx, expiring.ExpiresAt)).get(t)
	wantEqual(t, "clients notified of an expired session", claims(t, s, schemas.LogoutDelivery, noon().Add(time.Minute)), (*schemas.Delivery)(nil))
}

// testSignOut ends the sessions of a user in a browser, with an expired one whose refresh tokens are valid and
// an assertion's, and no others. Tokens with offline_access stay.
func testSignOut(t *testing.T, s *store.Store) {
	ctx, a, bob := t.Context(), newAuthorizing(t, s), created(t, s, "bob")
	elsewhere, program, theirs := newSignIn(a.user.ID, noon()), newSignIn(a.user.ID, noon()), newSignIn(bob.ID, noon())
	first, second, current := a.session, newSignIn(a.user.ID, noon()), newSignIn(a.user.ID, noon())
	apply(t, s, start(elsewhere, program, theirs, second, current)...)
	for browser, sessions := range map[string][]schemas.Session{"blue": {first, second, current, theirs}, "red": {elsewhere}} {
		for _, session := range sessions {
			reply(s.BindSession(ctx, schemas.SessionToken{SessionID: session.ID, Hash: []byte(session.ID), Browser: browser})).equals(t, "whether it was bound", true)
		}
	}
	var families []string
	for _, offline := range []bool{false, true} {
		code := fmt.Append(nil, "code", offline)
		r := a.answered(t, string(code))
		family := a.family(r)
		if offline {
			family.SessionID = family.ID
		}
		reply(s.RedeemCode(ctx, a.redemption(code, family, noon(), noon()))).get(t)
		families = append(families, r.ID)
	}
	late := first.ExpiresAt.Add(time.Minute) // of all sessions but those with refresh tokens
	reply(s.SessionByToken(ctx, []byte(first.ID), late)).equals(t, "the session of an expired token", nil)
	for _, token := range []string{current.ID, "unknown"} {
		if got := reply(s.BrowserSession(ctx, []byte(token), "blue")).get(t); got == nil || got.Browser != "blue" {
			t.Errorf("the session of the browser with the token %q: %+v", token, got)
		}
	}
	reply(s.BrowserSession(ctx, nil, "")).equals(t, "the session without a browser", nil)

	endAt(t, s, current.ID, late)
	var left []string
	for _, session := range reply(store.SessionsOf(ctx, s, a.user.ID, noon())).get(t) {
		left = append(left, session.ID)
		if offline := session.ID == families[1]; (session.OfflineOf == first.ID) != offline || offline && session.ApplicationID != a.client.ID {
			t.Errorf("the session %+v", session)
		}
	}
	slices.Sort(left)
	wantEqual(t, "the sessions that are left", left, slices.Sorted(slices.Values([]string{elsewhere.ID, program.ID, families[1]})))
	reply(store.SessionsOf(ctx, s, bob.ID, noon())).get(t)
	reply(s.RefreshFamily(ctx, families[0])).fails(t, schemas.Invalid, schemas.CodeRefreshNotFound)
	wantEqual(t, "the session of the offline tokens", reply(s.RefreshFamily(ctx, families[1])).get(t).SessionID, families[1])
	reply(s.TokenLive(ctx, schemas.TokenRef{ID: families[1] + ".1", Session: families[1]})).equals(t, "whether an offline token counts", true)
	var notified schemas.SessionEnd
	must(t, json.Unmarshal(claims(t, s, schemas.LogoutDelivery, late).Body, &notified))
	wantEqual(t, "the notification", notified, schemas.SessionEnd{SessionID: first.ID, UserID: a.user.ID})

	apply(t, s, schemas.RevokeFamily{ID: families[1], Until: late})
	reply(s.Session(ctx, families[1])).equals(t, "the session of revoked offline tokens", nil)
}

// testOfflineSessions: a change of a credential ends the offline tokens that it led to, unless it was made in
// the session in which they were issued, or with them.
func testOfflineSessions(t *testing.T, s *store.Store) {
	for acting, want := range map[string]bool{"none": false, "own": true, "offline": true} {
		a := newAuthorizing(t, s)
		code := []byte(acting)
		r := a.answered(t, acting)
		family := a.family(r)
		family.SessionID = family.ID
		reply(s.RedeemCode(t.Context(), a.redemption(code, family, noon(), noon()))).get(t)
		session := map[string]string{"own": a.session.ID, "offline": family.ID}[acting]
		update(t, s, func(tx *store.Tx) error {
			tx.SetActor(session, schemas.Event{})
			return tx.Apply(authorized([]schemas.Change{schemas.SetPassword{ID: schemas.NewID(), UserID: a.user.ID, Hash: "hash", At: noon()}}))
		})
		for _, id := range []string{a.session.ID, family.ID} {
			wantEqual(t, acting+": whether a session is left", reply(s.Session(t.Context(), id)).get(t) != nil, want)
		}
		update(t, s, func(tx *store.Tx) error { return store.Users().Delete(tx, a.user.ID, a.user.UpdatedAt) })
		update(t, s, func(tx *store.Tx) error { return store.Applications().Delete(tx, a.client.ID, a.client.UpdatedAt) })
	}
}

// testLogoutsOfUntrustedClients retries only briefly for an untrusted client.
func testLogoutsOfUntrustedClients(t *testing.T, s *store.Store) {
	a := newAuthorizing(t, s)
	update(t, s, func(tx *store.Tx) error {
		return store.PutClientExpiry(tx, schemas.ClientExpiry{ApplicationID: a.client.ID, ExpiresAt: noon().Add(time.Hour)})
	})
	for i, verified := range []bool{false, true} {
		update(t, s, func(tx *store.Tx) error {
			a.client.Verified = verified
			return store.Applications().Replace(tx, &a.client, a.client.UpdatedAt)
		})
		a.session = newSignIn(a.user.ID, noon())
		apply(t, s, start(a.session)...)
		code := fmt.Append(nil, "stranger", i)
		a.answered(t, string(code))
		reply(s.RedeemCode(t.Context(), a.redemption(code, nil, noon(), noon()))).get(t)
		endAt(t, s, a.session.ID, noon())
		d := claims(t, s, schemas.LogoutDelivery, noon())
		wantEqual(t, "for how long it is tried", d.ExpiresAt, noon().Add(map[bool]time.Duration{false: time.Minute, true: 24 * time.Hour}[verified]))
	}
}

// testLogoutRace ends sessions while clients get tokens in them: a client with tokens is notified,
// and a late one gets none.
func testLogoutRace(t *testing.T, s *store.Store) {
	const rounds = 20
	a := newAuthorizing(t, s)
	for i := range rounds {
		a.session = newSignIn(a.user.ID, noon())
		apply(t, s, start(a.session)...)
		code := fmt.Append(nil, "race", i)
		a.answered(t, string(code))
		var redeemed error
		together(2, func(who int) {
			if who == 0 {
				_, redeemed = s.RedeemCode(t.Context(), a.redemption(code, nil, noon(), noon()))
				return
			}
			check(t, s.Apply(t.Context(), []schemas.Change{schemas.EndSession{ID: a.session.ID, At: noon()}}))
		})
		reported := claims(t, s, schemas.LogoutDelivery, noon())
		if (redeemed == nil) != (reported != nil) {
			t.Fatalf("redeeming ended with %v, and the notification is %s", redeemed, text(reported))
		}
		if redeemed != nil {
			wantError(t, redeemed, schemas.Invalid, schemas.CodeAuthCodeNotFound)
		}
	}
}
