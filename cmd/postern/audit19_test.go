package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// These tests are named after finding 19 of the security audit of November 2026: anonymous
// client registration opened the sign-in to the client's pages.

const (
	evilOrigin   = "https://evil.example.net"
	evilRedirect = evilOrigin + "/callback"
)

// evilClients register a client with a page at evilOrigin in each anonymous way, and return
// its id.
func evilClients() map[string]func(*testing.T, *registrars) string {
	return map[string]func(*testing.T, *registrars) string{
		"by registration": func(t *testing.T, r *registrars) string {
			return r.party(t, "redirect_uris", []string{evilRedirect}, "token_endpoint_auth_method", "none").id
		},
		"by a metadata document": func(t *testing.T, r *registrars) string {
			id := r.publishClient("/"+schemas.NewID(), "redirect_uris", []string{evilRedirect})
			p := &party{testApp: r.testApp, t: t, http: newBrowser(t, r.testApp.http), mode: "query", id: id, redirect: evilRedirect}
			p.visit(p.at("/oauth2/authorize?" + p.request("code_challenge", strings.Repeat("A", 43), "code_challenge_method", "S256").Encode()))
			return id
		},
	}
}

// publishClient publishes the metadata document of a client, with members changed, and
// returns its client id.
func (r *registrars) publishClient(path string, members ...any) string {
	document := map[string]any{"client_id": r.site.URL + path, "client_name": "Published", "redirect_uris": []string{rpRedirect},
		"grant_types": []string{"authorization_code", "refresh_token"}}
	for i := 0; i < len(members); i += 2 {
		document[members[i].(string)] = members[i+1]
	}
	return r.publish(path, document)
}

// preflight sends a CORS preflight request.
func (w *testApp) preflight(path, method, origin string) http.Header {
	return w.exchange(http.MethodOptions, path, "", "Origin: "+origin,
		"Access-Control-Request-Method: "+method, "Access-Control-Request-Headers: content-type").Header()
}

// pageOrigins are the endpoints that pages of other origins call, and whether an unvouched
// client may call them.
func pageOrigins() map[string]bool {
	return map[string]bool{
		"POST /flow/execute": false, "GET /flow/meta": false, "POST /oauth2/auth/callback": false, "GET /oauth2/auth/callback": false,
		"POST /auth/passkey/start": false, "POST /register/passkey/start": false, "GET /users/me": false, "POST /applications": false,
		"POST /oauth2/dcr/register": false, "POST /oauth2/introspect": false, "GET /oauth2/authorize": false, "GET /oauth2/logout": false, "POST /mcp": false,
		"POST /oauth2/token": true, "POST /oauth2/revoke": true, "GET /oauth2/userinfo": true, "GET /oauth2/jwks": true,
		"GET /.well-known/openid-configuration": true, "GET /.well-known/oauth-authorization-server": true, "GET /.well-known/oauth-protected-resource/mcp": true,
	}
}

// The pages of a self-registered client run no flow, and get none of the visitors' cookies.
func TestAudit19UntrustedOriginsCannotRunFlows(t *testing.T) {
	for name, register := range evilClients() {
		t.Run(name, func(t *testing.T) {
			r := newRegistrars(t)
			id := register(t, r)
			if _, err := r.store.ApplicationByClientID(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			for endpoint, reached := range pageOrigins() {
				method, path, _ := strings.Cut(endpoint, " ")
				for name, h := range map[string]http.Header{"the preflight": r.preflight(path, method, evilOrigin), "the reply": r.fromPage(method, path, "", evilOrigin, "").Header()} {
					if got := h.Get("Access-Control-Allow-Origin") != ""; got != reached {
						t.Errorf("%s of %s admits the origin: %v, want %v", name, endpoint, got, reached)
					}
					if h.Get("Access-Control-Allow-Credentials") != "" {
						t.Errorf("%s of %s admits credentials", name, endpoint)
					}
				}
			}
			// A request that needs no preflight cannot start a run.
			start := `{"applicationId":"` + bootstrap.TryID + `","flowType":"AUTHENTICATION"}`
			for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", ""} {
				if rec := r.fromPage(http.MethodPost, "/flow/execute", start, evilOrigin, kind); rec.Code < 400 {
					t.Errorf("a run was started with the content type %q: %d %s", kind, rec.Code, rec.Body)
				}
			}
		})
	}
}

