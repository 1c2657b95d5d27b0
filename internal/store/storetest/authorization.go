package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// authorizing is a store with a user who has a session, and a client.
type authorizing struct {
	*store.Store
	client  schemas.Application
	user    schemas.User
	session schemas.Session
}

func newAuthorizing(t *testing.T, s *store.Store) *authorizing {
	t.Helper()
	a := &authorizing{Store: s, client: newClient("shop"), user: newUser("ann")}
	a.session = newSignIn(a.user.ID, noon())
	apply(t, s, append(create(a.user), start(a.session)...)...)
	update(t, s, func(tx *store.Tx) error { return store.Applications().Insert(tx, &a.client) })
	return a
}

func (a *authorizing) request() schemas.AuthRequest {
	maxAge := 60
	return schemas.AuthRequest{
		ID: schemas.NewID(), ApplicationID: a.client.ID, ClientID: a.client.ClientID, RedirectURI: "https://shop.example/back?x=1",
		ResponseMode: "query", State: "st ä", Nonce: "n\"1", Scopes: []string{"openid", "a:b"}, Resources: []string{"https://api.example/"},
		CodeChallenge: "challenge", LoginHint: "ann@example.com", BrowserHash: browserHash(),
		Login:     schemas.LoginRules{Prompt: []string{"login"}, MaxAge: &maxAge, ACRValues: []string{"one", "two"}},
		CreatedAt: noon(), ExpiresAt: noon().Add(30 * time.Minute),
	}
}

func (a *authorizing) grant(r schemas.AuthRequest) schemas.GrantAuthRequest {
	return schemas.GrantAuthRequest{ID: r.ID, BrowserHash: r.BrowserHash, At: noon(), Grant: schemas.Grant{
		UserID: a.user.ID, SessionID: a.session.ID, AuthTime: noon(), AMR: []string{"swk"}, ACR: "high"}}
}

// granted is a request that has been granted, and answered with the code.
func (a *authorizing) answered(t *testing.T, code string) schemas.AuthRequest {
	t.Helper()
	r := a.request()
	grant := a.grant(r)
	must(t, a.Apply(t.Context(), []schemas.Change{schemas.CreateAuthRequest{Request: r}}))
	must(t, a.Apply(t.Context(), []schemas.Change{grant}))
	must(t, issueCode(t.Context(), a, r.ID, []byte(code), noon().Add(time.Minute), noon()))
	r.Grant = &grant.Grant
	return r
}

// redeemed is a request whose code was redeemed for a family of refresh tokens.
func (a *authorizing) redeemed(t *testing.T, code string) schemas.AuthRequest {
	t.Helper()
	r := a.answered(t, code)
	reply(a.RedeemCode(t.Context(), a.redemption([]byte(code), a.family(r), noon(), noon()))).equals(t, "whether it was a replay", false)
	return r
}

func (a *authorizing) family(r schemas.AuthRequest) *schemas.RefreshFamily {
	return &schemas.RefreshFamily{ID: r.ID, ApplicationID: r.ApplicationID, ClientID: r.ClientID, Scopes: r.Scopes, Resources: r.Resources,
		Grant: *r.Grant, SessionID: r.Grant.SessionID, RotatedAt: noon(), CreatedAt: noon(), ExpiresAt: noon().Add(24 * time.Hour)}
}

func browserHash() []byte { return []byte("\x00browser\xff") }

func issueCode(ctx context.Context, s interface {
	IssueCode(ctx context.Context, c schemas.IssuedCode) (r *schemas.AuthRequest, bound bool, err error)
}, id string, code []byte, expires, at time.Time) error {
	_, _, err := s.IssueCode(ctx, schemas.IssuedCode{RequestID: id, BrowserHash: browserHash(), CodeHash: code, Expires: expires, At: at})
	return err
}

// redemption redeems the code of a request that was granted in the current session.
func (a *authorizing) redemption(code []byte, family *schemas.RefreshFamily, at, revoke time.Time) schemas.Redemption {
	return schemas.Redemption{CodeHash: code, SessionID: a.session.ID, ApplicationID: a.client.ID, Family: family, At: at, Revoke: revoke}
}

