package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// A run that a page starts for an authorization request (authId) must be of the request's
// application, in the browser that made it, and while the request is pending.
func TestRunForAnAuthorizationRequest(t *testing.T) {
	newParty := newParties(t, "query")
	for name, test := range map[string]struct {
		change func(p *party, gate url.Values, body map[string]any)
		code   string // of the error, "" for none
	}{
		"its own": {func(*party, url.Values, map[string]any) {}, ""},
		"of another application": {func(_ *party, _ url.Values, body map[string]any) {
			body["applicationId"] = newParty(t, schemas.AuthMethodPost).begin().Get("applicationId")
		}, schemas.CodeAuthRequest},
		"unknown":  {func(_ *party, _ url.Values, body map[string]any) { body["authId"] = schemas.NewID() }, schemas.CodeAuthRequest},
		"empty":    {func(_ *party, _ url.Values, body map[string]any) { body["authId"] = "" }, schemas.CodeAuthRequest},
		"expired":  {func(p *party, gate url.Values, body map[string]any) { body["authId"] = p.expired(gate.Get("authId")) }, schemas.CodeAuthRequest},
		"answered": {func(p *party, gate url.Values, _ map[string]any) { p.signIn(gate) }, schemas.CodeAuthRequest},
		"answered, with the code gone": {func(p *party, gate url.Values, _ map[string]any) {
			p.redeem(p.code(p.follow(p.visit(p.signIn(gate)))))
		}, schemas.CodeAuthRequest},
		"in another browser": {func(p *party, _ url.Values, _ map[string]any) {
			p.http = newBrowser(t, p.testApp.http)
			p.begin() // sets a cookie, of a request of its own
		}, schemas.CodeAuthRequest},
		"in a browser without cookies": {func(p *party, _ url.Values, _ map[string]any) { p.http = newBrowser(t, p.testApp.http) }, schemas.CodeAuthRequest},
		"with a run": {func(_ *party, gate url.Values, body map[string]any) {
			clear(body)
			body["executionId"], body["authId"] = gate.Get("executionId"), gate.Get("authId")
		}, schemas.CodeInvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			p := newParty(t)
			p.t = t
			gate := p.begin()
			body := map[string]any{"applicationId": gate.Get("applicationId"), "flowType": "AUTHENTICATION", "authId": gate.Get("authId")}
			test.change(p, gate, body)
			if test.code == "" {
				s := p.step(body)
				if s.ExecutionID == gate.Get("executionId") {
					t.Error("it is the run that was there")
				}
				if _, status := p.redeem(p.code(p.follow(p.visit(p.signIn(url.Values{"executionId": {s.ExecutionID}}))))); status != http.StatusOK {
					t.Errorf("the code gives %d", status)
				}
				return
			}
			if status, said := p.postJSON("/flow/execute", body); status != http.StatusBadRequest || !strings.Contains(said, `"`+test.code+`"`) {
				t.Errorf("%d %s, want 400 %s", status, said, test.code)
			}
		})
	}
}

// expired returns the id of a request of this browser that has expired unanswered.
func (p *party) expired(id string) string {
	p.t.Helper()
	r, err := p.store.AuthRequest(p.t.Context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	late := *r
	late.ID, late.ExpiresAt = schemas.NewID(), time.Now().Add(-time.Second)
	if err := p.store.Apply(p.t.Context(), []schemas.Change{schemas.CreateAuthRequest{Request: late}}); err != nil {
		p.t.Fatal(err)
	}
	return late.ID
}
