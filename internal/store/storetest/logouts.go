package storetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// endAt ends a session at a time.
func endAt(t *testing.T, s *store.Store, id string, at time.Time) {
	t.Helper()
	must(t, s.Apply(t.Context(), []schemas.Change{schemas.EndSession{ID: id, At: at}}))
}

// testLogouts notifies clients of the end of a session: those with tokens and a URI, once each.
func testLogouts(t *testing.T, s *store.Store) {
	ctx, a := t.Context(), newAuthorizing(t, s)
	silent, untrusted := newClient("silent"), newClient("stranger")
	silent.OAuth().BackchannelLogoutURI = ""
	update(t, s, func(tx *store.Tx) error {
		must(t, store.Applications().Insert(tx, &silent))
		return store.Applications().Insert(tx, &untrusted)
	})
	for i, app := range []schemas.Application{a.client, a.client, silent} {
		at := *a
		at.client = app
		r := at.answered(t, fmt.Sprint("code", i))
		var family *schemas.RefreshFamily
		if i == 0 {
			family = at.family(r)
		}
		reply(s.RedeemCode(ctx, fmt.Append(nil, "code", i), family, noon(), noon())).get(t)
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
	must(t, s.Apply(ctx, start(expiring)))
	a.session = expiring
	a.answered(t, "code3")
	reply(s.RedeemCode(ctx, []byte("code3"), nil, noon(), noon())).get(t)
	reply(s.Sweep(ctx, expiring.ExpiresAt)).get(t)
	wantEqual(t, "clients notified of an expired session", claims(t, s, schemas.LogoutDelivery, noon().Add(time.Minute)), (*schemas.Delivery)(nil))
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
		must(t, s.Apply(t.Context(), start(a.session)))
		code := fmt.Append(nil, "stranger", i)
		a.answered(t, string(code))
		reply(s.RedeemCode(t.Context(), code, nil, noon(), noon())).get(t)
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
		must(t, s.Apply(t.Context(), start(a.session)))
		code := fmt.Append(nil, "race", i)
		a.answered(t, string(code))
		var redeemed error
		together(2, func(who int) {
			if who == 0 {
				_, redeemed = s.RedeemCode(t.Context(), code, nil, noon(), noon())
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
