package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// codeTheft is a way to use an authorization request that was started in another browser. It
// gets the parameters of the gate and returns where it was redirected.
type codeTheft func(t *testing.T, thief *party, gate url.Values) (ledTo string)

// An authorization request cannot be continued in another browser, whatever of it has
// leaked: an attacker cannot enter the user's account, and cannot sign the user in to the
// attacker's account unnoticed (RFC 9700 §4.7, login CSRF).
func TestRunIsBoundToItsBrowser(t *testing.T) {
	newParty := newParties(t, "query")
	for name, steal := range codeThefts() {
		t.Run(name, func(t *testing.T) {
			victim, thief := newParty(t), newParty(t)
			gate := victim.begin()
			thief.begin() // sets cookies, of a request of its own
			if to := steal(t, thief, gate); strings.Contains(to, "code=") {
				t.Errorf("led to %s", to)
			}
			if to := victim.returnToClient(gate.Get("authId")); strings.Contains(to, "code=") {
				t.Errorf("the person's browser was led to %s", to)
			}
			if session := thief.ask("prompt", "none"); session.params.Get("error") != "login_required" {
				t.Errorf("a user is signed in in the attacker's browser: %+v", session)
			}
			if done := victim.ask("prompt", "none"); done.params.Get("error") != "login_required" {
				t.Errorf("a user is signed in in the victim's browser: %+v", done)
			}
		})
	}
}

// After the sign-in, another browser gets no code, and the attempt does not affect the
// user.
func TestCodeIsBoundToTheBrowser(t *testing.T) {
	newParty := newParties(t, "query")
	victim, thief := newParty(t), newParty(t)
	gate := victim.begin()
	thief.begin()
	back := victim.signIn(gate)
	for range 2 {
		if to := thief.returnToClient(gate.Get("authId")); strings.Contains(to, "code=") {
			t.Errorf("led to %s", to)
		}
		if said := thief.answerBy(gate.Get("authId"), thief.assertionAt(gate.Get("applicationId"))); strings.Contains(said, "code=") {
			t.Errorf("answered with %s", said)
		}
		thief.http = newBrowser(t, thief.testApp.http)
	}
	if _, status := victim.redeem(victim.code(victim.follow(victim.visit(back)))); status != http.StatusOK {
		t.Errorf("the person's own client got %d", status)
	}
}

// begin sends an authorization request and returns the parameters of the gate.
func (p *party) begin() url.Values {
	p.t.Helper()
	return p.location(first(p.visit(p.at("/oauth2/authorize?" + p.request().Encode())))).Query()
}

func codeThefts() map[string]codeTheft {
	return map[string]codeTheft{
		"signing in to the run, by its id": func(t *testing.T, thief *party, gate url.Values) string {
			return thief.tryRun(gate.Get("executionId"), gate.Get("authId"))
		},
		"signing in to the run in a browser without cookies": func(t *testing.T, thief *party, gate url.Values) string {
			thief.http = newBrowser(t, thief.testApp.http)
			return thief.tryRun(gate.Get("executionId"), gate.Get("authId"))
		},
		"a run of one's own for the request": func(t *testing.T, thief *party, gate url.Values) string {
			status, said := thief.postJSON("/flow/execute", map[string]any{"applicationId": gate.Get("applicationId"), "flowType": "AUTHENTICATION", "authId": gate.Get("authId")})
			if status != http.StatusBadRequest || !strings.Contains(said, schemas.CodeAuthRequest) {
				t.Errorf("%d %s", status, said)
			}
			return said
		},
		"the way back, before the sign-in": func(t *testing.T, thief *party, gate url.Values) string {
			return thief.returnToClient(gate.Get("authId"))
		},
		"an assertion of one's own": func(t *testing.T, thief *party, gate url.Values) string {
			return thief.answerBy(gate.Get("authId"), thief.assertionAt(gate.Get("applicationId")))
		},
		"an assertion of one's own in a browser without cookies": func(t *testing.T, thief *party, gate url.Values) string {
			assertion := thief.assertionAt(gate.Get("applicationId"))
			thief.http = newBrowser(t, thief.testApp.http)
			return thief.answerBy(gate.Get("authId"), assertion)
		},
	}
}

// tryRun signs in to a run, and follows the result. The signed-in user gets the assertion,
// but not the authorization request.
func (p *party) tryRun(id, authID string) string {
	p.t.Helper()
	to := p.signIn(url.Values{"executionId": {id}})
	reply, said := p.visit(to)
	if strings.Contains(said, "code=") {
		p.t.Errorf("answered with %s", said)
	}
	return reply.Header.Get("Location") + p.returnToClient(authID)
}

// returnToClient follows the address that the browser goes to after a run.
func (p *party) returnToClient(authID string) string {
	p.t.Helper()
	reply, _ := p.visit(p.at("/oauth2/auth/callback?authId=" + authID))
	return reply.Header.Get("Location")
}

// assertionAt returns the assertion of a sign-in to an application without an authorization
// request.
func (p *party) assertionAt(application string) string {
	p.t.Helper()
	return p.assertionOfRun(p.step(map[string]any{"applicationId": application, "flowType": "AUTHENTICATION"}).ExecutionID)
}

// assertionOfRun signs in to a run, and returns its assertion.
func (p *party) assertionOfRun(id string) string {
	p.t.Helper()
	p.step(map[string]any{"executionId": id, "action": "password"})
	s := p.step(map[string]any{"executionId": id, "action": "continue", "inputs": map[string]string{"username": "pat", "password": rpPassword}})
	if s.Assertion == "" {
		p.t.Fatalf("the sign-in ended in %+v", s)
	}
	return s.Assertion
}

// answerBy answers a request with an assertion, which must be rejected.
func (p *party) answerBy(authID, assertion string) string {
	p.t.Helper()
	status, said := p.postJSON("/oauth2/auth/callback", map[string]string{"authId": authID, "assertion": assertion})
	if status != http.StatusForbidden || !strings.Contains(said, "access_denied") {
		p.t.Errorf("%d %s", status, said)
	}
	return said
}
