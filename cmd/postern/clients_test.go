package main

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// configuredClient creates an application as an administrator does, with these members of
// an OAuth configuration, and returns it with a new browser.
func (w *testApp) configuredClient(t testing.TB, config string) *party {
	t.Helper()
	c := w.create(w.directory.Applications, fmt.Sprintf(`{"name":%q,"inboundAuthConfig":[{"type":"oauth2","config":{%s}}]}`, schemas.NewID(), config)).Value.(*schemas.Application)
	return &party{testApp: w, t: t, http: newBrowser(t, w.http), mode: "query", id: c.ClientID, secret: c.ClientSecret,
		method: cmp.Or(c.OAuth().TokenEndpointAuthMethod, schemas.AuthMethodBasic), redirect: rpRedirect}
}

// The authorize call of the specification has client_id, redirect_uri, response_type and
// scope only, and the application is configured with redirectUris only.
func TestAuthorizeCallOfTheSpecificationWorksWithDefaults(t *testing.T) {
	p := createUsers(t).configuredClient(t, `"redirectUris":["`+rpRedirect+`"]`)
	call := url.Values{"client_id": {p.id}, "redirect_uri": {rpRedirect}, "response_type": {"code"}, "scope": {"openid"}}
	a := p.follow(p.visit(p.at("/oauth2/authorize?" + call.Encode())))
	if a.to != rpRedirect || a.params.Get("code") == "" || a.params.Has("state") {
		t.Fatalf("answered %+v", a)
	}
	reported, status := p.token(url.Values{"grant_type": {"authorization_code"}, "code": {a.params.Get("code")}})
	if status != http.StatusBadRequest || reported.Error != "invalid_grant" {
		t.Errorf("a code without a challenge was redeemed without its redirect_uri: %d %+v", status, reported)
	}
	got, status := p.redeem(a.params.Get("code"))
	if status != http.StatusOK || got.Access == "" {
		t.Fatalf("%d %+v", status, got)
	}
	if id, _ := p.verify(got); id.Subject == "" {
		t.Error("the ID token has no subject")
	}
	if reported, status := p.redeem(a.params.Get("code")); status != http.StatusBadRequest || reported.Error != "invalid_grant" {
		t.Errorf("the code was redeemed twice: %d %+v", status, reported)
	}
}

// A code challenge binds the code even where PKCE is optional.
func TestChallengeIsEnforcedWherePKCEIsOptional(t *testing.T) {
	p := createUsers(t).configuredClient(t, `"redirectUris":["`+rpRedirect+`"]`)
	code := p.code(p.ask(pkce()...))
	for _, verifier := range []string{"", strings.Repeat("x", 43)} {
		if reported, status := p.redeem(code, "code_verifier", verifier); status != http.StatusBadRequest || reported.Error != "invalid_grant" {
			t.Errorf("the verifier %q: %d %+v", verifier, status, reported)
		}
	}
	if got, status := p.redeem(code, "code_verifier", gateVerifier); status != http.StatusOK {
		t.Errorf("%d %+v", status, got)
	}
	if reported, status := p.redeem(p.code(p.ask()), "code_verifier", gateVerifier); status != http.StatusBadRequest || reported.Error != "invalid_grant" {
		t.Errorf("a verifier without a challenge: %d %+v", status, reported)
	}
	p.refused(p.ask("code_challenge", gateVerifier, "code_challenge_method", "plain"), "invalid_request")
}

