package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

const (
	ownPages      = "https://localhost:9443"
	foreignPages  = "https://evil.example"
	gateVerifier  = "a-verifier-of-enough-characters-0123456789-abc"
	gateReturn    = "https://shop.example.com/cb"
	acceptsOrigin = "Access-Control-Allow-Origin"
)

// pages are sign-in pages of the operator, in a browser.
type pages struct {
	*testApp
	origin  string
	cookies []*http.Cookie
}

// send sends a request of the pages' script, with credentials.
func (p *pages) send(method, path string, body any, headers ...string) *httptest.ResponseRecorder {
	p.t.Helper()
	r := newRequest(method, path, string(datatest.Marshal(p.t, body)))
	if p.origin != "" {
		r.Header.Set("Origin", p.origin)
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	for _, c := range p.cookies {
		r.AddCookie(c)
	}
	rec := p.reply(r)
	p.cookies = append(p.cookies, rec.Result().Cookies()...)
	return rec
}

// follow sends the browser to the authorization endpoint, and returns where it ends.
func (p *pages) follow(clientID string, more ...string) *url.URL {
	p.t.Helper()
	sum := sha256.Sum256([]byte(gateVerifier))
	q := url.Values{"client_id": {clientID}, "redirect_uri": {gateReturn}, "response_type": {"code"}, "scope": {"openid"}, "state": {"s"},
		"code_challenge_method": {"S256"}, "code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	rec := (&pages{testApp: p.testApp, cookies: p.cookies}).sendPlain("/oauth2/authorize?" + q.Encode())
	p.cookies = append(p.cookies, rec.Result().Cookies()...)
	to, err := rec.Result().Location()
	if err != nil {
		p.t.Fatalf("%d %s: %v", rec.Code, rec.Body, err)
	}
	return to
}

func (p *pages) sendPlain(path string) *httptest.ResponseRecorder {
	return p.send(http.MethodGet, path, nil)
}

// step answers a step of the run.
func (p *pages) step(body any) (s schemas.Step) {
	p.t.Helper()
	rec := p.send(http.MethodPost, "/flow/execute", body)
	if err := json.Unmarshal(rec.Body.Bytes(), &s); err != nil || rec.Code != http.StatusOK || rec.Header().Get(acceptsOrigin) != p.origin {
		p.t.Fatalf("%d %v %s, %v", rec.Code, rec.Header(), rec.Body, err)
	}
	return s
}

// Pages of the operator, on a port of their own, sign users in through the API, across
// origins and with the cookies of the browser; pages of other origins cannot.
func TestSignInAtSelfHostedPages(t *testing.T) {
	w := newTestApp(t, "POSTERN_GATE_CLIENT_PORT=9443", "POSTERN_GATE_CLIENT_EXTERNAL=true", "POSTERN_PASSWORD_MEMORY_KIB=1024", "POSTERN_PASSWORD_ITERATIONS=1")
	app := w.create(w.directory.Applications, `{"name": "Shop", "inboundAuthConfig": [{"type": "oauth2", "config": {
		"publicClient": true, "redirectUris": ["`+gateReturn+`"], "scopes": ["openid"]}}]}`).Value.(*schemas.Application)
	p := &pages{testApp: w, origin: ownPages}
	at := p.follow(app.ClientID)
	if got := at.Scheme + "://" + at.Host + at.Path; got != ownPages+"/signin" {
		t.Fatalf("people are sent to %s", at)
	}
	run, authID := at.Query().Get("executionId"), at.Query().Get("authId")
	p.step(map[string]any{"executionId": run, "action": "password"})
	done := p.step(map[string]any{"executionId": run, "action": "continue", "inputs": map[string]string{"username": "admin", "password": adminPassword}})
	if done.FlowStatus != schemas.Complete || done.Assertion == "" {
		t.Fatalf("the sign-in ended in %+v", done)
	}
	answer := map[string]string{"authId": authID, "assertion": done.Assertion}
	const path = "/oauth2/auth/callback"

	for origin, want := range map[string]string{ownPages: ownPages, foreignPages: ""} {
		preflight := (&pages{testApp: w, origin: origin}).send(http.MethodOptions, path, nil, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "content-type")
		h := preflight.Header()
		if got := h.Get(acceptsOrigin); got != want || want != "" && (preflight.Code != http.StatusNoContent || h.Get("Access-Control-Allow-Credentials") != "true" || !strings.Contains(h.Get("Access-Control-Allow-Methods"), "POST")) {
			t.Errorf("the preflight of %s: %d %v", origin, preflight.Code, h)
		}
	}
	if rec := (&pages{testApp: w, origin: ownPages}).send(http.MethodPost, path, answer); rec.Code != http.StatusForbidden {
		t.Errorf("in a browser that did not ask: %d %s", rec.Code, rec.Body)
	}
	if rec := p.send(http.MethodPost, path, answer, "Content-Type", "text/plain"); rec.Code != http.StatusBadRequest {
		t.Errorf("by what needs no preflight: %d %s", rec.Code, rec.Body)
	}
	rec := p.send(http.MethodPost, path, answer)
	var reported struct {
		To string `json:"redirect_uri"`
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &reported); err != nil || rec.Code != http.StatusOK || rec.Header().Get(acceptsOrigin) != ownPages || rec.Header().Get("Access-Control-Allow-Credentials") != "true" {
		t.Fatalf("%d %v %s, %v", rec.Code, rec.Header(), rec.Body, err)
	}
	if !strings.HasPrefix(reported.To, gateReturn+"?code=") || !strings.Contains(reported.To, "state=s") {
		t.Errorf("the way back is %s", reported.To)
	}
	if again := p.send(http.MethodPost, path, answer); again.Code != http.StatusBadRequest {
		t.Errorf("answered twice: %d %s", again.Code, again.Body)
	}
	if to := p.follow(app.ClientID, "prompt", "none"); to.Query().Get("code") == "" {
		t.Errorf("the browser does not know the session: led to %s", to)
	}
}
