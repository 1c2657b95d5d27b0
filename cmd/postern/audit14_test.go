package main

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// These tests are named after finding 14 of the security audit of November 2026: the audit log
// could not answer an incident.

// eventsOf returns the newest events of an action.
func (w *testApp) eventsOf(action string) []schemas.Event {
	w.t.Helper()
	events, err := w.store.Events(w.t.Context(), schemas.EventQuery{Limit: 100, Action: action})
	if err != nil {
		w.t.Fatal(err)
	}
	return events
}

// TestAudit14RefusalsAreRecorded authenticates a client wrongly again and again, and calls the API
// without the permission.
func TestAudit14RefusalsAreRecorded(t *testing.T) {
	w := createUsers(t, "POSTERN_THROTTLE_ENABLED=true")
	p := leakyMetadata(t, w)
	id, right := p.begin().Get("applicationId"), p.secret
	p.secret = "wrong"
	for range 5 {
		if _, status := p.token(url.Values{"grant_type": {"client_credentials"}}); status != http.StatusUnauthorized {
			t.Fatalf("a wrong secret: %d", status)
		}
	}
	events := w.eventsOf("client.refused")
	if len(events) != 3 || events[0].ApplicationID != id || events[0].Detail["repeated"] != "4" || events[0].Address == "" || events[0].Actor != (schemas.Actor{}) {
		t.Errorf("got %+v, expected the failures 1, 2 and 4 of the application %s", events, id)
	}
	p.secret = right
	own, _ := p.token(url.Values{"grant_type": {"client_credentials"}, "scope": {"system:applications:read"}})
	if status := w.call(http.MethodPost, "/groups", own.Access, `{"name":"x"}`).Code; status != http.StatusForbidden {
		t.Fatalf("a request without the permission: %d", status)
	}
	events = w.eventsOf("request.refused")
	want := schemas.Actor{Type: schemas.ApplicationActor, ID: id, Client: id}
	if len(events) != 1 || events[0].Actor != want || events[0].Detail["route"] != "/groups" || events[0].Detail["permission"] != "system:groups:write" {
		t.Errorf("got %+v, expected the refused request of %+v", events, want)
	}
	for range 4 {
		w.call(http.MethodPost, "/groups", own.Access, `{"name":"x"}`)
	}
	w.call(http.MethodPost, "/roles", own.Access, `{"name":"x"}`)
	events = w.eventsOf("request.refused")
	repeated := map[string]string{}
	for _, e := range events {
		repeated[e.Detail["route"]] += e.Detail["repeated"] + ","
	}
	if len(events) != 4 || repeated["/groups"] != "4,2,," || repeated["/roles"] != "," {
		t.Errorf("got %v in %+v, expected the refusals 1, 2 and 4 at /groups, newest first, and one at /roles", repeated, events)
	}
}

// TestAudit14TokensAreRecorded gets tokens for a code and for refresh tokens.
func TestAudit14TokensAreRecorded(t *testing.T) {
	w := createUsers(t)
	p := leakyMetadata(t, w)
	h := p.collect(p.begin().Get("applicationId"))
	refresh := h.refresh
	for range 3 {
		got, status := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}})
		if status != http.StatusOK {
			t.Fatalf("%d %+v", status, got)
		}
		refresh = got.Refresh
	}
	grants := map[string]int{}
	for _, e := range w.eventsOf("token.issued") {
		grants[e.Detail["grant"]]++
		if e.UserID != "" && e.SessionID == "" {
			t.Errorf("got %+v, expected the session of the user", e)
		}
	}
	if grants["authorization_code"] != 1 || grants["refresh_token"] != 1 || grants["client_credentials"] != 1 {
		t.Errorf("got the grants %v, expected one event for each", grants)
	}
}

// The events have the scopes of the tokens: the user pat has no role that grants system.
func TestTokensAreRecordedWithTheirScopes(t *testing.T) {
	w := createUsers(t)
	p := w.configuredClient(t, `"redirectUris":["`+rpRedirect+`"],"scopes":["openid","system"],"grantTypes":["authorization_code","refresh_token"]`)
	got, status := p.redeem(p.code(p.ask("scope", "openid system")))
	if status != http.StatusOK {
		t.Fatalf("%d %+v", status, got)
	}
	if again, status := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}}); status != http.StatusOK {
		t.Fatalf("%d %+v", status, again)
	}
	events := w.eventsOf("token.issued")
	for _, e := range events {
		if e.Detail["scope"] != "openid" {
			t.Errorf("%s: the event has the scope %q, expected openid", e.Detail["grant"], e.Detail["scope"])
		}
	}
	if len(events) != 2 {
		t.Errorf("got %d events, expected 2", len(events))
	}
}

// TestRevokeAllTokens revokes the tokens of everybody on both databases and two instances.
func TestRevokeAllTokens(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		one, two := twoInstances(t, environ...)
		p, admin := leakyMetadata(t, one), one.admin()
		id := p.begin().Get("applicationId")
		h := p.collect(id)
		h.expect(true, one, two)
		if status := one.call(http.MethodPost, "/revoke-tokens", h.own, "").Code; status != http.StatusForbidden {
			t.Errorf("without the permission system: %d", status)
		}
		h.expect(true, one, two)
		if r := one.call(http.MethodPost, "/revoke-tokens", admin, ""); r.Code != http.StatusOK {
			t.Fatalf("%d %s", r.Code, r.Body)
		}
		h.expect(false, one, two)
		p.refusesGrant("a refresh token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {h.refresh}})
		if status := two.get("/users", admin); status != http.StatusUnauthorized {
			t.Errorf("the token of the administrator: %d", status)
		}
		if events := one.eventsOf("tokens.revoked"); len(events) != 1 || events[0].Actor.Type != schemas.UserActor {
			t.Errorf("recorded %+v", events)
		}
		p.collect(id).expect(true, one, two)
	})
}
