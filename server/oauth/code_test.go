package oauth_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func TestCodeExchange(t *testing.T) {
	a := newSignIns(t)
	r, err := a.redeem(a.code(browser{}, ask("scope", "openid profile system:users")))
	a.must(err)
	if r.TokenType != "Bearer" || r.ExpiresIn != 600 || r.Scope != "openid profile" || r.RefreshToken == "" {
		t.Errorf("got %+v", r)
	}
	header, c := claims(t, r.AccessToken)
	if header["typ"] != "at+jwt" || header["alg"] != "ES256" || c["sub"] != a.user.ID || c["client_id"] != "app" || c["scope"] != "openid profile" ||
		c["iss"] != base || c["sid"] == nil || c["aud"] != "app" {
		t.Errorf("access token %v %v", header, c)
	}
	header, c = claims(t, r.IDToken)
	if header["alg"] != "RS256" || c["iss"] != base || c["aud"] != "app" || c["sub"] != a.user.ID || c["nonce"] != "n" || c["at_hash"] == nil ||
		c["auth_time"] == nil || c["acr"] != "high" || c["given_name"] != "Ann" || c["preferred_username"] != "ann" || c["email"] != nil || c["shoe_size"] != nil {
		t.Errorf("ID token %v %v", header, c)
	}
}

// TestOpenIDAloneReleasesNothing: who asks to know that it is the same person does not
// learn who.
func TestOpenIDAloneReleasesNothing(t *testing.T) {
	a := newSignIns(t)
	r, err := a.redeem(a.code(browser{}, ask("scope", "openid")))
	a.must(err)
	_, c := claims(t, r.IDToken)
	for _, name := range []string{"email", "username", "preferred_username", "given_name", "phone_number"} {
		if c[name] != nil {
			t.Errorf("openid alone reveals %s", name)
		}
	}
	r, err = a.redeem(a.code(browser{}, ask("scope", "profile")))
	a.must(err)
	if r.IDToken != "" {
		t.Error("there is an ID token without the scope openid")
	}
	r, err = a.redeem(a.code(browser{}, ask("scope", "")))
	if err != nil || r.AccessToken == "" || r.Scope != "" || r.IDToken != "" {
		t.Errorf("without a scope: %+v, %v", r, err)
	}
}

// TestPKCEDowngrade has the attacks on PKCE (RFC 9700 §4.8).
func TestPKCEDowngrade(t *testing.T) {
	a := newSignIns(t)
	conf := func(q ...string) url.Values { return ask(append([]string{"client_id", "lax"}, q...)...) }
	send := func(code, verifier string) error {
		form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}}
		if verifier != "" {
			form.Set("code_verifier", verifier)
		}
		_, err := a.token(form, basic("lax", secret))
		return err
	}
	for _, wrong := range []string{"", "wrong-" + verifier, s256(verifier), verifier[:42], verifier + strings.Repeat("x", 128), strings.ToUpper(verifier)} {
		wantRefused(t, send(a.code(browser{}, conf()), wrong), "invalid_grant")
	}
	a.must(send(a.code(browser{}, conf()), verifier))
	without := conf("code_challenge", "", "code_challenge_method", "")
	code := a.code(browser{}, without)
	wantRefused(t, send(code, verifier), "invalid_grant")
	a.must(send(code, "")) // what was refused used nothing up
	_, err := a.token(url.Values{"grant_type": {"authorization_code"}, "code": {a.code(browser{}, without)}}, basic("lax", secret))
	wantRefused(t, err, "invalid_grant") // neither challenge nor redirect_uri
}

// TestCodeBelongsToTheClient has a code in other hands.
func TestCodeBelongsToTheClient(t *testing.T) {
	a := newSignIns(t)
	code := a.code(browser{}, ask())
	_, err := a.token(url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {verifier}}, basic("conf", secret))
	wantRefused(t, err, "invalid_grant")
	_, err = a.redeem(code, "redirect_uri", "http://127.0.0.1:8000/cb")
	wantRefused(t, err, "invalid_grant")
	_, err = a.redeem(code, "client_id", "conf")
	wantRefused(t, err, "invalid_client")
	_, err = a.redeem("guess")
	wantRefused(t, err, "invalid_grant")
	_, err = a.redeem(code, "redirect_uri", "")
	a.must(err)
	late := a.code(browser{}, ask())
	a.now = a.now.Add(time.Minute)
	_, err = a.redeem(late)
	wantRefused(t, err, "invalid_grant")
}