func testAuthRequests(t *testing.T, s *store.Store) {
	ctx, a := t.Context(), newAuthorizing(t, s)
	r := a.request()
	must(t, s.Apply(ctx, []schemas.Change{schemas.CreateAuthRequest{Request: r}}))
	reply(s.AuthRequest(ctx, r.ID)).equals(t, "the request", &r)
	wantError(t, issueCode(ctx, s, r.ID, []byte("code"), noon().Add(time.Minute), noon()), schemas.Invalid, schemas.CodeAuthRequest)

	other := a.grant(r)
	other.BrowserHash = []byte("another")
	apply(t, s, other)
	wantEqual(t, "the grant of a run in another browser", reply(s.AuthRequest(ctx, r.ID)).get(t).Grant, (*schemas.Grant)(nil))
	grant := a.grant(r)
	apply(t, s, grant)
	r.Grant = &grant.Grant
	reply(s.AuthRequest(ctx, r.ID)).equals(t, "the granted request", &r)
	wantError(t, s.Apply(ctx, []schemas.Change{grant}), schemas.Invalid, schemas.CodeAuthRequest)

	late := a.request()
	must(t, s.Apply(ctx, []schemas.Change{schemas.CreateAuthRequest{Request: late}}))
	grant = a.grant(late)
	grant.At = late.ExpiresAt
	wantError(t, s.Apply(ctx, []schemas.Change{grant}), schemas.Invalid, schemas.CodeAuthRequest)
	for _, id := range []string{"", "unknown", "a\x00"} {
		reply(s.AuthRequest(ctx, id)).fails(t, schemas.Invalid, schemas.CodeAuthRequest)
	}
	strange := a.request()
	strange.ApplicationID = schemas.NewID()
	wantError(t, s.Apply(ctx, []schemas.Change{schemas.CreateAuthRequest{Request: strange}}), schemas.NotFound, schemas.CodeAppNotFound)
	reply(s.Sweep(ctx, late.ExpiresAt)).equals(t, "what was swept", 2)
}

func testGrantRace(t *testing.T, s *store.Store) {
	a := newAuthorizing(t, s)
	for range 20 {
		r := a.request()
		must(t, s.Apply(t.Context(), []schemas.Change{schemas.CreateAuthRequest{Request: r}}))
		oneWins(t, 8, schemas.CodeAuthRequest, func(int) error { return s.Apply(t.Context(), []schemas.Change{a.grant(r)}) })
	}
}

// testApprovals stores the approvals of a request: only from its own browser, and only before it is
// granted.
func testApprovals(t *testing.T, s *store.Store) {
	ctx, a := t.Context(), newAuthorizing(t, s)
	r := a.request()
	must(t, s.Apply(ctx, []schemas.Change{schemas.CreateAuthRequest{Request: r}}))
	approve := func(browser []byte, scopes ...string) error {
		return s.Apply(ctx, []schemas.Change{schemas.ApproveAuthRequest{ID: r.ID, BrowserHash: browser, At: noon(),
			Approval: schemas.Approval{UserID: a.user.ID, Scopes: scopes, At: noon()}}})
	}
	must(t, approve([]byte("another"), "system"))
	wantEqual(t, "the approval of another browser", reply(s.AuthRequest(ctx, r.ID)).get(t).Approval, (*schemas.Approval)(nil))
	must(t, approve(r.BrowserHash, "system"))
	must(t, approve(r.BrowserHash, "system:users:read"))
	grant := a.grant(r)
	grant.Grant.Approved = []string{"system:users:read"}
	apply(t, s, grant)
	must(t, issueCode(ctx, s, r.ID, []byte("code"), noon().Add(time.Minute), noon()))
	got := reply(s.AuthRequestByCode(ctx, []byte("code"))).get(t)
	wantEqual(t, "the approval", *got.Approval, schemas.Approval{UserID: a.user.ID, Scopes: []string{"system:users:read"}, At: noon()})
	wantEqual(t, "what the grant says of it", got.Grant.Approved, []string{"system:users:read"})
	wantError(t, approve(r.BrowserHash, "system"), schemas.Invalid, schemas.CodeAuthRequest)
}

