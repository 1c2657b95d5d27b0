package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// configuredClient creates an application as an administrator does, with an OAuth
// configuration of these members, and returns it with a new browser.
func (w *rig) configuredClient(t testing.TB, config string) *party {
	t.Helper()
	c := w.create(w.directory.Applications, fmt.Sprintf(`{"name":%q,"inboundAuthConfig":[{"type":"oauth2","config":{%s}}]}`, schemas.NewID(), config)).Value.(*schemas.Application)
	return &party{rig: w, t: t, http: newBrowser(t, w.http), mode: "query", id: c.ClientID, secret: c.ClientSecret,
		method: c.OAuth().TokenEndpointAuthMethod, redirect: rpRedirect}
}

// The authorize call of the specification: client_id, redirect_uri, response_type and
// scope, and nothing else, at an application of which only redirectUris were configured.
func TestAuthorizeCallOfTheSpecificationWorksWithDefaults(t *testing.T) {
	p := newPeople(t).configuredClient(t, `"redirectUris":["`+rpRedirect+`"]`)
	call := url.Values{"client_id": {p.id}, "redirect_uri": {rpRedirect}, "response_type": {"code"}, "scope": {"openid"}}
	a := p.follow(p.visit(p.at("/oauth2/authorize?" + call.Encode())))
	if a.to != rpRedirect || a.params.Get("code") == "" || a.params.Has("state") {
		t.Fatalf("answered %+v", a)
	}
	told, status := p.token(url.Values{"grant_type": {"authorization_code"}, "code": {a.params.Get("code")}})
	if status != http.StatusBadRequest || told.Error != "invalid_grant" {
		t.Errorf("a code without a challenge was redeemed without its redirect_uri: %d %+v", status, told)
	}
	got, status := p.redeem(a.params.Get("code"))
	if status != http.StatusOK || got.Access == "" {
		t.Fatalf("%d %+v", status, got)
	}
	if id, _ := p.verify(got); id.Subject == "" {
		t.Error("the ID token has no subject")
	}
	if told, status := p.redeem(a.params.Get("code")); status != http.StatusBadRequest || told.Error != "invalid_grant" {
		t.Errorf("the code was redeemed twice: %d %+v", status, told)
	}
}

// A challenge that is sent binds the code, also where none is required.
func TestChallengeIsEnforcedWherePKCEIsOptional(t *testing.T) {
	p := newPeople(t).configuredClient(t, `"redirectUris":["`+rpRedirect+`"]`)
	code := p.code(p.ask(pkce()...))
	for _, verifier := range []string{"", strings.Repeat("x", 43)} {
		if told, status := p.redeem(code, "code_verifier", verifier); status != http.StatusBadRequest || told.Error != "invalid_grant" {
			t.Errorf("the verifier %q: %d %+v", verifier, status, told)
		}
	}
	if got, status := p.redeem(code, "code_verifier", gateVerifier); status != http.StatusOK {
		t.Errorf("%d %+v", status, got)
	}
	if told, status := p.redeem(p.code(p.ask()), "code_verifier", gateVerifier); status != http.StatusBadRequest || told.Error != "invalid_grant" {
		t.Errorf("a verifier without a challenge: %d %+v", status, told)
	}
	p.refused(p.ask("code_challenge", gateVerifier, "code_challenge_method", "plain"), "invalid_request")
}

func TestMissingChallengeNamesPKCERequired(t *testing.T) {
	w := newPeople(t)
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

// A page of an application's own answers an authorization request with the assertion of
// the run that the request began, or of one that the page began for it (authId), once.
// Its calls to /flow/execute carry no cookies. The assertion of any other run of the same
// application and user is refused.
func TestAuthorizationRequestIsAnsweredByItsOwnRunOnce(t *testing.T) {
	w := newPeople(t)
	for name, begin := range map[string]func(p *party, gate url.Values) (executionID string){
		"the run of the request": func(_ *party, gate url.Values) string { return gate.Get("executionId") },
		"a run with its authId": func(p *party, gate url.Values) string {
			return p.step(map[string]any{"applicationId": gate.Get("applicationId"), "flowType": "AUTHENTICATION", "authId": gate.Get("authId")}).ExecutionID
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := w.configuredClient(t, `"redirectUris":["`+rpRedirect+`"]`)
			gate, other := p.begin(), p.begin()
			page := &party{rig: w, t: t, http: newBrowser(t, w.http)}
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