// TestCodeIsUsedOnce: a replay revokes all that the code gave.
func TestCodeIsUsedOnce(t *testing.T) {
	a := newSignIns(t)
	code := a.code(browser{}, ask())
	first, err := a.redeem(code)
	a.must(err)
	second, err := a.refresh(first.RefreshToken)
	a.must(err)
	if !a.live(first.AccessToken) || !a.live(second.AccessToken) {
		t.Fatal("the tokens are worth nothing to begin with")
	}
	_, err = a.redeem(code)
	wantRefused(t, err, "invalid_grant")
	if a.live(first.AccessToken) || a.live(second.AccessToken) {
		t.Error("an access token outlived the replay of its code")
	}
	_, err = a.refresh(second.RefreshToken)
	wantRefused(t, err, "invalid_grant")
	if e := a.events[len(a.events)-1]; e.Action != "token.reused" || e.UserID != a.user.ID {
		t.Errorf("recorded %+v", e)
	}
}

// TestCodeIsUsedAtomically has a code redeemed by many at once.
func TestCodeIsUsedAtomically(t *testing.T) {
	a := newSignIns(t)
	code := a.code(browser{}, ask())
	var given atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := a.redeem(code); err == nil {
				given.Add(1)
			}
		})
	}
	all.Wait()
	if given.Load() != 1 {
		t.Errorf("%d got tokens for one code", given.Load())
	}
}

func TestRefresh(t *testing.T) {
	a := newSignIns(t)
	first, err := a.redeem(a.code(browser{}, ask("scope", "openid profile email")))
	a.must(err)
	a.now = a.now.Add(time.Minute)
	second, err := a.refresh(first.RefreshToken)
	a.must(err)
	_, before := claims(t, first.IDToken)
	_, after := claims(t, second.IDToken)
	if after["sub"] != before["sub"] || after["auth_time"] != before["auth_time"] || after["nonce"] != nil || after["iat"] == before["iat"] || after["email"] == nil {
		t.Errorf("the new ID token has %v, the first had %v", after, before)
	}
	if second.RefreshToken == first.RefreshToken || second.Scope != "openid profile email" {
		t.Errorf("got %+v", second)
	}
	a.now = a.now.Add(9 * time.Second)
	again, err := a.refresh(first.RefreshToken) // the reply was lost
	a.must(err)
	if again.RefreshToken != second.RefreshToken {
		t.Error("a lost reply gave another successor")
	}
	narrow, err := a.refresh(second.RefreshToken, "scope", "openid")
	a.must(err)
	if _, c := claims(t, narrow.IDToken); narrow.Scope != "openid" || c["email"] != nil {
		t.Errorf("narrowed to %+v, %v", narrow, c)
	}
	_, err = a.refresh(narrow.RefreshToken, "scope", "openid phone")
	wantRefused(t, err, "invalid_scope")
	wide, err := a.refresh(narrow.RefreshToken)
	a.must(err)
	if wide.Scope != "openid profile email" {
		t.Errorf("got the scope %s back", wide.Scope)
	}
}

// TestRefreshTokenIsStolen: who comes second with a token that has had its turn
// ends the family, and it does not matter who of the two was the thief.
func TestRefreshTokenIsStolen(t *testing.T) {
	a := newSignIns(t)
	first, err := a.redeem(a.code(browser{}, ask()))
	a.must(err)
	second, err := a.refresh(first.RefreshToken)
	a.must(err)
	a.now = a.now.Add(10 * time.Second)
	_, err = a.refresh(first.RefreshToken)
	wantRefused(t, err, "invalid_grant")
	_, err = a.refresh(second.RefreshToken)
	wantRefused(t, err, "invalid_grant")
	if a.live(second.AccessToken) {
		t.Error("the access token outlived its family")
	}
	first, err = a.redeem(a.code(browser{}, ask()))
	a.must(err)
	_, err = a.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {first.RefreshToken}}, basic("conf", secret))
	wantRefused(t, err, "invalid_grant")
	flip := func(i int) string {
		b := []byte(first.RefreshToken)
		b[i] ^= 1
		return string(b)
	}
	for _, forged := range []string{"", "x", flip(0), flip(25), flip(60), first.RefreshToken + "A", first.RefreshToken[:68], first.AccessToken} {
		if _, err = a.refresh(forged); err == nil {
			t.Errorf("%q was taken", forged)
		}
	}
	_, err = a.refresh(first.RefreshToken)
	a.must(err)
}

// TestSessionEnds: with it ends what it began.
func TestSessionEnds(t *testing.T) {
	a, b := newSignIns(t), browser{}
	r, err := a.redeem(a.code(b, ask()))
	a.must(err)
	code := a.code(browser{}, ask())
	_, c := claims(t, r.AccessToken)
	a.must(a.store.Apply(t.Context(), []schemas.Change{schemas.EndSession{ID: c["sid"].(string)}}))
	_, err = a.refresh(r.RefreshToken)
	wantRefused(t, err, "invalid_grant")
	a.authorize(b, ask())
	if a.session != nil {
		t.Error("the browser still has the session")
	}
	a.must(a.store.Update(t.Context(), func(tx *store.Tx) error { return store.Users().Delete(tx, a.user.ID, a.user.UpdatedAt) }))
	_, err = a.redeem(code)
	wantRefused(t, err, "invalid_grant")
}