// fromPage sends a request like a page of an origin.
func (w *testApp) fromPage(method, path, body, origin, kind string) *httptest.ResponseRecorder {
	return w.exchange(method, path, body, "Origin: "+origin, "Content-Type: "+kind)
}

// pageOrigin is the origin of the page at rpRedirect.
const pageOrigin = "https://rp.example.com"

// The page of an unvouched client gets its tokens, reads the claims and revokes the tokens,
// all without cookies.
func TestAudit19UntrustedOriginsGetTheirTokens(t *testing.T) {
	r := newRegistrars(t)
	p := r.party(t, "token_endpoint_auth_method", schemas.AuthMethodPost)
	code := p.code(p.ask("scope", "openid email"))
	p.http = newBrowser(t, r.testApp.http) // without the cookies
	client := url.Values{"client_id": {p.id}, "client_secret": {p.secret}}
	readable := func(reply *http.Response, text string) string {
		t.Helper()
		h := reply.Header
		if reply.StatusCode != http.StatusOK || h.Get("Access-Control-Allow-Origin") != pageOrigin || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Fatalf("%d %v %s", reply.StatusCode, h, text)
		}
		return text
	}
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {p.redirect}, "client_id": {p.id}, "client_secret": {p.secret}}
	var got tokens
	datatest.Unmarshal(t, []byte(readable(p.submit(p.at("/oauth2/token"), form, "Origin: "+pageOrigin))), &got)
	claims := readable(p.submit(p.at("/oauth2/userinfo"), url.Values{}, "Origin: "+pageOrigin, "Authorization: Bearer "+got.Access))
	if !strings.Contains(claims, "pat@example.com") {
		t.Errorf("the claims %s", claims)
	}
	client.Set("token", got.Refresh)
	readable(p.submit(p.at("/oauth2/revoke"), client, "Origin: "+pageOrigin))
}

// Applications that an administrator makes, or vouches for, call flows as before.
func TestAudit19TrustedApplicationsRunFlows(t *testing.T) {
	for name, trust := range map[string]func(*testing.T, *registrars){
		"that an administrator vouches for": func(t *testing.T, r *registrars) { r.makeTrusted(t, r.applicationOf(r.party(t).id)) },
		"that an administrator made": func(_ *testing.T, r *registrars) {
			r.create(r.directory.Applications, `{"name":"Made","type":"SPA","inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["`+rpRedirect+`"]}}]}`)
		},
		"whose origin an unvouched client also has": func(t *testing.T, r *registrars) {
			r.create(r.directory.Applications, `{"name":"Made","type":"SPA","inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["`+rpRedirect+`"]}}]}`)
			r.party(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistrars(t)
			trust(t, r)
			for endpoint, method := range map[string]string{"/flow/execute": "POST", "/flow/meta": "GET", "/oauth2/token": "POST", "/oauth2/auth/callback": "POST", "/oauth2/userinfo": "GET"} {
				if h := r.preflight(endpoint, method, pageOrigin); h.Get("Access-Control-Allow-Origin") != pageOrigin || h.Get("Access-Control-Allow-Credentials") != "true" {
					t.Errorf("%s: %v", endpoint, h)
				}
			}
		})
	}
}

// applicationOf returns the id of the application of a client.
func (w *testApp) applicationOf(clientID string) string {
	w.t.Helper()
	app, err := w.store.ApplicationByClientID(w.t.Context(), clientID)
	if err != nil {
		w.t.Fatal(err)
	}
	return app.ID
}
