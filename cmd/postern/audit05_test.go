package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/schemas"
)

// These tests are named after finding 5 of the security audit of November 2026: any web
// page could ask an administrator for every permission.

// pkce are the parameters of an authorization request that a public client adds.
func pkce(change ...string) []string {
	sum := sha256.Sum256([]byte(gateVerifier))
	return append(change, "code_challenge", base64.RawURLEncoding.EncodeToString(sum[:]), "code_challenge_method", "S256")
}

// document is the client that a metadata document describes, with a browser.
func (r *registrars) document(t *testing.T, members ...any) *party {
	t.Helper()
	id := r.publishClient("/"+schemas.NewID(), members...)
	return &party{stranger: true, rig: r.rig, t: t, http: newBrowser(t, r.rig.http), mode: "query", id: id, redirect: rpRedirect, method: schemas.AuthMethodNone}
}

// restart opens the store again with variables added to the environment.
func (r *registrars) restart(environ ...string) {
	r.t.Helper()
	cfg, err := config.Load("", append(slices.Clone(r.cfg.Environ), environ...))
	if err != nil {
		r.t.Fatal(err)
	}
	again, err := openHouse(r.t.Context(), cfg, r.log)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(again.close)
	again.outbound = r.outbound
	r.house, r.rig.http = again, again.handler()
}

// Where metadata documents are disabled, or their host is not listed, no client of
// one gets in: neither a new one nor one that is known, and what that has is worthless.
func TestAudit05MetadataDocumentsCanBeRestricted(t *testing.T) {
	const enabled, hosts = "POSTERN_OAUTH_CLIENT_METADATA_DOCUMENTS_ENABLED=", "POSTERN_OAUTH_CLIENT_METADATA_DOCUMENTS_ALLOWED_HOSTS="
	for name, restriction := range map[string]string{"disabled": enabled + "false", "of another host": hosts + "editor.example.com"} {
		t.Run(name, func(t *testing.T) {
			r := newRegistrars(t)
			known, vouched := r.document(t, "client_name", "Known"), r.document(t, "client_name", "Vouched")
			got := known.gets(t, "scope", "openid email offline_access")
			vouched.gets(t, "scope", "openid")
			r.vouch(t, r.applicationOf(vouched.id))
			assertion := vouched.assertionOf(r.applicationOf(vouched.id))
			if !r.takes(got.Access) || r.get("/users/me", assertion) != http.StatusOK || !r.supportsDocuments() {
				t.Fatal("clients with metadata documents do not get in")
			}

			r.restart(restriction)
			if got, want := r.supportsDocuments(), restriction != enabled+"false"; got != want {
				t.Errorf("the metadata says that documents are supported: %v, want %v", got, want)
			}
			for _, p := range []*party{known, vouched, r.document(t)} {
				p.http = newBrowser(t, r.rig.http)
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

			// What was excluded is not lost.
			r.restart(enabled+"true", hosts+"127.0.0.1")
			known.http = newBrowser(t, r.rig.http)
			if again, status := known.refresh(got.Refresh); status != http.StatusOK {
				t.Errorf("refreshing again: %d %+v", status, again)
			}
		})
	}
}

// gets has the user sign in and agree, and returns the tokens.
func (p *party) gets(t *testing.T, change ...string) *tokens {
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

// takes reports whether userinfo takes an access token.
func (w *rig) takes(access string) bool { return w.get("/oauth2/userinfo", access) == http.StatusOK }

// assertionOf signs the user in to an application that runs its flow itself.
func (p *party) assertionOf(applicationID string) string {
	p.t.Helper()
	s := p.step(map[string]any{"applicationId": applicationID, "flowType": "AUTHENTICATION"})
	p.step(map[string]any{"executionId": s.ExecutionID, "action": "password"})
	return p.step(map[string]any{"executionId": s.ExecutionID, "action": "continue", "inputs": map[string]string{"username": "pat", "password": rpPassword}}).Assertion
}

// supportsDocuments is what the metadata says.
func (w *rig) supportsDocuments() bool {
	w.t.Helper()
	rec := httptest.NewRecorder()
	w.http.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/.well-known/oauth-authorization-server", nil))
	var m struct {
		Supported bool `json:"client_id_metadata_document_supported"`
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &m); err != nil {
		w.t.Fatal(err)
	}
	return m.Supported
}