func TestMissingChallengeNamesPKCERequired(t *testing.T) {
	w := createUsers(t)
	for name, config := range map[string]string{
		"confidential": `"redirectUris":["` + rpRedirect + `"],"pkceRequired":true`,
		"public":       `"redirectUris":["` + rpRedirect + `"],"publicClient":true`,
	} {
		a := w.configuredClient(t, config).ask()
		if said := a.params.Get("error_description"); a.params.Get("error") != "invalid_request" || !strings.Contains(said, "code_challenge") || !strings.Contains(said, "pkceRequired") {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// A page of an application's own answers an authorization request once, with the assertion
// of the run that the request started, or of one that the page started for it (authId). Its
// calls to /flow/execute carry no cookies. The assertion of any other run of the same
// application and user is rejected.
func TestAuthorizationRequestIsAnsweredByItsOwnRunOnce(t *testing.T) {
	w := createUsers(t)
	for name, begin := range map[string]func(p *party, gate url.Values) (executionID string){
		"the run of the request": func(_ *party, gate url.Values) string { return gate.Get("executionId") },
		"a run with its authId": func(p *party, gate url.Values) string {
			return p.step(map[string]any{"applicationId": gate.Get("applicationId"), "flowType": "AUTHENTICATION", "authId": gate.Get("authId")}).ExecutionID
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := w.configuredClient(t, `"redirectUris":["`+rpRedirect+`"]`)
			gate, other := p.begin(), p.begin()
			page := &party{testApp: w, t: t, http: newBrowser(t, w.http)}
			answer := func(authID, assertion string) (int, string) {
				return p.postJSON("/oauth2/auth/callback", map[string]string{"authId": authID, "assertion": assertion})
			}
			own := page.assertionAt(gate.Get("applicationId"))
			assertion := page.assertionOfRun(begin(p, gate))
			for what, raw := range map[string]string{"another run of the application": own, "no run": ""} {
				if status, said := answer(gate.Get("authId"), raw); status != http.StatusUnauthorized || !strings.Contains(said, "invalid_token") {
					t.Errorf("the assertion of %s: %d %s", what, status, said)
				}
			}
			if status, said := answer(other.Get("authId"), assertion); status != http.StatusUnauthorized || !strings.Contains(said, "invalid_token") {
				t.Errorf("at another request of the browser: %d %s", status, said)
			}
			if status, said := answer(gate.Get("authId"), assertion); status != http.StatusOK || !strings.Contains(said, "code=") {
				t.Fatalf("%d %s", status, said)
			}
			if status, said := answer(gate.Get("authId"), assertion); status != http.StatusBadRequest || strings.Contains(said, "code=") {
				t.Errorf("a second time: %d %s", status, said)
			}
		})
	}
}

// A client with a secret sends it either way, unless its tokenEndpointAuthMethod is set.
func TestSecretIsAcceptedEitherWayUnlessAMethodIsSet(t *testing.T) {
	w := createUsers(t)
	for set, accepted := range map[string][]string{
		"": {schemas.AuthMethodBasic, schemas.AuthMethodPost}, schemas.AuthMethodBasic: {schemas.AuthMethodBasic}, schemas.AuthMethodPost: {schemas.AuthMethodPost},
	} {
		config := `"grantTypes":["client_credentials"]`
		if set != "" {
			config += `,"tokenEndpointAuthMethod":"` + set + `"`
		}
		p := w.configuredClient(t, config)
		for _, p.method = range []string{schemas.AuthMethodBasic, schemas.AuthMethodPost} {
			got, status := p.token(url.Values{"grant_type": {"client_credentials"}})
			if fine := slices.Contains(accepted, p.method); fine != (status == http.StatusOK) ||
				!fine && (got.Error != "invalid_client" || !strings.Contains(got.Description, "tokenEndpointAuthMethod")) {
				t.Errorf("%q is set, %s is used: %d %+v", set, p.method, status, got)
			}
		}
		p.secret = "another-secret-0123456789-0123456789"
		if got, status := p.token(url.Values{"grant_type": {"client_credentials"}}); status != http.StatusUnauthorized {
			t.Errorf("%q is set: another secret is accepted: %d %+v", set, status, got)
		}
	}
}

// A self-registered client without a method may also use either; the reply contains the
// default of RFC 7591. A method that it registers is the only one.
func TestRegisteredClientUsesItsSecretEitherWay(t *testing.T) {
	r := newRegistrars(t)
	for set, works := range map[any]bool{nil: true, schemas.AuthMethodBasic: false} {
		p := r.party(t, "token_endpoint_auth_method", set)
		p.method = schemas.AuthMethodPost
		if got, status := p.redeem(p.code(p.ask())); works != (status == http.StatusOK) {
			t.Errorf("%v: %d %+v", set, status, got)
		}
	}
	if said, status := r.register(t, "token_endpoint_auth_method", nil); status != http.StatusCreated || said["token_endpoint_auth_method"] != schemas.AuthMethodBasic {
		t.Errorf("%d %v", status, said)
	}
}

// Public documents are readable from any origin, without credentials; endpoints with
// credentials are not.
func TestPublicMetadataIsReadableFromAnyOrigin(t *testing.T) {
	w := createUsers(t)
	for path, public := range map[string]bool{
		"/.well-known/openid-configuration": true, "/.well-known/oauth-authorization-server": true, "/oauth2/jwks": true,
		"/.well-known/oauth-protected-resource": true, "/.well-known/oauth-protected-resource/mcp": true,
		"/.well-known/webauthn": true, "/.well-known/passkey-endpoints": true, "/schemas/flow.json": true,
		"/oauth2/userinfo": false, "/flow/meta": false, "/users/me": false, "/applications": false, "/audit-events": false,
		"/oauth2/auth/callback": false, "/oauth2/authorize": false, "/oauth2/logout": false,
	} {
		for _, origin := range []string{evilOrigin, "null", "http://localhost:5173"} {
			h := w.fromPage(http.MethodGet, path, "", origin, "").Header()
			want := map[bool]string{true: "*"}[public]
			if got := h.Get("Access-Control-Allow-Origin"); got != want || h.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s from %s: %q, credentials %q", path, origin, got, h.Get("Access-Control-Allow-Credentials"))
			}
		}
	}
	for _, path := range []string{"/oauth2/token", "/oauth2/revoke", "/oauth2/introspect", "/oauth2/dcr/register", "/flow/execute", "/auth/passkey/start", "/mcp"} {
		if got := w.preflight(path, http.MethodPost, evilOrigin).Get("Access-Control-Allow-Origin"); got != "" {
			t.Errorf("the preflight of %s admits %q", path, got)
		}
	}
}

// A user without the attribute name gets the claim from the given name and the family name,
// in the ID token, at userinfo and in the assertion alike; an attribute name takes
// precedence.
func TestNameIsComposedOfGivenAndFamilyName(t *testing.T) {
	w := createUsers(t)
	p := w.configuredClient(t, `"redirectUris":["`+rpRedirect+`"],"scopes":["openid","profile","email"]`)
	app := w.applicationOf(p.id)
	user, err := w.directory.Users.Get(t.Context(), directory.SystemCall(), p.pat())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, given, family any
		want                string
	}{
		{"Pat Q. Doe", "Pat", "Doe", "Pat Q. Doe"}, {nil, "Pat", "Doe", "Pat Doe"}, {nil, "Pat", nil, "Pat"}, {nil, nil, "Doe", "Doe"}, {nil, nil, nil, ""},
	} {
		u := *user.Value.(*schemas.User)
		u.Attributes = map[string]any{"username": "pat", "password": rpPassword}
		for name, value := range map[string]any{"name": test.name, "given_name": test.given, "family_name": test.family} {
			if value != nil {
				u.Attributes[name] = value
			}
		}
		w.replace(w.directory.Users, u.ID, u)
		got, _, _ := p.newTokens().signInAndVerify("scope", "openid profile")
		says := map[string]string{"the ID token": got.ID, "the assertion": p.newTokens().assertionAt(app)}
		for where, raw := range says {
			if name, _ := payloadOf(t, raw)["name"].(string); name != test.want {
				t.Errorf("%+v: %s has %q", test, where, name)
			}
		}
		if name, _ := p.userinfo(got.Access)["name"].(string); name != test.want {
			t.Errorf("%+v: userinfo has %q", test, name)
		}
		minimal, _, _ := p.newTokens().signInAndVerify("scope", "openid email")
		if name := payloadOf(t, minimal.ID)["name"]; name != nil {
			t.Errorf("%+v: the name %v is released without the scope profile", test, name)
		}
	}
}

