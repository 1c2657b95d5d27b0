package oauth_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

const postLogoutURI = "https://app.example.com/bye"

func (a *signIns) logout(b browser, q url.Values) *httptest.ResponseRecorder {
	a.t.Helper()
	rec, err := b.do(a.t, a.provider.Logout, httptest.NewRequest("GET", "/oauth2/logout?"+q.Encode(), nil))
	a.must(err)
	return rec
}

func (a *signIns) signedIn(b browser) bool {
	a.authorize(b, ask())
	return a.session != nil
}

func TestLogout(t *testing.T) {
	a, b := newSignIns(t), browser{}
	a.clients.list["app"].OAuth().PostLogoutRedirectURIs = []string{postLogoutURI}
	r, err := a.redeem(a.code(b, ask()))
	a.must(err)
	rec := a.logout(b, url.Values{"id_token_hint": {r.IDToken}, "post_logout_redirect_uri": {postLogoutURI}, "state": {"s"}})
	if rec.Code != http.StatusFound || rec.Header().Get("Location") != postLogoutURI+"?state=s" || a.signedIn(b) || a.live(r.AccessToken) {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	if _, err := a.refresh(r.RefreshToken); err == nil {
		t.Error("the refresh token outlived the session")
	}
	if e := a.events[len(a.events)-1]; e.Action != "session.ended" || e.UserID != a.user.ID || e.Resource.ID == "" {
		t.Errorf("recorded %+v", e)
	}
	if rec := a.logout(b, nil); rec.Header().Get("Location") != gateURL+"/signedout" || len(rec.Result().Cookies()) > 0 {
		t.Errorf("no user is signed in: %v", rec.Header())
	}
}

// TestLogoutAsksForConfirmation: a page that sends people here cannot sign them out, nor have
// them sent on to where it likes.
func TestLogoutAsksForConfirmation(t *testing.T) {
	a, b, other := newSignIns(t), browser{}, browser{}
	a.clients.list["app"].OAuth().PostLogoutRedirectURIs = []string{postLogoutURI}
	a.code(b, ask())
	foreign, err := a.redeem(a.code(other, ask()))
	a.must(err)
	of, back := "&client_id=app&applicationId=app-app", "&post_logout_redirect_uri="+url.QueryEscape(postLogoutURI)
	for sent, want := range map[string]string{
		"":                                  "",
		"confirm=yes":                       "",
		"ui_locales=de+fr":                  "&ui_locales=de+fr",
		"client_id=nobody":                  "",
		"client_id=app":                     of,
		"state=s" + of + back:               of + back + "&state=s",
		"id_token_hint=":                    "",
		"&id_token_hint=" + foreign.IDToken: of,
	} {
		to := location(t, a.logoutBy(b, sent))
		got := to.Query()
		wanted, _ := url.ParseQuery(want)
		wanted["confirm"] = got["confirm"]
		if to.Scheme+"://"+to.Host+to.Path != gateURL+"/signout" || len(got.Get("confirm")) < 43 || got.Encode() != wanted.Encode() || !a.signedIn(b) {
			t.Errorf("%s led to %s", sent, to)
		}
	}
	for _, q := range []url.Values{
		{"client_id": {"app"}, "post_logout_redirect_uri": {"https://evil.example"}}, {"post_logout_redirect_uri": {postLogoutURI}}, {"client_id": {"conf"}, "post_logout_redirect_uri": {postLogoutURI}},
		{"id_token_hint": {foreign.AccessToken}}, {"id_token_hint": {foreign.IDToken}, "client_id": {"conf"}}, {"client_id": {"nobody"}, "post_logout_redirect_uri": {postLogoutURI}},
	} {
		if to := a.logout(b, q).Header().Get("Location"); !strings.HasPrefix(to, gateURL+"/error?") {
			t.Errorf("%v led to %s", q, to)
		}
	}
}

func (a *signIns) logoutBy(b browser, query string) *httptest.ResponseRecorder {
	a.t.Helper()
	q, err := url.ParseQuery(query)
	a.must(err)
	return a.logout(b, q)
}

// TestLogoutIsConfirmed: the page that asks goes on by what it was sent with, which
// is good in the browser that it was made for, and there for this session.
func TestLogoutIsConfirmed(t *testing.T) {
	a, b, other := newSignIns(t), browser{}, browser{}
	a.clients.list["app"].OAuth().PostLogoutRedirectURIs = []string{postLogoutURI}
	a.code(b, ask())
	a.code(other, ask())
	confirmed := location(t, a.logoutBy(b, "client_id=app&state=s&ui_locales=fr&post_logout_redirect_uri="+url.QueryEscape(postLogoutURI))).Query()
	if to := location(t, a.logout(other, confirmed)); to.Path != "/gate/signout" || !a.signedIn(other) {
		t.Errorf("in another browser it led to %s", to)
	}
	if to := location(t, a.logout(b, confirmed)); to.String() != postLogoutURI+"?state=s" || a.signedIn(b) {
		t.Errorf("led to %s", to)
	}
	a.code(b, ask())
	if to := location(t, a.logout(b, confirmed)); to.Path != "/gate/signout" || !a.signedIn(b) {
		t.Errorf("for the next session it led to %s", to)
	}
	confirmed = location(t, a.logoutBy(b, "client_id=app&ui_locales=fr")).Query()
	if to := location(t, a.logout(b, confirmed)); to.String() != gateURL+"/signedout?applicationId=app-app&ui_locales=fr" || a.signedIn(b) {
		t.Errorf("without a way back it led to %s", to)
	}
}

// TestLogoutByForm: a form from another site comes without cookies. It must not sign users out by
// clearing their cookie, and is answered after the browser has sent the cookies.
func TestLogoutByForm(t *testing.T) {
	a, b := newSignIns(t), browser{}
	for _, hinted := range []bool{false, true} {
		for _, foreign := range []bool{false, true} {
			r, err := a.redeem(a.code(b, ask()))
			a.must(err)
			form, want := url.Values{"state": {"s"}}, "/gate/signout"
			if hinted {
				form.Set("id_token_hint", r.IDToken)
				want = "/gate/signedout"
			}
			cookies := b
			if foreign {
				cookies = browser{}
			}
			rec := a.logoutForm(cookies, form, "Origin", "https://app.example.com")
			if foreign {
				if to := location(t, rec); to.Path != "/oauth2/logout" || len(rec.Result().Cookies()) > 0 || !a.signedIn(b) {
					t.Fatalf("without cookies: %v", rec.Header())
				}
				rec = a.logout(b, location(t, rec).Query())
			}
			if to := location(t, rec); to.Path != want || a.signedIn(b) == hinted {
				t.Errorf("hinted %v, from elsewhere %v: led to %s", hinted, foreign, to)
			}
		}
	}
}

// logoutForm sends a form to the endpoint.
func (a *signIns) logoutForm(b browser, form url.Values, headers ...string) *httptest.ResponseRecorder {
	a.t.Helper()
	r := httptest.NewRequest("POST", "/oauth2/logout", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec, err := b.do(a.t, a.provider.Logout, r)
	a.must(err)
	if rec.Code != http.StatusSeeOther {
		a.t.Errorf("a form was answered with %d", rec.Code)
	}
	return rec
}

// A client's server has no cookie: the ID token that it sends says which session ends.
func TestLogoutWithoutACookieEndsTheHintedSession(t *testing.T) {
	for name, send := range map[string]func(*signIns, url.Values) *httptest.ResponseRecorder{
		"GET":  func(a *signIns, q url.Values) *httptest.ResponseRecorder { return a.logout(browser{}, q) },
		"POST": func(a *signIns, q url.Values) *httptest.ResponseRecorder { return a.logoutForm(browser{}, q) },
	} {
		t.Run(name, func(t *testing.T) {
			a, b, other := newSignIns(t), browser{}, browser{}
			a.clients.list["app"].OAuth().PostLogoutRedirectURIs = []string{postLogoutURI}
			r, err := a.redeem(a.code(b, ask()))
			a.must(err)
			kept, err := a.redeem(a.code(other, ask()))
			a.must(err)
			a.now = a.now.Add(2 * time.Hour) // the ID token has expired, the session has not
			rec := send(a, url.Values{"id_token_hint": {r.IDToken}, "client_id": {"app"}, "post_logout_redirect_uri": {postLogoutURI}})
			if location(t, rec).String() != postLogoutURI || len(rec.Result().Cookies()) > 0 || a.signedIn(b) {
				t.Errorf("%d %v", rec.Code, rec.Header())
			}
			e := a.events[len(a.events)-1]
			if e.Action != "session.ended" || e.UserID != a.user.ID || e.Actor.Client != "app-app" {
				t.Errorf("recorded %+v", e)
			}
			if _, err := a.refresh(r.RefreshToken); err == nil {
				t.Error("the refresh token outlived the session")
			}
			if _, err := a.refresh(kept.RefreshToken); err != nil || !a.signedIn(other) {
				t.Errorf("another session of the user ended: %v", err)
			}
			if to := location(t, a.logout(browser{}, url.Values{"id_token_hint": {r.IDToken}})); to.Path != "/gate/signedout" {
				t.Errorf("the second time it led to %s", to)
			}
		})
	}
}

// Without a cookie nothing ends but by an ID token that this server issued to a client
// that is still registered, and that names itself if it names a client.
func TestLogoutWithoutACookieNeedsAValidHint(t *testing.T) {
	a, b := newSignIns(t), browser{}
	r, err := a.redeem(a.code(b, ask()))
	a.must(err)
	_, claims := claims(t, r.IDToken)
	for name, q := range map[string]url.Values{
		"no hint":                   {"client_id": {"app"}},
		"the session as a hint":     {"id_token_hint": {claims["sid"].(string)}},
		"an access token":           {"id_token_hint": {r.AccessToken}},
		"another signature":         {"id_token_hint": {mirrored(r.IDToken)}},
		"another client_id":         {"id_token_hint": {r.IDToken}, "client_id": {"conf"}},
		"a foreign way back":        {"id_token_hint": {r.IDToken}, "post_logout_redirect_uri": {"https://evil.example"}},
		"confirmed, without a hint": {"confirm": {"yes"}},
	} {
		a.logout(browser{}, q)
		a.logoutForm(browser{}, q)
		if !a.signedIn(b) {
			t.Fatalf("%s: the session ended", name)
		}
	}
	app := a.clients.list["app"]
	delete(a.clients.list, "app")
	to := location(t, a.logout(browser{}, url.Values{"id_token_hint": {r.IDToken}}))
	if a.clients.list["app"] = app; !a.signedIn(b) || to.Path != "/gate/error" {
		t.Errorf("an ID token of a client that was deleted led to %s", to)
	}
	a.now = a.now.Add(31 * 24 * time.Hour) // past the session and its refresh token
	before := len(a.events)
	if a.logout(browser{}, url.Values{"id_token_hint": {r.IDToken}}); len(a.events) > before {
		t.Error("a session ended that had expired")
	}
}

// A browser has several sessions of a user after another sign-in. A sign-out ends all of them, and the refresh
// tokens of one that has expired.
func TestLogoutEndsAllSessionsOfTheBrowser(t *testing.T) {
	type logout func(a *signIns, b browser, r *reply)
	confirmed := func(a *signIns, b browser, _ *reply) {
		a.logout(b, location(a.t, a.logout(b, nil)).Query())
	}
	logouts := map[string]logout{
		"hint":      func(a *signIns, b browser, r *reply) { a.logout(b, url.Values{"id_token_hint": {r.IDToken}}) },
		"confirmed": confirmed,
		"remote":    func(a *signIns, _ browser, r *reply) { a.logout(browser{}, url.Values{"id_token_hint": {r.IDToken}}) },
		"without the session's cookie": func(a *signIns, b browser, r *reply) {
			delete(b, "__Host-postern-session")
			confirmed(a, b, r)
		},
		"after the cookie's session expired": func(a *signIns, b browser, r *reply) {
			a.now = a.now.Add(13 * time.Hour)
			confirmed(a, b, r)
		},
	}
	for again, change := range map[string][]string{
		"prompt=login": {"prompt", "login"}, "max_age=0": {"max_age", "0"}, "select_account": {"prompt", "select_account"}, "after expiry": nil,
	} {
		for name, logout := range logouts {
			t.Run(again+", "+name, func(t *testing.T) {
				a, b, other := newSignIns(t), browser{}, browser{}
				first, err := a.redeem(a.code(b, ask()))
				a.must(err)
				elsewhere, err := a.redeem(a.code(other, ask()))
				a.must(err)
				if again == "after expiry" {
					a.now = a.now.Add(13 * time.Hour)
				}
				a.code(b, ask(change...))
				second, err := a.redeem(a.code(b, ask(change...)))
				a.must(err)
				logout(a, b, second)
				for _, ended := range []*reply{first, second} {
					if _, err := a.refresh(ended.RefreshToken); err == nil || a.live(ended.AccessToken) {
						t.Errorf("tokens outlived the sign-out")
					}
				}
				if _, err := a.refresh(elsewhere.RefreshToken); err != nil {
					t.Errorf("another browser: %v", err)
				}
			})
		}
	}
}

// Tokens with offline_access outlive a sign-out. Revoking the refresh token ends them.
func TestLogoutKeepsOfflineTokens(t *testing.T) {
	a, b := newSignIns(t), browser{}
	app := a.clients.list["app"].OAuth()
	app.Scopes = append(app.Scopes, "offline_access")
	plain, err := a.redeem(a.code(b, ask()))
	a.must(err)
	offline, err := a.redeem(a.code(b, ask("scope", "openid offline_access")))
	a.must(err)
	_, before := claims(t, offline.IDToken)
	a.logout(b, url.Values{"id_token_hint": {offline.IDToken}})
	if a.signedIn(b) || a.live(plain.AccessToken) || !a.live(offline.AccessToken) {
		t.Errorf("signed in %v, tokens valid %v, offline tokens valid %v", a.signedIn(b), a.live(plain.AccessToken), a.live(offline.AccessToken))
	}
	a.now = a.now.Add(24 * time.Hour)
	offline, err = a.refresh(offline.RefreshToken)
	a.must(err)
	if _, after := claims(t, offline.IDToken); after["sid"] != before["sid"] {
		t.Errorf("the sid of refreshed ID tokens is %v, before it was %v", after["sid"], before["sid"])
	}
	rec := httptest.NewRecorder()
	a.must(a.provider.Revoke(rec, request(url.Values{"token": {offline.RefreshToken}, "client_id": {"app"}}.Encode())))
	if a.live(offline.AccessToken) {
		t.Error("an access token outlived the revoked refresh token")
	}
}

// The ID token of a user who was signed in to the browser before ends the sessions of that user; the one who is
// signed in now is asked.
func TestLogoutOfAFormerUser(t *testing.T) {
	a, b := newSignIns(t), browser{}
	first, err := a.redeem(a.code(b, ask()))
	a.must(err)
	ann := a.user
	bob := ann
	bob.ID, bob.Attributes = schemas.NewID(), map[string]any{"username": "bob"}
	a.must(a.store.Apply(t.Context(), []schemas.Change{schemas.CreateUser{User: bob}}))
	a.user = bob
	second, err := a.redeem(a.code(b, ask("prompt", "login")))
	a.must(err)
	asked := location(t, a.logout(b, url.Values{"id_token_hint": {first.IDToken}}))
	if asked.Path != "/gate/signout" || a.live(first.AccessToken) || !a.live(second.AccessToken) {
		t.Fatalf("led to %s; tokens of the former user %v, of the current one %v", asked, a.live(first.AccessToken), a.live(second.AccessToken))
	}
	if a.logout(b, asked.Query()); a.signedIn(b) || a.live(second.AccessToken) {
		t.Error("the confirmed sign-out did not end the session")
	}
}