func testCodes(t *testing.T, s *store.Store) {
	ctx, a := t.Context(), newAuthorizing(t, s)
	r := a.answered(t, "code")
	wantError(t, issueCode(ctx, s, r.ID, []byte("second"), noon().Add(time.Minute), noon()), schemas.Invalid, schemas.CodeAuthRequest)
	got := reply(s.AuthRequestByCode(ctx, []byte("code"))).get(t)
	wantEqual(t, "the request of the code", got.ID, r.ID)
	wantEqual(t, "what redeeming needs", []string{got.Nonce, got.CodeChallenge, got.RedirectURI}, []string{r.Nonce, r.CodeChallenge, r.RedirectURI})
	reply(s.RedeemCode(ctx, a.redemption([]byte("second"), nil, noon(), noon()))).fails(t, schemas.Invalid, schemas.CodeAuthCodeNotFound)
	reply(s.RedeemCode(ctx, a.redemption([]byte("code"), nil, noon().Add(time.Minute), noon()))).fails(t, schemas.Invalid, schemas.CodeAuthCodeNotFound)

	family := a.family(r)
	reply(s.RedeemCode(ctx, a.redemption([]byte("code"), family, noon(), noon()))).equals(t, "whether it was a replay", false)
	got = reply(s.AuthRequestByCode(ctx, []byte("code"))).get(t)
	wantEqual(t, "data that is no longer needed", []string{got.State, got.LoginHint, got.Nonce}, []string{"", "", ""})
	reply(s.RefreshFamily(ctx, r.ID)).equals(t, "the family", family)
	// The session lasts as long as its refresh tokens; the browser's cookie does not.
	wantEqual(t, "the number of sessions", len(reply(store.SessionsOf(ctx, s, a.user.ID, noon().Add(23*time.Hour))).get(t)), 1)

	wantLive(t, s, r.ID+".1", true)
	reply(s.RedeemCode(ctx, a.redemption([]byte("code"), a.family(r), noon(), noon().Add(time.Hour)))).equals(t, "whether it was a replay", true)
	reply(s.RefreshFamily(ctx, r.ID)).fails(t, schemas.Invalid, schemas.CodeRefreshNotFound)
	wantLive(t, s, r.ID+".1", false)
	wantLive(t, s, schemas.NewID()+".1", true)

	// A code that is not redeemed is soon gone, and so is what the request contained. A redeemed one stays.
	a.answered(t, "forgotten")
	kept := a.answered(t, "kept")
	reply(s.RedeemCode(ctx, a.redemption([]byte("kept"), a.family(kept), noon(), noon().Add(time.Hour)))).equals(t, "whether it was a replay", false)
	reply(s.Sweep(ctx, noon().Add(2*time.Minute-time.Microsecond))).equals(t, "what was swept before", 0)
	reply(s.Sweep(ctx, noon().Add(2*time.Minute))).equals(t, "what was swept", 2) // the one above allows no replays, too
	reply(s.AuthRequestByCode(ctx, []byte("forgotten"))).fails(t, schemas.Invalid, schemas.CodeAuthCodeNotFound)
	wantEqual(t, "the request of a redeemed code", reply(s.AuthRequestByCode(ctx, []byte("kept"))).get(t).ID, kept.ID)

	ended := a.answered(t, "ended")
	apply(t, s, schemas.EndSession{ID: a.session.ID, At: noon()})
	reply(s.RedeemCode(ctx, a.redemption([]byte("ended"), a.family(ended), noon(), noon()))).fails(t, schemas.Invalid, schemas.CodeAuthCodeNotFound)
}

func wantLive(t *testing.T, s *store.Store, id string, want bool) {
	t.Helper()
	reply(s.TokenLive(t.Context(), schemas.TokenRef{ID: id})).equals(t, "whether the token counts", want)
}

// testCodeRace redeems a code many times concurrently.
func testCodeRace(t *testing.T, s *store.Store) {
	const rounds, clients = 100, 8
	a := newAuthorizing(t, s)
	for range rounds {
		code := schemas.NewID()
		r := a.answered(t, code)
		replays := countOf(t, clients, func(int) (bool, error) {
			return s.RedeemCode(t.Context(), a.redemption([]byte(code), a.family(r), noon(), noon().Add(time.Hour)))
		})
		wantEqual(t, "the number of replays of one code", replays, clients-1)
		wantLive(t, s, r.ID+".x", false)
	}
}

