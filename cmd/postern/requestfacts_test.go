package main

import (
	"strings"
	"testing"
)

// branchingFlow chooses a branch by what the authorization request asks for.
const branchingFlow = `{"handle":"branching","name":"Branching","flowType":"AUTHENTICATION","nodes":[
	{"id":"look","use":"decision","with":{"cases":[
		{"when":"'email' in request.scopes","outcome":"email"},{"when":"'profile' in request.scopes","outcome":"profile"},
		{"when":"request.acrValues == ['mfa', 'phr']","outcome":"strong"}]},"next":{"email":"mail","profile":"scoped","strong":"classed","otherwise":"key"}},
	{"id":"mail","use":"prompt","with":{"title":"Mail","actions":[{"ref":"go","label":"Go"}]},"next":{"go":"key"}},
	{"id":"scoped","use":"prompt","with":{"title":"Scoped","actions":[{"ref":"go","label":"Go"}]},"next":{"go":"key"}},
	{"id":"classed","use":"prompt","with":{"title":"Classed","actions":[{"ref":"go","label":"Go"}]},"next":{"go":"key"}},
	{"id":"key","use":"passkey-authenticate","next":{"success":"done","failure":"key"}},
	{"id":"done","use":"authorization-code"}]}`

// Conditions of a flow see the scopes that the client may have and the acr_values of the
// authorization request, in their order. A run without a request has neither.
func TestConditionsSeeTheAuthorizationRequest(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		w := createUsers(t, environ...)
		p := w.relyingParty(t, "Branching", w.create(w.directory.Flows, branchingFlow).ID, "profile")
		for _, tt := range []struct {
			what   string
			change []string
			step   string
		}{
			{"neither", nil, "key"},
			{"a scope", []string{"scope", "openid profile"}, "scoped"},
			{"a scope that the client may not have", []string{"scope", "openid email"}, "key"},
			{"classes", []string{"acr_values", "mfa phr"}, "classed"},
			{"classes in another order", []string{"acr_values", "phr mfa"}, "key"},
			{"a scope and classes", []string{"scope", "profile openid", "acr_values", "mfa phr"}, "scoped"},
		} {
			p.http = newBrowser(t, w.http)
			to := p.location(first(p.visit(p.at("/oauth2/authorize?" + p.request(tt.change...).Encode()))))
			if !strings.HasPrefix(to.String(), p.at("/gate/signin?")) {
				t.Errorf("%s: led to %s", tt.what, to)
				continue
			}
			if s := p.step(map[string]any{"executionId": to.Query().Get("executionId")}); s.StepID != tt.step {
				t.Errorf("%s: the run is at %q, expected %q", tt.what, s.StepID, tt.step)
			}
		}
		if s := w.signInTo(w.applicationOf(p.id)); s.StepID != "key" {
			t.Errorf("without a request the run is at %q", s.StepID)
		}
	})
}
