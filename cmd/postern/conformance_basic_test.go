package main

import (
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// Basic OP, and Form Post OP: the same with another response mode.
func TestConformanceBasic(t *testing.T) { conformance(t, "query", basicModules()) }

func TestConformanceFormPost(t *testing.T) { conformance(t, "form_post", basicModules()) }

// trial is a module of the suite: a test.
type trial func(t *testing.T, newParty parties)

func conformance(t *testing.T, mode string, modules map[string]trial) {
	sequential(t)
	newParty := newParties(t, mode)
	for name, run := range modules {
		t.Run(name, func(t *testing.T) { run(t, newParty) })
	}
}

func basicModules() map[string]trial {
	const prefix = "oidcc-"
	modules := map[string]trial{
		"server":                expectSuccess(),
		"response-type-missing": expectError("invalid_request unsupported_response_type", "response_type", ""),
		"idtoken-signature":     idTokenSignature,
		"idtoken-unsigned":      idTokenUnsigned,
		"userinfo-get":          userinfoBy("get"),
		"userinfo-post-header":  userinfoBy("header"),
		"userinfo-post-body":    userinfoBy("body"),
		"ensure-request-without-nonce-succeeds-for-code-flow": expectSuccess("nonce", ""),
		"scope-profile":             scopeGives("profile", "name", "given_name", "family_name"),
		"scope-email":               scopeGives("email", "email", "email_verified"),
		"scope-address":             scopeGives("address", "address"),
		"scope-phone":               scopeGives("phone", "phone_number", "phone_number_verified"),
		"scope-all":                 scopeGives("profile email address phone", "name", "email", "address", "phone_number"),
		"alternate-happy-flow":      alternateFlow,
		"display-page":              expectSuccess("display", "page"),
		"display-popup":             expectSuccess("display", "popup"),
		"prompt-login":              promptLogin,
		"prompt-none-not-logged-in": expectError("login_required", "prompt", "none"),
		"prompt-none-logged-in":     promptNone,
		"max-age-1":                 maxAgeShort,
		"max-age-10000":             maxAgeLong,
		"ensure-request-with-unknown-parameter-succeeds": expectSuccess("extra", "foobar"),
		"id-token-hint":  idTokenHint,
		"login-hint":     expectSuccess("login_hint", "pat"),
		"ui-locales":     expectSuccess("ui_locales", "se"),
		"claims-locales": expectSuccess("claims_locales", "se"),
		"ensure-request-with-acr-values-succeeds": acrValues,
		"codereuse":                      codeReuse(0),
		"codereuse-30seconds":            codeReuse(30 * time.Second),
		"ensure-registered-redirect-uri": unregistered,
		"ensure-post-request-succeeds":   byPost,
		"server-client-secret-post":      clientSecretPost,
		"request-uri-unsigned-supported-correctly-or-rejected-as-unsupported":    expectError("request_uri_not_supported", "request_uri", "https://rp.example.com/request.jwt"),
		"unsigned-request-object-supported-correctly-or-rejected-as-unsupported": requestObject,
		"claims-essential":                        claimsEssential,
		"ensure-request-object-with-redirect-uri": requestObjectRedirect,
		"refresh-token":                           refreshToken,
		"ensure-request-with-valid-pkce-succeeds": withPKCE,
	}
	named := map[string]trial{}
	for name, run := range modules {
		named[prefix+name] = run
	}
	return named
}

// expectSuccess succeeds with the changed parameters.
func expectSuccess(change ...string) trial {
	return func(t *testing.T, newParty parties) {
		p := newParty(t)
		got, id, _ := p.signInAndVerify(change...)
		if said := p.userinfo(got.Access); said["sub"] != id.Subject || said["email"] != nil {
			t.Errorf("userinfo says %v", said)
		}
	}
}

// expectError gets one of the errors.
func expectError(codes string, change ...string) trial {
	return func(t *testing.T, newParty parties) {
		p := newParty(t)
		p.refused(p.ask(change...), strings.Fields(codes)...)
	}
}

func idTokenSignature(t *testing.T, newParty parties) {
	got, _, _ := newParty(t).signInAndVerify() // verifies it with the published keys
	head, err := base64.RawURLEncoding.DecodeString(strings.Split(got.ID, ".")[0])
	if err != nil || !strings.Contains(string(head), `"alg":"RS256"`) || !strings.Contains(string(head), `"kid":"`) {
		t.Errorf("the header is %s, %v", head, err)
	}
}

// idTokenUnsigned: a client cannot register for unsigned ID tokens, which is allowed (Core
// §2).
func idTokenUnsigned(t *testing.T, newParty parties) {
	p := newParty(t)
	text := fmt.Sprintf(`{"name":"Unsigned %s","inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":[%q],"token":{"idToken":{"signedResponseAlg":"none"}}}}]}`, schemas.NewID(), rpRedirect)
	d, problems := schemas.ParseJSON([]byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if _, err := p.directory.Applications.Create(t.Context(), directory.SystemCall(), d); !schemas.HasClass(err, schemas.Invalid) {
		t.Errorf("registered: %v", err)
	}
}

func userinfoBy(way string) trial {
	return func(t *testing.T, newParty parties) {
		p := newParty(t)
		got, id, _ := p.signInAndVerify("scope", "openid profile email")
		var said map[string]any
		switch way {
		case "get":
			said = p.userinfo(got.Access)
		case "header":
			r, err := http.NewRequest(http.MethodPost, p.at("/oauth2/userinfo"), nil)
			r.Header.Set("Authorization", "Bearer "+got.Access)
			said = p.claims(p.do(r, err))
		case "body":
			said = p.claims(p.submit(p.at("/oauth2/userinfo"), url.Values{"access_token": {got.Access}}))
		}
		if said["sub"] != id.Subject || said["email"] != "pat@example.com" {
			t.Errorf("userinfo says %v", said)
		}
	}
}

// scopeGives checks that scopes release their claims (Core §5.4), and no others.
func scopeGives(scope string, claims ...string) trial {
	return func(t *testing.T, newParty parties) {
		p := newParty(t)
		got, _, _ := p.signInAndVerify("scope", "openid "+scope)
		said := p.userinfo(got.Access)
		for _, claim := range claims {
			if said[claim] == nil {
				t.Errorf("userinfo lacks %s: %v", claim, said)
			}
		}
		for claim, of := range map[string]string{"name": "profile", "email": "email", "address": "address", "phone_number": "phone"} {
			if said[claim] != nil && !strings.Contains(scope, of) {
				t.Errorf("userinfo has %s: %v", claim, said)
			}
		}
	}
}

// alternateFlow has a redirect URI with a query, and special characters in the response.
func alternateFlow(t *testing.T, newParty parties) {
	p := newParty(t)
	p.redirect = rpQuery
	p.signInAndVerify("nonce", "n+/= \"'<>é", "scope", "openid profile email address phone")
}

// signedInEarlier is a sign-in that was three seconds ago.
func (p *party) signedInEarlier() (*oidc.IDToken, idClaims) {
	p.t.Helper()
	p.signInAndVerify()
	db, err := sql.Open("sqlite", p.cfg.Database.DSN)
	if err == nil {
		_, err = db.ExecContext(p.t.Context(), `UPDATE sessions SET created_at = created_at - 3000000, proofs = (SELECT json_group_array(
			json_set(value, '$.at', strftime('%Y-%m-%dT%H:%M:%fZ', json_extract(value, '$.at'), '-3 seconds'))) FROM json_each(proofs))`)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		p.t.Fatal(err)
	}
	_, token, claims := p.signInAndVerify("prompt", "none")
	return token, claims
}

func promptLogin(t *testing.T, newParty parties) {
	p := newParty(t)
	first, before := p.signedInEarlier()
	_, second, after := p.signInAndVerify("prompt", "login")
	if p.answers != 2 || second.Subject != first.Subject || after.AuthTime <= before.AuthTime {
		t.Errorf("asked %d times, auth_time was %d and is %d", p.answers, before.AuthTime, after.AuthTime)
	}
}

func promptNone(t *testing.T, newParty parties) {
	p := newParty(t)
	_, first, before := p.signInAndVerify()
	_, second, after := p.signInAndVerify("prompt", "none")
	if p.answers != 1 || second.Subject != first.Subject || after.AuthTime != before.AuthTime {
		t.Errorf("asked %d times, auth_time was %d and is %d", p.answers, before.AuthTime, after.AuthTime)
	}
}

func maxAgeShort(t *testing.T, newParty parties) {
	p := newParty(t)
	first, before := p.signedInEarlier()
	p.refused(p.ask("max_age", "1", "prompt", "none"), "login_required")
	_, second, after := p.signInAndVerify("max_age", "1")
	if p.answers != 2 || second.Subject != first.Subject || after.AuthTime <= before.AuthTime {
		t.Errorf("asked %d times, auth_time was %d and is %d", p.answers, before.AuthTime, after.AuthTime)
	}
}

func maxAgeLong(t *testing.T, newParty parties) {
	p := newParty(t)
	_, _, before := p.signInAndVerify()
	_, _, after := p.signInAndVerify("max_age", "10000")
	if p.answers != 1 || after.AuthTime == 0 || after.AuthTime != before.AuthTime {
		t.Errorf("asked %d times, auth_time was %d and is %d", p.answers, before.AuthTime, after.AuthTime)
	}
}

func idTokenHint(t *testing.T, newParty parties) {
	p := newParty(t)
	got, first, _ := p.signInAndVerify()
	if _, second, _ := p.signInAndVerify("prompt", "none", "id_token_hint", got.ID); second.Subject != first.Subject || p.answers != 1 {
		t.Errorf("asked %d times for %s, who was %s", p.answers, second.Subject, first.Subject)
	}
}

// acrValues are voluntary (Core §3.1.2.1): unknown classes cause no error, also with a
// session, and the ID token contains the actual one.
func acrValues(t *testing.T, newParty parties) {
	p := newParty(t)
	for range 2 {
		if _, _, claims := p.signInAndVerify("acr_values", "1 2"); claims.ACR != "urn:postern:acr:password" {
			t.Errorf("the acr is %q", claims.ACR)
		}
	}
	if p.answers != 1 {
		t.Errorf("asked %d times for what there is not", p.answers)
	}
	// A passkey would be a higher class than the session's password.
	p.refused(p.ask("acr_values", "phr", "prompt", "none"), "login_required")
	if _, _, claims := p.signInAndVerify("acr_values", "phr"); p.answers != 2 || claims.ACR != "urn:postern:acr:password" {
		t.Errorf("asked %d times, and the acr is %q", p.answers, claims.ACR)
	}
}

// codeReuse uses a code a second time, after a while, which revokes its tokens (RFC 6749
// §4.1.2).
func codeReuse(after time.Duration) trial {
	return func(t *testing.T, newParty parties) {
		p := newParty(t)
		code := p.code(p.ask())
		got, status := p.redeem(code)
		if status != http.StatusOK {
			t.Fatal(status)
		}
		later := p.authorizationServer(nil)
		later.Now = func() time.Time { return time.Now().Add(after) }
		form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {p.redirect}}
		r := clientRequest("/oauth2/token", p.id, p.secret, form)
		if err := later.Token(httptest.NewRecorder(), r); err == nil || !strings.Contains(err.Error(), "invalid_grant") {
			t.Errorf("the second time: %v", err)
		}
		if rec := p.testApp.call(http.MethodGet, "/oauth2/userinfo", got.Access, ""); rec.Code != http.StatusUnauthorized {
			t.Errorf("its access token is still good: %d %s", rec.Code, rec.Body)
		}
	}
}

// unregistered: an error page and no redirect (Core §3.1.2.1).
func unregistered(t *testing.T, newParty parties) {
	p := newParty(t)
	if a := p.ask("redirect_uri", rpRedirect+"/x"); !strings.HasPrefix(a.to, p.at("/gate/error?")) || p.answers > 0 {
		t.Errorf("led to %s", a.to)
	}
}

// byPost also works from a page of another origin (Core §3.1.2.1).
func byPost(t *testing.T, newParty parties) {
	p := newParty(t)
	reply, text := p.submit(p.at("/oauth2/authorize"), p.request(), "Origin: https://rp.example.com", "Sec-Fetch-Site: cross-site")
	got, status := p.redeem(p.code(p.follow(reply, text)))
	if status != http.StatusOK {
		t.Fatal(status)
	}
	p.verify(got)
}

func clientSecretPost(t *testing.T, newParty parties) {
	newParty(t, schemas.AuthMethodPost).signInAndVerify()
}

// unsigned is a request object with alg none.
func unsigned(claims string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + "."
}

func requestObject(t *testing.T, newParty parties) {
	p := newParty(t)
	p.refused(p.ask("request", unsigned(`{"client_id":"`+p.id+`","state":"another"}`)), "request_not_supported")
}

// requestObjectRedirect has the redirect URI in the request object, alone or with another
// outside of it: neither counts as registered.
func requestObjectRedirect(t *testing.T, newParty parties) {
	p := newParty(t)
	object := unsigned(`{"client_id":"` + p.id + `","redirect_uri":"` + rpRedirect + `"}`)
	for _, outer := range []string{"", "https://rp.example.com/other"} {
		if a := p.ask("request", object, "redirect_uri", outer); !strings.HasPrefix(a.to, p.at("/gate/error?")) {
			t.Errorf("led to %s", a.to)
		}
	}
	p.refused(p.ask("request", object), "request_not_supported")
}

func claimsEssential(t *testing.T, newParty parties) {
	p := newParty(t)
	got, _, _ := p.signInAndVerify("claims", `{"userinfo":{"name":{"essential":true}}}`)
	p.userinfo(got.Access)
}

// refreshToken: Core §12.2.
func refreshToken(t *testing.T, newParty parties) {
	p := newParty(t)
	first, before, was := p.signInAndVerify("scope", "openid offline_access", "prompt", "consent")
	again, status := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {first.Refresh}})
	if status != http.StatusOK || again.Access == first.Access || again.Refresh == first.Refresh {
		t.Fatalf("%d %+v", status, again)
	}
	after, is := p.verify(again)
	if after.Subject != before.Subject || after.Issuer != before.Issuer || after.Audience[0] != before.Audience[0] || is.AuthTime != was.AuthTime || is.Nonce != "" && is.Nonce != was.Nonce {
		t.Errorf("the ID token was %+v %+v, and is %+v %+v", before, was, after, is)
	}
	p.userinfo(again.Access)
	other := newParty(t, schemas.AuthMethodPost)
	if reported, status := other.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {again.Refresh}}); status != http.StatusBadRequest || reported.Error != "invalid_grant" {
		t.Errorf("another client: %d %+v", status, reported)
	}
}

// withPKCE has the challenge and the verifier of RFC 7636 appendix B.
func withPKCE(t *testing.T, newParty parties) {
	p := newParty(t)
	ask := []string{"code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method", "S256"}
	got, status := p.redeem(p.code(p.ask(ask...)), "code_verifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
	if status != http.StatusOK {
		t.Fatal(status)
	}
	p.verify(got)
	if reported, status := p.redeem(p.code(p.ask(ask...)), "code_verifier", strings.Repeat("x", 43)); status != http.StatusBadRequest || reported.Error != "invalid_grant" {
		t.Errorf("with another verifier: %d %+v", status, reported)
	}
}