func testRefresh(t *testing.T, s *store.Store) {
	ctx, a := t.Context(), newAuthorizing(t, s)
	begin := func() schemas.Rotation {
		t.Helper()
		code := schemas.NewID()
		r := a.redeemed(t, code)
		return schemas.Rotation{ID: r.ID, At: noon(), Window: 10 * time.Second, Revoke: noon().Add(time.Hour)}
	}
	rotate := func(r schemas.Rotation, reused bool) {
		t.Helper()
		reply(s.RotateRefresh(ctx, r)).equals(t, "whether it was used before", reused)
	}
	r := begin()
	rotate(r, false)
	r.At = noon().Add(10*time.Second - time.Microsecond)
	rotate(r, false) // its reply was lost
	wantEqual(t, "the generation", reply(s.RefreshFamily(ctx, r.ID)).get(t).Generation, 1)
	future := r
	future.Generation = 2
	reply(s.RotateRefresh(ctx, future)).fails(t, schemas.Invalid, schemas.CodeRefreshNotFound)
	r.At = noon().Add(10 * time.Second)
	rotate(r, true)
	reply(s.RotateRefresh(ctx, r)).fails(t, schemas.Invalid, schemas.CodeRefreshNotFound)
	wantLive(t, s, r.ID+".x", false)

	// A token two generations back does not mean a lost reply, however soon it is used.
	r = begin()
	rotate(r, false)
	next := r
	next.Generation = 1
	rotate(next, false)
	rotate(r, true)

	r = begin()
	r.At = noon().Add(24 * time.Hour)
	reply(s.RotateRefresh(ctx, r)).fails(t, schemas.Invalid, schemas.CodeRefreshNotFound)
	apply(t, s, schemas.RevokeFamily{ID: r.ID, Until: noon().Add(time.Hour)})
	reply(s.RefreshFamily(ctx, r.ID)).fails(t, schemas.Invalid, schemas.CodeRefreshNotFound)

	r = begin()
	apply(t, s, schemas.EndSession{ID: a.session.ID, At: noon()})
	reply(s.RefreshFamily(ctx, r.ID)).fails(t, schemas.Invalid, schemas.CodeRefreshNotFound)
}

// testRefreshRace uses a refresh token many times concurrently: all uses get the same successor,
// because all replies but one may have been lost.
func testRefreshRace(t *testing.T, s *store.Store) {
	const rounds, clients = 20, 8
	ctx, a := t.Context(), newAuthorizing(t, s)
	r := a.redeemed(t, "code")
	for generation := range rounds {
		together(clients, func(int) {
			reused, err := s.RotateRefresh(ctx, schemas.Rotation{ID: r.ID, Generation: generation, At: noon(), Window: time.Second, Revoke: noon()})
			if err != nil || reused {
				t.Errorf("reused %v, error %v", reused, err)
			}
		})
		wantEqual(t, "the generation", reply(s.RefreshFamily(ctx, r.ID)).get(t).Generation, generation+1)
	}
}

func testBrowserSessions(t *testing.T, s *store.Store) {
	ctx, a := t.Context(), newAuthorizing(t, s)
	hash, at := []byte("\x00token\xff"), noon()
	reply(s.SessionByToken(ctx, hash, at)).equals(t, "the session of another or an expired token", nil)
	for i, want := range []bool{true, false} { // a second one is not issued
		reply(s.BindSession(ctx, schemas.SessionToken{SessionID: a.session.ID, Hash: append(hash, make([]byte, i)...), Browser: "blue"})).equals(t, "whether it was bound", want)
	}
	seen := a.session
	seen.Browser, seen.LastSeenAt = "blue", seen.LastSeenAt.Add(time.Minute)
	must(t, s.TouchSession(ctx, a.session.ID, seen.LastSeenAt))
	must(t, s.TouchSession(ctx, a.session.ID, a.session.LastSeenAt)) // by an instance that is late
	must(t, s.TouchSession(ctx, schemas.NewID(), seen.LastSeenAt))
	reply(s.SessionByToken(ctx, hash, at)).equals(t, "the session", &seen)
	reply(s.SessionByToken(ctx, hash, a.session.ExpiresAt)).equals(t, "the session of another or an expired token", nil)
	reply(s.BindSession(ctx, schemas.SessionToken{SessionID: schemas.NewID(), Hash: []byte("other"), Browser: ""})).equals(t, "whether it was bound", false)
}

