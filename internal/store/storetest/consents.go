package storetest

import (
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func agree(userID, applicationID string, at, again time.Time, scopes ...string) []schemas.Change {
	return []schemas.Change{schemas.GrantConsent{UserID: userID, ApplicationID: applicationID, Scopes: scopes, At: at, AskAgainAt: again}}
}

func scopesOf(c *schemas.Consent) (scopes []string) {
	for _, s := range c.Scopes {
		scopes = append(scopes, s.Scope)
	}
	return scopes
}

func testConsents(t *testing.T, s *store.Store) {
	ctx, a := t.Context(), newAuthorizing(t, s)
	reply(s.Consent(ctx, a.user.ID, a.client.ID)).equals(t, "a consent that was not given, or is gone", nil)
	later, ever := noon().Add(time.Minute), time.Time{}
	again := later.Add(time.Hour)
	apply(t, s, agree(a.user.ID, a.client.ID, noon(), ever, "openid", "email", "openid")...)
	apply(t, s, agree(a.user.ID, a.client.ID, later, again, "email", "shop:orders")...)
	got := reply(s.Consent(ctx, a.user.ID, a.client.ID)).get(t)
	wantEqual(t, "the consent", got, &schemas.Consent{
		UserID: a.user.ID, ApplicationID: a.client.ID, GrantedAt: later, AskAgainAt: &again,
		Scopes: []schemas.ConsentedScope{
			{Scope: "email", GrantedAt: later, AskAgainAt: &again}, {Scope: "openid", GrantedAt: noon()}, {Scope: "shop:orders", GrantedAt: later, AskAgainAt: &again},
		},
	})
	other := newClient("other")
	insert(t, s, &other)
	apply(t, s, agree(a.user.ID, other.ID, later.Add(time.Minute), ever)...)
	all := reply(store.ConsentsOf(ctx, s, a.user.ID)).get(t)
	wantEqual(t, "the applications", []string{all[0].ApplicationID, all[1].ApplicationID}, []string{other.ID, a.client.ID})
	wantEqual(t, "the scopes of none", all[0].Scopes, []schemas.ConsentedScope{})

	wantError(t, s.Apply(ctx, agree(schemas.NewID(), a.client.ID, noon(), ever)), schemas.Conflict, schemas.CodeAppNotFound)
	for _, odd := range []string{"", "a\x00"} {
		reply(s.Consent(ctx, odd, a.client.ID)).equals(t, "a consent that was not given, or is gone", nil)
	}
	update(t, s, func(tx *store.Tx) error { return store.Applications().Delete(tx, other.ID, other.UpdatedAt) })
	wantEqual(t, "how many are left with one client", len(reply(store.ConsentsOf(ctx, s, a.user.ID)).get(t)), 1)
	update(t, s, func(tx *store.Tx) error { return store.Users().Delete(tx, a.user.ID, a.user.UpdatedAt) })
	reply(s.Consent(ctx, a.user.ID, a.client.ID)).equals(t, "a consent that was not given, or is gone", nil)
}

// testRevokedConsent revokes the consent of one of two users of a client.
func testRevokedConsent(t *testing.T, s *store.Store) {
	ctx, a := t.Context(), newAuthorizing(t, s)
	bob := newUser("bob")
	hers, his := a.session, newSignIn(bob.ID, noon())
	apply(t, s, append(create(bob), start(his)...)...)
	until := noon().Add(2 * time.Hour)
	redeem := func(code string, family bool) string {
		r := a.answered(t, code)
		var f *schemas.RefreshFamily
		if family {
			f = a.family(r)
		}
		reply(s.RedeemCode(ctx, a.redemption([]byte(code), f, noon(), until))).get(t)
		return r.ID
	}
	refreshed, plain := redeem("one", true), redeem("two", false)
	a.user, a.session = bob, his
	kept := redeem("three", true)
	// The row that finds tokens without a refresh token stays as long as they are valid.
	reply(s.Sweep(ctx, until.Add(-time.Second))).get(t)
	for _, id := range []string{hers.UserID, bob.ID} {
		apply(t, s, agree(id, a.client.ID, noon(), time.Time{}, "openid")...)
	}
	revoke := func() (was bool) {
		update(t, s, func(tx *store.Tx) (err error) {
			was, err = store.RevokeConsent(tx, hers.UserID, a.client.ID, until)
			return err
		})
		return was
	}
	wantEqual(t, "whether there was a consent", revoke(), true)
	wantEqual(t, "whether there was another", revoke(), false)
	reply(s.RefreshFamily(ctx, refreshed)).fails(t, schemas.Invalid, schemas.CodeRefreshNotFound)
	reply(s.RefreshFamily(ctx, kept)).get(t)
	for id, live := range map[string]bool{refreshed: false, plain: false, kept: true} {
		session := hers.ID
		if live {
			session = his.ID
		}
		reply(s.TokenLive(ctx, schemas.TokenRef{ID: id + ".1", Session: session, Client: a.client.ClientID})).equals(t, "whether a token of "+id+" counts", live)
	}
	left := reply(s.Consent(ctx, bob.ID, a.client.ID)).get(t)
	wantEqual(t, "what the other agreed to", scopesOf(left), []string{"openid"})
}

// testRefusals refuses requests, and tries to grant them.
func testRefusals(t *testing.T, s *store.Store) {
	ctx, a := t.Context(), newAuthorizing(t, s)
	r := a.request()
	must(t, s.Apply(ctx, []schemas.Change{schemas.CreateAuthRequest{Request: r}}))
	refuse := schemas.RefuseAuthRequest{ID: r.ID, BrowserHash: []byte("another"), At: noon(), Refusal: schemas.Refusal{Code: "access_denied", Description: "no"}}
	apply(t, s, refuse)
	wantEqual(t, "the refusal of a run in another browser", reply(s.AuthRequest(ctx, r.ID)).get(t).Refusal, (*schemas.Refusal)(nil))
	refuse.BrowserHash = r.BrowserHash
	apply(t, s, refuse)
	wantEqual(t, "the refusal", reply(s.AuthRequest(ctx, r.ID)).get(t).Refusal, &refuse.Refusal)
	wantError(t, s.Apply(ctx, []schemas.Change{refuse}), schemas.Invalid, schemas.CodeAuthRequest)
	wantError(t, s.Apply(ctx, []schemas.Change{a.grant(r)}), schemas.Invalid, schemas.CodeAuthRequest)
	wantError(t, issueCode(ctx, s, r.ID, []byte("code"), noon().Add(time.Minute), noon()), schemas.Invalid, schemas.CodeAuthRequest)

	granted := a.answered(t, "code")
	refuse.ID = granted.ID
	wantError(t, s.Apply(ctx, []schemas.Change{refuse}), schemas.Invalid, schemas.CodeAuthRequest)
}

func testPermissionWords(t *testing.T, s *store.Store) {
	shop := newResourceServer("shop")
	insert(t, s, &shop)
	reply(s.PermissionNames(t.Context(), []string{"shop", "shop:orders", "shop:orders:read", "shop:orders:items:read", "nobody's", "a\x00"})).equals(t, "the words", map[string]string{"shop": "Shop: everything", "shop:orders": "Orders: everything", "shop:orders:read": "Read"})
}