// TestUserPermissions: a token carries what the user's roles grant when it is
// issued, of what was asked for and the client may have.
func TestUserPermissions(t *testing.T) {
	a := newSignIns(t)
	server := schemas.ResourceServer{ID: schemas.NewID(), Handle: "system", Name: "System", OUID: a.user.OUID, CreatedAt: a.now, UpdatedAt: a.now,
		Resources: []schemas.Resource{{Handle: "users", Actions: []schemas.ResourceAction{{Handle: "read"}}}}}
	role := schemas.Role{ID: schemas.NewID(), Name: "Reader", OUID: a.user.OUID, Permissions: []string{"system:users:read"}, CreatedAt: a.now, UpdatedAt: a.now,
		Assignments: []schemas.Principal{{Type: schemas.UserPrincipal, ID: a.user.ID}}}
	a.must(a.store.Update(t.Context(), func(tx *store.Tx) error {
		if err := store.ResourceServers().Insert(tx, &server); err != nil {
			return err
		}
		return store.Roles().Insert(tx, &role)
	}))
	r, err := a.redeem(a.code(browser{}, ask("scope", "openid system:users system")))
	a.must(err)
	_, c := claims(t, r.AccessToken)
	if r.Scope != "openid system:users:read" || c["aud"] != base {
		t.Errorf("the scope %s, for %v", r.Scope, c["aud"])
	}
	a.must(a.store.Update(t.Context(), func(tx *store.Tx) error { return store.Roles().Delete(tx, role.ID, role.UpdatedAt) }))
	r, err = a.refresh(r.RefreshToken)
	a.must(err)
	if r.Scope != "openid" {
		t.Errorf("the scope %s after the role was taken", r.Scope)
	}
}

// TestResource: RFC 8707.
func TestResource(t *testing.T) {
	a := newSignIns(t)
	both := ask()
	both["resource"] = []string{shop, base + "/mcp"}
	r, err := a.redeem(a.code(browser{}, both))
	a.must(err)
	if _, c := claims(t, r.AccessToken); !slices.Equal(c["aud"].([]any), []any{shop, base + "/mcp"}) {
		t.Errorf("for %v", c["aud"])
	}
	one, err := a.refresh(r.RefreshToken, "resource", shop)
	a.must(err)
	if _, c := claims(t, one.AccessToken); c["aud"] != shop {
		t.Errorf("for %v", c["aud"])
	}
	_, err = a.refresh(one.RefreshToken, "resource", base)
	wantRefused(t, err, "invalid_target")
}

// TestGrantsOfTheClient: what a client is not registered for it does not get.
func TestGrantsOfTheClient(t *testing.T) {
	a := newSignIns(t)
	a.clients.list["app"].OAuth().GrantTypes = []string{schemas.GrantAuthorizationCode}
	r, err := a.redeem(a.code(browser{}, ask()))
	a.must(err)
	if r.RefreshToken != "" {
		t.Error("got a refresh token")
	}
	_, err = a.refresh("x")
	wantRefused(t, err, "unauthorized_client")
	a.clients.list["app"].OAuth().Token.IDToken.SignedResponseAlg = "ES256"
	r, err = a.redeem(a.code(browser{}, ask()))
	a.must(err)
	if header, _ := claims(t, r.IDToken); header["alg"] != "ES256" {
		t.Errorf("the ID token is signed by %v", header)
	}
}

// Clients spell the address of a resource in several ways; tokens have the registered spelling.
func TestResourceSpellings(t *testing.T) {
	a := newSignIns(t)
	for sent, want := range map[string]string{
		shop: shop, "HTTPS://Shop.example.com:443/api": shop, base + "/": base, base + ":443/mcp": base + "/mcp", shop + "/": "", "https://shop.example.com/API": "", "http://shop.example.com/api": "",
	} {
		q := ask("resource", sent)
		if want == "" {
			if to := a.authorize(browser{}, q).Query(); to.Get("error") != "invalid_target" {
				t.Errorf("%s: %v", sent, to)
			}
			continue
		}
		r, err := a.redeem(a.code(browser{}, q), "resource", sent)
		a.must(err)
		again, err := a.refresh(r.RefreshToken, "resource", sent)
		a.must(err)
		for _, token := range []string{r.AccessToken, again.AccessToken} {
			if _, c := claims(t, token); fmt.Sprint(c["aud"]) != want && fmt.Sprint(c["aud"]) != "["+want+"]" {
				t.Errorf("%s: the audience %v", sent, c["aud"])
			}
		}
	}
}
