package oauth_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

func (a *signIns) userinfo(r *http.Request) (map[string]any, error) {
	a.t.Helper()
	rec := httptest.NewRecorder()
	if err := a.provider.UserInfo(rec, r); err != nil {
		return nil, err
	}
	if rec.Header().Get("Cache-Control") != "no-store" {
		a.t.Error("the reply may be cached")
	}
	var reported map[string]any
	a.must(json.Unmarshal(rec.Body.Bytes(), &reported))
	return reported, nil
}

func get(token string) *http.Request {
	r := httptest.NewRequest("GET", "/oauth2/userinfo", nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

func TestUserInfo(t *testing.T) {
	a := newSignIns(t)
	r, err := a.redeem(a.code(browser{}, ask("scope", "openid email")))
	a.must(err)
	reported, err := a.userinfo(get(r.AccessToken))
	a.must(err)
	if len(reported) != 3 || reported["sub"] != a.user.ID || reported["email"] != "ann@example.com" || reported["email_verified"] != true {
		t.Errorf("got %v", reported)
	}
	post := httptest.NewRequest("POST", "/oauth2/userinfo", strings.NewReader("access_token="+r.AccessToken))
	post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if reported, err = a.userinfo(post); err != nil || reported["sub"] != a.user.ID {
		t.Errorf("by a form: %v, %v", reported, err)
	}
	_, err = a.userinfo(get(r.IDToken))
	wantRefused(t, err, "invalid_token")
	_, err = a.userinfo(get(a.assertion("app-app")))
	wantRefused(t, err, "invalid_token")
	_, err = a.userinfo(get(""))
	wantRefused(t, err, "invalid_request")
	_, err = a.userinfo(httptest.NewRequest("GET", "/oauth2/userinfo?access_token="+r.AccessToken, nil))
	wantRefused(t, err, "invalid_request")
	machine, err := a.token(url.Values{"grant_type": {"client_credentials"}}, basic("m2m", secret))
	a.must(err)
	_, err = a.userinfo(get(machine.AccessToken))
	wantRefused(t, err, "invalid_token")
	r, err = a.redeem(a.code(browser{}, ask("scope", "email")))
	a.must(err)
	_, err = a.userinfo(get(r.AccessToken))
	wantRefused(t, err, "insufficient_scope")
	a.now = a.now.Add(time.Hour)
	_, err = a.userinfo(get(r.AccessToken))
	wantRefused(t, err, "invalid_token")
}

// A resource server does not learn more about the user with a token for it.
func TestUserInfoIsForClients(t *testing.T) {
	a := newSignIns(t)
	for _, test := range []struct {
		resources []string
		reported  bool
	}{{nil, true}, {[]string{base}, true}, {[]string{shop, base}, true}, {[]string{base + "/mcp"}, true}, {[]string{shop}, false}} {
		q := ask("scope", "openid email")
		q["resource"] = test.resources
		r, err := a.redeem(a.code(browser{}, q))
		a.must(err)
		reported, err := a.userinfo(get(r.AccessToken))
		if test.reported && (err != nil || reported["email"] != "ann@example.com") {
			t.Errorf("for %v: %v, %v", test.resources, reported, err)
		}
		if !test.reported {
			wantRefused(t, err, "invalid_token")
		}
	}
	// Who may have one for both gets one for here.
	q := ask("scope", "openid email")
	q["resource"] = []string{shop, base}
	r, err := a.redeem(a.code(browser{}, q), "resource", shop)
	a.must(err)
	_, err = a.userinfo(get(r.AccessToken))
	wantRefused(t, err, "invalid_token")
	r, err = a.refresh(r.RefreshToken, "resource", base)
	a.must(err)
	_, err = a.userinfo(get(r.AccessToken))
	a.must(err)
}

func (a *signIns) show(h func(http.ResponseWriter, *http.Request) error, form url.Values, headers ...string) (string, error) {
	rec := httptest.NewRecorder()
	err := h(rec, request(form.Encode(), headers...))
	return rec.Body.String(), err
}

func TestIntrospect(t *testing.T) {
	a := newSignIns(t)
	r, err := a.redeem(a.code(browser{}, ask()))
	a.must(err)
	own := a.accessOf("conf", base)
	reported, err := a.show(a.provider.Introspect, url.Values{"token": {own}}, basic("conf", secret))
	if err != nil || !strings.Contains(reported, `"active":true`) || !strings.Contains(reported, `"sub":"`+a.user.ID) || !strings.Contains(reported, `"client_id":"conf"`) {
		t.Errorf("%s, %v", reported, err)
	}
	for name, raw := range map[string]string{"another client's access token": r.AccessToken, "another client's refresh token": r.RefreshToken, "an ID token": r.IDToken, "an assertion": a.assertion("app-app"), "garbage": "x"} {
		if reported, err := a.show(a.provider.Introspect, url.Values{"token": {raw}}, basic("conf", secret)); err != nil || reported != `{"active":false}` {
			t.Errorf("%s: %s, %v", name, reported, err)
		}
	}
	_, err = a.show(a.provider.Introspect, url.Values{"token": {r.AccessToken}, "client_id": {"app"}})
	wantRefused(t, err, "invalid_client")
	_, err = a.show(a.provider.Introspect, url.Values{"token": {r.AccessToken}}, basic("conf", "wrong"))
	wantRefused(t, err, "invalid_client")
	_, err = a.show(a.provider.Introspect, nil, basic("conf", secret))
	wantRefused(t, err, "invalid_request")
	_, err = a.show(a.provider.Revoke, url.Values{"token": {own}, "client_id": {"app"}})
	wantRefused(t, err, "invalid_grant") // another client's
	if reported, err := a.show(a.provider.Introspect, url.Values{"token": {own}}, basic("conf", secret)); err != nil || !strings.Contains(reported, `"active":true`) {
		t.Errorf("another client has revoked it: %s, %v", reported, err)
	}
	_, err = a.show(a.provider.Revoke, url.Values{"token": {own}}, basic("conf", secret))
	a.must(err)
	if reported, err := a.show(a.provider.Introspect, url.Values{"token": {own}}, basic("conf", secret)); err != nil || reported != `{"active":false}` {
		t.Errorf("revoked: %s, %v", reported, err)
	}
}

// accessOf is an access token that a client has for the user, meant for an audience.
func (a *signIns) accessOf(clientID, audience string) string {
	a.t.Helper()
	app, err := a.store.ApplicationByClientID(a.t.Context(), clientID)
	a.must(err)
	raw, err := a.tokens.Access(a.t.Context(), token.Claims{
		Subject: a.user.ID, ClientID: clientID, Audience: []string{audience}, Scope: []string{"openid"}, Generation: app.TokenGeneration,
	})
	a.must(err)
	return raw
}

// Another client's token is refused (RFC 7009 §2.1); one that is worthless already is not
// an error (§2.2).
func TestRevoke(t *testing.T) {
	a := newSignIns(t)
	r, err := a.redeem(a.code(browser{}, ask()))
	a.must(err)
	for raw, want := range map[string]string{r.AccessToken: "invalid_grant", r.RefreshToken: "invalid_grant",
		r.IDToken: "unsupported_token_type", a.assertion("app-app"): "unsupported_token_type"} {
		_, err := a.show(a.provider.Revoke, url.Values{"token": {raw}}, basic("conf", secret))
		wantRefused(t, err, want)
	}
	if !a.live(r.AccessToken) {
		t.Fatal("another client revoked the token")
	}
	second, err := a.refresh(r.RefreshToken)
	a.must(err)
	_, err = a.show(a.provider.Revoke, url.Values{"token": {r.AccessToken}, "client_id": {"app"}})
	a.must(err)
	if a.live(r.AccessToken) || !a.live(second.AccessToken) {
		t.Error("not that one token was revoked")
	}
	_, err = a.show(a.provider.Revoke, url.Values{"token": {second.RefreshToken}, "client_id": {"app"}})
	a.must(err)
	if a.live(second.AccessToken) {
		t.Error("the access token outlived its refresh token")
	}
	var revoked []string
	for _, e := range a.events {
		if e.Action == "token.revoked" && e.UserID == a.user.ID {
			revoked = append(revoked, e.Resource.Type)
		}
	}
	if !slices.Equal(revoked, []string{"token", "refreshFamily"}) {
		t.Errorf("recorded that %v were revoked", revoked)
	}
	_, err = a.refresh(second.RefreshToken)
	wantRefused(t, err, "invalid_grant")
	for _, raw := range []string{"garbage", r.AccessToken, r.RefreshToken} {
		_, err := a.show(a.provider.Revoke, url.Values{"token": {raw}, "token_type_hint": {"of_the_future"}, "client_id": {"app"}})
		a.must(err)
	}
	_, err = a.show(a.provider.Revoke, url.Values{"token": {"x"}}, basic("conf", "wrong"))
	wantRefused(t, err, "invalid_client")
}

func TestOriginTrust(t *testing.T) {
	a := newSignIns(t)
	for origin, want := range map[string]oauth.OriginTrust{"https://app.example.com": oauth.TrustedOrigin, "http://127.0.0.1:8000": oauth.TrustedOrigin,
		"https://app.example.com:8443": 0, "http://app.example.com": 0, "https://example.com": 0, "null": 0, "": 0, "com.example.app://": 0} {
		if got := a.provider.OriginTrust(t.Context(), origin); got != want {
			t.Errorf("%q: %v", origin, got)
		}
	}
}

// Where anyone can be a client, a client may not probe tokens.
func TestUntrustedClientsIntrospectTheirTokens(t *testing.T) {
	s := newUntrustedClients(t)
	confidential := func(by *directory.Call) (id, credentials string) {
		reported, err := s.register(`{"redirect_uris":["`+clientBack+`"]}`, by)
		s.must(err)
		id = reported["client_id"].(string)
		return id, basic(id, reported["client_secret"].(string))
	}
	mine, asMine := confidential(nil)
	theirs, asTheirs := confidential(nil)
	active := func(raw, as string) bool {
		reported, err := s.show(s.provider.Introspect, url.Values{"token": {raw}}, as)
		s.must(err)
		return reported != `{"active":false}`
	}
	found := s.signIn(theirs, clientBack, "openid system", asTheirs).AccessToken
	if active(found, asMine) || !active(found, asTheirs) {
		t.Error("a self-registered client can introspect another client's token, or not its own")
	}
	app, err := s.directory.Client(t.Context(), mine)
	s.must(err)
	s.vouch(app, `"description":"an API"`)
	if active(found, asMine) {
		t.Error("a client that an administrator vouches for learns of another's token")
	}
}

// Anyone can enter any address: clients get it once it is verified, or with email_verified: false from a server
// that cannot verify it.
func TestUnverifiedAddressIsNotReleased(t *testing.T) {
	for _, unverified := range []bool{false, true} {
		for _, state := range []any{nil, false, true} {
			a := newSignIns(t)
			a.provider.Unverified = unverified
			a.user.ID, a.user.Attributes = schemas.NewID(), map[string]any{"username": "bea", "email": "ann@elsewhere.example"}
			if state != nil {
				a.user.Attributes["email_verified"] = state
			}
			a.must(a.store.Apply(t.Context(), []schemas.Change{schemas.CreateUser{User: a.user}}))
			r, err := a.redeem(a.code(browser{}, ask("scope", "openid email")))
			a.must(err)
			reported, err := a.userinfo(get(r.AccessToken))
			a.must(err)
			refreshed, err := a.refresh(r.RefreshToken)
			a.must(err)
			_, first := claims(t, r.IDToken)
			_, second := claims(t, refreshed.IDToken)
			for _, got := range []map[string]any{reported, first, second} {
				wantEmail, wantState := any("ann@elsewhere.example"), any(state == true)
				if state != true && !unverified {
					wantEmail, wantState = nil, nil
				}
				if got["email"] != wantEmail || got["email_verified"] != wantState {
					t.Errorf("verified %v, released unverified %v: %v", state, unverified, got)
				}
			}
		}
	}
}

// A request has one token (RFC 6750 §2). A form without one may accompany the header.
func TestUserInfoTakesOneToken(t *testing.T) {
	a := newSignIns(t)
	r, err := a.redeem(a.code(browser{}, ask("scope", "openid")))
	a.must(err)
	for body, fits := range map[string]bool{"access_token=" + r.AccessToken: false, "access_token=": false, "other=1": true, "": true} {
		post := httptest.NewRequest("POST", "/oauth2/userinfo", strings.NewReader(body))
		post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		post.Header.Set("Authorization", "Bearer "+r.AccessToken)
		if _, err := a.userinfo(post); fits {
			a.must(err)
		} else {
			wantRefused(t, err, "invalid_request")
		}
	}
}

// max_age of any size is accepted.
func TestLargeMaxAge(t *testing.T) {
	a := newSignIns(t)
	for age, fits := range map[string]bool{"2147483647": true, "2147483648": true, "99999999999999999999": true, "-1": false, "1.5": false, "x": false} {
		if to := a.authorize(browser{}, ask("max_age", age)); (to.Query().Get("error") == "") != fits {
			t.Errorf("%s: %v", age, to)
		}
	}
}

// Without a client, the sign-out names what is missing, and not a client that does not exist.
func TestLogoutWithoutClient(t *testing.T) {
	a := newSignIns(t)
	to := location(t, a.logout(browser{}, url.Values{"post_logout_redirect_uri": {postLogoutURI}})).Query()
	if to.Get("error") != "invalid_request" || !strings.Contains(to.Get("error_description"), "client_id") {
		t.Errorf("%v", to)
	}
}

// A resource server decides about a step-up by the class and the time of the sign-in (RFC 9470 §6.2).
func TestIntrospectionStatesTheSignIn(t *testing.T) {
	a := newSignIns(t)
	code := a.code(browser{}, ask("client_id", "conf"))
	r, err := a.token(url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {verifier}}, basic("conf", secret))
	a.must(err)
	rec := httptest.NewRecorder()
	a.must(a.provider.Introspect(rec, request(url.Values{"token": {r.AccessToken}}.Encode(), basic("conf", secret))))
	var got struct {
		Active   bool
		ACR      string
		AuthTime int64 `json:"auth_time"`
	}
	a.must(json.Unmarshal(rec.Body.Bytes(), &got))
	if !got.Active || got.ACR != "high" || got.AuthTime != a.now.Unix() {
		t.Errorf("got %s", rec.Body)
	}
}

// Introspection names the user of a token that may have the user's profile.
func TestIntrospectionNamesTheUser(t *testing.T) {
	a := newSignIns(t)
	for scope, want := range map[string]string{"openid profile": "ann", "openid email": ""} {
		code := a.code(browser{}, ask("client_id", "conf", "scope", scope))
		r, err := a.token(url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {verifier}}, basic("conf", secret))
		a.must(err)
		for _, raw := range []string{r.AccessToken, r.RefreshToken} {
			rec := httptest.NewRecorder()
			a.must(a.provider.Introspect(rec, request(url.Values{"token": {raw}}.Encode(), basic("conf", secret))))
			var got struct{ Username string }
			a.must(json.Unmarshal(rec.Body.Bytes(), &got))
			if got.Username != want {
				t.Errorf("%s: got %s", scope, rec.Body)
			}
		}
	}
}
