package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// These tests are named after finding 5 of the security audit of November 2026: any web
// page could request every permission of an administrator.

// pkce returns the parameters that a public client adds to an authorization request.
func pkce(change ...string) []string {
	sum := sha256.Sum256([]byte(gateVerifier))
	return append(change, "code_challenge", base64.RawURLEncoding.EncodeToString(sum[:]), "code_challenge_method", "S256")
}

// document is the client described by a metadata document, with a browser.
func (r *registrars) document(t *testing.T, members ...any) *party {
	t.Helper()
	id := r.publishClient("/"+schemas.NewID(), members...)
	return &party{untrusted: true, testApp: r.testApp, t: t, http: newBrowser(t, r.testApp.http), mode: "query", id: id, redirect: rpRedirect, method: schemas.AuthMethodNone}
}

// restart opens the store again with variables added to the environment.
func (r *registrars) restart(environ ...string) {
	r.t.Helper()
	cfg := loadConfig(r.t, append(slices.Clone(r.cfg.Environ), environ...))
	again := openForTest(r.t, cfg, r.log)
	again.outbound = r.outbound
	r.app, r.testApp.http = again, again.handler()
}

// Where metadata documents are disabled, or their host is not listed, no client is created
// from one, known ones stop working, and their tokens are rejected.
func TestAudit05MetadataDocumentsCanBeRestricted(t *testing.T) {
	const enabled, hosts = "POSTERN_OAUTH_CLIENT_METADATA_DOCUMENTS_ENABLED=", "POSTERN_OAUTH_CLIENT_METADATA_DOCUMENTS_ALLOWED_HOSTS="
	for name, restriction := range map[string]string{"disabled": enabled + "false", "of another host": hosts + "editor.example.com"} {
		t.Run(name, func(t *testing.T) {
			r := newRegistrars(t)
			known, vouched := r.document(t, "client_name", "Known"), r.document(t, "client_name", "Vouched")
			got := known.getStatus(t, "scope", "openid email offline_access")
			vouched.getStatus(t, "scope", "openid")
			r.makeTrusted(t, r.applicationOf(vouched.id))
			assertion := vouched.assertionOf(r.applicationOf(vouched.id))
			if !r.takes(got.Access) || r.get("/users/me", assertion) != http.StatusOK || !r.supportsDocuments() {
				t.Fatal("clients with metadata documents do not get in")
			}

			r.restart(restriction)
			if got, want := r.supportsDocuments(), restriction != enabled+"false"; got != want {
				t.Errorf("the metadata says that documents are supported: %v, want %v", got, want)
			}
			for _, p := range []*party{known, vouched, r.document(t)} {
				p.http = newBrowser(t, r.testApp.http)
				if a := p.ask(pkce()...); !strings.HasPrefix(a.to, p.at("/gate/error?")) || a.params.Get("error") != "invalid_client" {
					t.Errorf("an authorization request is answered with %+v", a)
				}
			}
			if refreshed, status := known.refresh(got.Refresh); status != http.StatusUnauthorized || refreshed.Error != "invalid_client" {
				t.Errorf("refreshing: %d %+v", status, refreshed)
			}
			if r.takes(got.Access) || r.get("/users/me", assertion) != http.StatusUnauthorized {
				t.Error("what such clients have been issued is still good")
			}
			if status, said := r.attempt("/flow/execute", "", map[string]any{"applicationId": r.applicationOf(vouched.id), "flowType": "AUTHENTICATION"}); status < 400 {
				t.Errorf("a run of one was started: %d %s", status, said)
			}

			// Data of excluded clients is not lost.
			r.restart(enabled+"true", hosts+"127.0.0.1")
			known.http = newBrowser(t, r.testApp.http)
			if again, status := known.refresh(got.Refresh); status != http.StatusOK {
				t.Errorf("refreshing again: %d %+v", status, again)
			}
		})
	}
}

// getStatus has the user sign in and agree, and returns the tokens.
func (p *party) getStatus(t *testing.T, change ...string) *tokens {
	t.Helper()
	got, status := p.redeem(p.code(p.ask(pkce(change...)...)), "client_id", p.id, "code_verifier", gateVerifier)
	if status != http.StatusOK {
		t.Fatalf("%d %+v", status, got)
	}
	return got
}

func (p *party) refresh(raw string) (*tokens, int) {
	return p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {raw}, "client_id": {p.id}})
}