// A single audience is a string in every JWT.
func TestSingleAudienceIsAString(t *testing.T) {
	p := createUsers(t).configuredClient(t, `"redirectUris":["`+rpRedirect+`"],"grantTypes":["authorization_code","client_credentials"]`)
	got, _, _ := p.signInAndVerify()
	own, _ := p.token(url.Values{"grant_type": {"client_credentials"}})
	for what, raw := range map[string]string{"the ID token": got.ID, "the access token of a user": got.Access, "the access token of the client": own.Access} {
		if audience, is := payloadOf(t, raw)["aud"].(string); !is || audience == "" {
			t.Errorf("the aud of %s is %v", what, payloadOf(t, raw)["aud"])
		}
	}
	assertion := payloadOf(t, p.assertionAt(p.applicationOf(p.id)))
	if audiences, are := assertion["aud"].([]any); !are || len(audiences) != 2 {
		t.Errorf("the aud of the assertion is %v", assertion["aud"])
	}
	p.userinfo(got.Access) // finds the audience in the token
}

// payloadOf returns the claims of a JWT, without verifying it.
func payloadOf(t testing.TB, raw string) (claims map[string]any) {
	t.Helper()
	parts := append(strings.Split(raw, "."), "", "")
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(text, &claims)
	}
	if err != nil {
		t.Fatalf("%q is no JWT: %v", raw, err)
	}
	return claims
}

// A client may register an encryption key next to its signing key at the registration
// endpoint as over REST, but no set without a signing key.
func TestRegisteredClientHasAnEncryptionKeyNextToItsSigningKey(t *testing.T) {
	r := newRegistrars(t)
	signing := map[string]any{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
	encryption := map[string]any{"kty": "OKP", "crv": "X25519", "use": "enc", "x": "hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo"}
	for _, test := range []struct {
		keys   []any
		status int
	}{{[]any{signing, encryption}, http.StatusCreated}, {[]any{encryption}, http.StatusBadRequest}} {
		said, status := r.register(t, "token_endpoint_auth_method", schemas.AuthMethodPrivateKeyJWT, "jwks", map[string]any{"keys": test.keys})
		set, _ := said["jwks"].(map[string]any)
		kept, _ := set["keys"].([]any)
		if status != test.status || status == http.StatusCreated && len(kept) != len(test.keys) {
			t.Errorf("%d %v", status, said)
		}
	}
}