// testIssuedTokens: a code stores the session of its grant in the browser, unless the session has a token or the
// grant is by an assertion, and only in the browser of the request.
func testIssuedTokens(t *testing.T, s *store.Store) {
	ctx, a := t.Context(), newAuthorizing(t, s)
	token := &schemas.SessionToken{Hash: []byte("token"), Browser: "blue"}
	for i, test := range []struct {
		browser            []byte
		byAssertion, fails bool
		bound              bool
	}{
		{browser: []byte("another"), fails: true},
		{browser: nil, fails: true},
		{browser: browserHash(), byAssertion: true}, // names the browser only
		{browser: browserHash(), bound: true},
		{browser: browserHash()}, // the session has a token now
	} {
		r, at := a.request(), noon()
		must(t, s.Apply(ctx, []schemas.Change{schemas.CreateAuthRequest{Request: r}}))
		grant := a.grant(r)
		grant.Grant.ByAssertion = test.byAssertion
		apply(t, s, grant)
		issued := schemas.IssuedCode{RequestID: r.ID, BrowserHash: test.browser, CodeHash: []byte{byte(i)}, At: at, Expires: at.Add(time.Minute), Token: token}
		got, bound, err := s.IssueCode(ctx, issued)
		if test.fails {
			wantError(t, err, schemas.Invalid, schemas.CodeAuthRequest)
			continue
		}
		must(t, err)
		wantEqual(t, "whether the session was bound", bound, test.bound)
		wantEqual(t, "the browser of the session", reply(s.Session(ctx, a.session.ID)).get(t).Browser, "blue")
		r.Grant, r.ExpiresAt = &grant.Grant, got.ExpiresAt // that of the stored code
		wantEqual(t, "the request", got, &r)
		_, _, err = s.IssueCode(ctx, issued)
		wantError(t, err, schemas.Invalid, schemas.CodeAuthRequest)
	}
	wantEqual(t, "the browser of the session", reply(s.SessionByToken(ctx, token.Hash, noon())).get(t).Browser, "blue")

	token.SessionID = a.session.ID
	must(t, s.UnbindSession(ctx, schemas.SessionToken{SessionID: a.session.ID, Hash: []byte("another")}))
	reply(s.BindSession(ctx, *token)).equals(t, "whether it was bound again", false)
	must(t, s.UnbindSession(ctx, *token))
	reply(s.SessionByToken(ctx, token.Hash, noon())).equals(t, "the session of a token that was taken", nil)
	reply(s.BindSession(ctx, *token)).equals(t, "whether it was bound then", true)
}

func testRedirects(t *testing.T, s *store.Store) {
	a := newAuthorizing(t, s)
	want := func(ofVouched, ofOthers []string) {
		t.Helper()
		vouched, others, err := s.RedirectURIs(t.Context())
		must(t, err)
		sorted := func(list []string) []string { return slices.Sorted(slices.Values(list)) } // the order of the clients is undefined
		wantEqual(t, "the redirect URIs of vouched clients", sorted(vouched), sorted(ofVouched))
		wantEqual(t, "the redirect URIs of other clients", others, ofOthers)
	}
	own := a.client.OAuth().RedirectURIs
	want(own, nil)
	untrusted := newClient("stranger")
	untrusted.Registration = schemas.RegisteredDynamically
	untrusted.OAuth().RedirectURIs = []string{"https://stranger.example.com/"}
	insert(t, s, &untrusted)
	want(own, untrusted.OAuth().RedirectURIs)
	was := untrusted.UpdatedAt
	untrusted.Verified, untrusted.UpdatedAt = true, was.Add(time.Second)
	update(t, s, func(tx *store.Tx) error { return store.Applications().Replace(tx, &untrusted, was) })
	want(slices.Concat(own, untrusted.OAuth().RedirectURIs), nil)
}