// takes reports whether userinfo accepts an access token.
func (w *testApp) takes(access string) bool {
	return w.get("/oauth2/userinfo", access) == http.StatusOK
}

// assertionOf signs the user in to an application that runs its flow itself.
func (p *party) assertionOf(applicationID string) string {
	p.t.Helper()
	s := p.step(map[string]any{"applicationId": applicationID, "flowType": "AUTHENTICATION"})
	p.step(map[string]any{"executionId": s.ExecutionID, "action": "password"})
	return p.step(map[string]any{"executionId": s.ExecutionID, "action": "continue", "inputs": map[string]string{"username": "pat", "password": rpPassword}}).Assertion
}

// supportsDocuments reports what the server metadata says.
func (w *testApp) supportsDocuments() bool {
	w.t.Helper()
	rec := w.exchange(http.MethodGet, "/.well-known/oauth-authorization-server", "")
	var m struct {
		Supported bool `json:"client_id_metadata_document_supported"`
	}
	datatest.Unmarshal(w.t, rec.Body.Bytes(), &m)
	return m.Supported
}

// deceive are the clients that a web page can create by itself, each with a browser in which
// an administrator has signed in to the console.
func deceive() map[string]func(*testing.T, *registrars) *party {
	return map[string]func(*testing.T, *registrars) *party{
		"by registration": func(t *testing.T, r *registrars) *party {
			return r.party(t, "token_endpoint_auth_method", "none", "client_name", "Service desk")
		},
		"by a metadata document": func(t *testing.T, r *registrars) *party { return r.document(t, "client_name", "Service desk") },
	}
}

// visitAs follows an authorization request to the gate, signs in there with a password, and
// returns the next step.
func (p *party) visitAs(name, password string, change ...string) (s schemas.Step) {
	p.t.Helper()
	to := p.location(first(p.visit(p.at("/oauth2/authorize?" + p.request(pkce(change...)...).Encode()))))
	if !strings.HasPrefix(to.String(), p.at("/gate/signin?")) {
		p.t.Fatalf("expected a sign-in, got %s", to)
	}
	id := to.Query().Get("executionId")
	if s = p.step(map[string]any{"executionId": id}); s.StepID != "key" {
		p.t.Fatalf("expected the sign-in, got %+v", s)
	}
	p.step(map[string]any{"executionId": id, "action": "password"})
	return p.step(map[string]any{"executionId": id, "action": "continue", "inputs": map[string]string{"username": name, "password": password}})
}

// expectsConsent returns the scopes that a consent step lists.
func expectsConsent(t *testing.T, s schemas.Step) []string {
	t.Helper()
	var q schemas.ConsentQuestion
	if err := json.Unmarshal([]byte(s.Data.AdditionalData[schemas.ConsentData]), &q); err != nil || s.StepID != "consent" {
		t.Fatalf("expected the question, got %+v, %v", s, err)
	}
	if !q.Client.Unverified {
		t.Error("the page does not say that the client is unvouched")
	}
	scopes := []string{}
	for _, scope := range q.Scopes {
		scopes = append(scopes, scope.Scope)
	}
	return scopes
}

// allow grants the consent of a step, and redeems the code.
func (p *party) allow(s schemas.Step) *tokens {
	p.t.Helper()
	done := p.step(map[string]any{"executionId": s.ExecutionID, "action": "allow"})
	got, status := p.redeem(p.code(p.follow(p.visit(done.Data.RedirectURL))), "client_id", p.id, "code_verifier", gateVerifier)
	if status != http.StatusOK || done.FlowStatus != schemas.Complete {
		p.t.Fatalf("%+v, %d %+v", done, status, got)
	}
	for _, scope := range scopesOf(p.t, done.Assertion) {
		p.t.Errorf("the assertion of the run carries %s", scope)
	}
	return got
}

// scopesOf returns the scopes of a token of this server.
func scopesOf(t testing.TB, raw string) []string {
	t.Helper()
	scope, _ := payloadOf(t, raw)["scope"].(string)
	return strings.Fields(scope)
}

// usesTools reports whether a token is accepted by /mcp, and by the API.
func (w *testApp) usesTools(access string) (tools, api bool) {
	rec := w.exchange(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, jsonBody, mcpReply, bearer(access))
	return rec.Code == http.StatusOK, w.get("/applications", access) == http.StatusOK
}

// A web page gets an administrator's permissions through no session and no earlier consent:
// each time the administrator has to sign in for it, and agree to the permissions that the
// page lists. Approved permissions survive refreshing.
func TestAudit05UntrustedClientsGetNoPermissionWithoutConsent(t *testing.T) {
	for name, newClient := range deceive() {
		t.Run(name, func(t *testing.T) {
			r := newRegistrars(t)
			p := newClient(t, r)
			// The administrator has signed in to the client before, without permissions.
			s := p.visitAs("admin", adminPassword)
			if got := expectsConsent(t, s); !slices.Equal(got, []string{"openid"}) {
				t.Errorf("asked for %v", got)
			}
			p.allow(s)
			silent := p.ask(pkce("prompt", "none")...)
			if silent.params.Get("code") == "" {
				t.Fatalf("the session does not serve the client: %+v", silent)
			}
			for round := range 2 { // the first consent does not apply to the second request
				for _, scope := range []string{"openid system", "system", "openid system:applications:read"} {
					a := p.ask(pkce("scope", scope, "prompt", "none", "resource", p.at("/mcp"))...)
					if a.params.Get("error") != "login_required" || a.params.Has("code") {
						t.Errorf("round %d: silently, %s is answered with %+v", round, scope, a)
					}
				}
				s := p.visitAs("admin", adminPassword, "scope", "openid system offline_access")
				if got := expectsConsent(t, s); !slices.Contains(got, "system") {
					t.Errorf("round %d: the page names %v", round, got)
				}
				got := p.allow(s)
				if tools, api := r.usesTools(got.Access); !tools || !api {
					t.Errorf("round %d: what was approved is good for the tools: %v, for the API: %v", round, tools, api)
				}
				again, status := p.refresh(got.Refresh)
				if tools, _ := r.usesTools(again.Access); status != http.StatusOK || !tools {
					t.Errorf("round %d: refreshed %d, good for the tools: %v", round, status, tools)
				}
			}
			// A denial grants nothing.
			s = p.visitAs("admin", adminPassword, "scope", "openid system")
			denied := p.step(map[string]any{"executionId": s.ExecutionID, "action": "deny"})
			if a := p.follow(p.visit(denied.Data.RedirectURL)); a.params.Get("error") != "access_denied" {
				t.Errorf("denied, and answered with %+v", a)
			}
			r.approvedEvents(2)
		})
	}
}

// approvedEvents makes sure that the audit log has the approvals.
func (w *testApp) approvedEvents(want int) {
	w.t.Helper()
	events, err := w.store.Events(w.t.Context(), schemas.EventQuery{Action: "consent.approved", Limit: 10})
	if err != nil || len(events) != want || events[0].Detail["scope"] != "system" || events[0].UserID == "" {
		w.t.Errorf("recorded %+v, %v", events, err)
	}
}

// Users without permissions, and clients trusted by an administrator, sign in as before.
func TestAudit05OtherUsersStaySignedIn(t *testing.T) {
	r := newRegistrars(t)
	p := r.party(t, "token_endpoint_auth_method", "none")
	s := p.visitAs("pat", rpPassword, "scope", "openid system")
	if got := expectsConsent(t, s); !slices.Equal(got, []string{"openid"}) {
		t.Errorf("asked for %v", got)
	}
	if tools, api := r.usesTools(p.allow(s).Access); tools || api {
		t.Error("a user without permissions gave some")
	}
	if a := p.ask(pkce("prompt", "none")...); a.params.Get("code") == "" {
		t.Errorf("the session does not serve the client: %+v", a)
	}
	known := r.party(t, "token_endpoint_auth_method", "none")
	r.makeTrusted(t, r.applicationOf(known.id))
	if s := known.visitAs("admin", adminPassword, "scope", "openid system"); s.FlowStatus != schemas.Complete {
		t.Fatalf("a client that is known asks: %+v", s)
	} else {
		known.visit(s.Data.RedirectURL)
	}
	got, status := known.redeem(known.code(known.ask(pkce("scope", "openid system", "prompt", "none")...)), "client_id", known.id, "code_verifier", gateVerifier)
	if tools, api := r.usesTools(got.Access); status != http.StatusOK || !tools || !api {
		t.Errorf("by the session %d, good for the tools: %v, for the API: %v", status, tools, api)
	}
}
