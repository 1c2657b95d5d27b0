package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// party is a relying party, and the browser of a user who signs in to it. The tests of a
// profile restate the modules of the OpenID Foundation's conformance suite by their names,
// from the specifications that they test: OpenID Connect Core (Core), Discovery,
// RP-Initiated Logout, and OAuth 2.0 Form Post Response Mode.
type party struct {
	*testApp
	t    testing.TB
	http *http.Client // the browser: it stores cookies and follows no redirect
	mode string       // the response mode
	// id, secret, method and redirect are the client's credentials, authentication method
	// and redirect URI.
	id, secret, method, redirect string
	key                          *keyholder // of private_key_jwt
	untrusted                    bool       // whether the client is unvouched
	answers                      int        // how often the user has had to authenticate
}

const (
	rpRedirect = "https://rp.example.com/callback"
	rpQuery    = "https://rp.example.com/callback?dummy1=lorem&dummy2=ipsum"
	rpGoodbye  = "https://rp.example.com/goodbye"
	rpPassword = "correct horse battery"
)

// handlerTransport serves the requests of a client by the handler.
type handlerTransport struct{ http.Handler }

// RoundTrip serves a request.
func (h handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	in := httptest.NewRequest(r.Method, r.URL.RequestURI(), r.Body)
	in.Host, in.Header, in.ContentLength = r.URL.Host, r.Header, r.ContentLength
	h.ServeHTTP(rec, in)
	reply := rec.Result()
	reply.Request = r
	return reply, nil
}

// newBrowser is a browser without a session.
func newBrowser(t testing.TB, h http.Handler) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: handlerTransport{h}, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// parties makes one with a browser of its own, whose client authenticates by a method.
type parties func(t testing.TB, method ...string) *party

// createUsers is a server with a user.
func createUsers(t testing.TB, environ ...string) *testApp {
	t.Helper()
	w := newTestApp(t, append(environ, "POSTERN_PASSWORD_MEMORY_KIB=8192", "POSTERN_PASSWORD_ITERATIONS=1")...)
	w.createPat()
	return w
}

// createPat creates the user of the tests.
func (w *testApp) createPat() {
	w.create(w.directory.Users, `{"type":"Person","attributes":{"username":"pat","password":"`+rpPassword+`","email":"pat@example.com","email_verified":true,
		"name":"Pat Doe","given_name":"Pat","family_name":"Doe","phone_number":"+15551234","phone_number_verified":false,"address":{"locality":"Ghent"}}}`)
}

// newParties registers clients at a server with a user.
func newParties(t testing.TB, mode string) parties {
	t.Helper()
	return createUsers(t).newParties(mode)
}

// newParties registers clients.
func (w *testApp) newParties(mode string) parties {
	clients := map[string]*schemas.Application{}
	for _, method := range []string{schemas.AuthMethodBasic, schemas.AuthMethodPost} {
		clients[method] = w.create(w.directory.Applications, fmt.Sprintf(`{"name":"Conformance %s","inboundAuthConfig":[{"type":"oauth2","config":{
			"grantTypes":["authorization_code","refresh_token"],"redirectUris":[%q,%q],"postLogoutRedirectUris":[%q],"tokenEndpointAuthMethod":%q,"pkceRequired":false,
			"scopes":["openid","profile","email","address","phone","offline_access"]}}]}`, method, rpRedirect, rpQuery, rpGoodbye, method)).Value.(*schemas.Application)
	}
	return func(t testing.TB, method ...string) *party {
		t.Helper()
		method = append(method, schemas.AuthMethodBasic)
		c := clients[method[0]]
		return &party{testApp: w, t: t, http: newBrowser(t, w.http), mode: mode, id: c.ClientID, secret: c.ClientSecret, method: method[0], redirect: rpRedirect}
	}
}

// at returns the address of an endpoint.
func (p *party) at(path string) string { return p.cfg.Server.PublicURL + path }

// do sends a request, and reads the reply.
func (p *party) do(r *http.Request, err error) (*http.Response, string) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
	reply, err := p.http.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return reply, string(text)
}

func (p *party) visit(address string) (*http.Response, string) {
	p.t.Helper()
	return p.do(http.NewRequest(http.MethodGet, address, nil))
}

// submit posts a form; headers are "Name: value".
func (p *party) submit(address string, form url.Values, headers ...string) (*http.Response, string) {
	p.t.Helper()
	r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(form.Encode()))
	if err == nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
		}
	}
	return p.do(r, err)
}

// request is an authorization request (Core §3.1.2.1), with some parameters changed; ""
// removes one.
func (p *party) request(change ...string) url.Values {
	q := url.Values{"client_id": {p.id}, "redirect_uri": {p.redirect}, "response_type": {"code"}, "scope": {"openid"},
		"state": {"a state, with & in it"}, "nonce": {"nonce-1"}}
	if p.mode != "query" {
		q.Set("response_mode", p.mode)
	}
	for i := 0; i < len(change); i += 2 {
		if q.Set(change[i], change[i+1]); change[i+1] == "" {
			q.Del(change[i])
		}
	}
	return q
}

// answer is the response that the relying party received.
type answer struct {
	to     string // the redirect URI it was sent to, without the added parameters
	params url.Values
}

// ask sends an authorization request, has the user sign in if required, and returns the
// response.
func (p *party) ask(change ...string) *answer {
	p.t.Helper()
	return p.follow(p.visit(p.at("/oauth2/authorize?" + p.request(change...).Encode())))
}

// follow follows a reply until the browser is back at the relying party.
func (p *party) follow(reply *http.Response, text string) *answer {
	p.t.Helper()
	if reply.StatusCode == http.StatusOK {
		return p.posted(text)
	}
	to := p.location(reply)
	switch {
	case strings.HasPrefix(to.String(), p.at("/gate/signin?")):
		p.answers++
		return p.follow(p.visit(p.signIn(to.Query())))
	case strings.HasPrefix(to.String(), p.at("/oauth2/authorize?")):
		return p.follow(p.visit(to.String()))
	case strings.HasPrefix(to.String(), "https://rp.example.com/"):
		return p.redirected(to)
	}
	return &answer{to: to.String(), params: to.Query()}
}

func (p *party) location(reply *http.Response) *url.URL {
	p.t.Helper()
	to, err := url.Parse(reply.Header.Get("Location"))
	if err != nil || reply.StatusCode != http.StatusFound && reply.StatusCode != http.StatusSeeOther || !to.IsAbs() {
		p.t.Fatalf("expected a redirect, got %d to %v, %v", reply.StatusCode, to, err)
	}
	return to
}

// redirected is the response in the query of a redirect URI.
func (p *party) redirected(to *url.URL) *answer {
	p.t.Helper()
	if p.mode == "form_post" {
		p.t.Errorf("the answer is not posted: %s", to)
	}
	params := to.Query()
	to.RawQuery = ""
	for name, values := range map[string][]string{"dummy1": {"lorem"}, "dummy2": {"ipsum"}} {
		if params.Has(name) {
			to.RawQuery = "dummy1=lorem&dummy2=ipsum"
			if params[name][0] != values[0] || len(params[name]) != 1 {
				p.t.Errorf("the redirect URI's own query became %v", params)
			}
		}
	}
	params.Del("dummy1")
	params.Del("dummy2")
	return &answer{to.String(), params}
}

// posted is the response in the page of form_post (Form Post §2).
func (p *party) posted(page string) *answer {
	p.t.Helper()
	form := regexp.MustCompile(`<form method="post" action="([^"]*)"`).FindStringSubmatch(page)
	if form == nil || p.mode != "form_post" {
		p.t.Fatalf("expected an answer by %s, got the page %s", p.mode, page)
	}
	a := &answer{html.UnescapeString(form[1]), url.Values{}}
	for _, field := range regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`).FindAllStringSubmatch(page, -1) {
		a.params.Add(html.UnescapeString(field[1]), html.UnescapeString(field[2]))
	}
	return a
}

// signIn plays the gate: it answers the steps of the flow, and returns the redirect URL.
func (p *party) signIn(gate url.Values) string {
	p.t.Helper()
	id := gate.Get("executionId")
	p.step(map[string]any{"executionId": id})
	p.step(map[string]any{"executionId": id, "action": "password"})
	done := p.step(map[string]any{"executionId": id, "action": "continue", "inputs": map[string]string{"username": "pat", "password": rpPassword}})
	if done.StepID == "consent" {
		done = p.step(map[string]any{"executionId": id, "action": "allow"})
	}
	if done.FlowStatus != schemas.Complete || done.Data.RedirectURL == "" {
		p.t.Fatalf("the sign-in ended in %+v", done)
	}
	return done.Data.RedirectURL
}

func (p *party) step(body any) (s schemas.Step) {
	p.t.Helper()
	status, said := p.postJSON("/flow/execute", body)
	if err := json.Unmarshal([]byte(said), &s); err != nil || status != http.StatusOK {
		p.t.Fatalf("%d %s, %v", status, said, err)
	}
	return s
}

// postJSON posts JSON.
func (p *party) postJSON(path string, body any) (status int, said string) {
	p.t.Helper()
	text := datatest.Marshal(p.t, body)
	r, err := http.NewRequest(http.MethodPost, p.at(path), bytes.NewReader(text))
	if err == nil {
		r.Header.Set("Content-Type", "application/json")
	}
	reply, said := p.do(r, err)
	return reply.StatusCode, said
}

// tokens are the reply of the token endpoint.
type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	ID      string `json:"id_token"`
	Type    string `json:"token_type"`
	Expires int    `json:"expires_in"`
	Error   string `json:"error"`
	// Description explains the error.
	Description string `json:"error_description"`
}

// token calls the token endpoint, with the client's authentication.
func (p *party) token(form url.Values) (*tokens, int) {
	p.t.Helper()
	var headers []string
	switch p.method {
	case schemas.AuthMethodBasic:
		r := &http.Request{Header: http.Header{}}
		r.SetBasicAuth(url.QueryEscape(p.id), url.QueryEscape(p.secret))
		headers = []string{"Authorization: " + r.Header.Get("Authorization")}
	case schemas.AuthMethodPrivateKeyJWT:
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", p.key.assert(p.id, p.cfg.Server.PublicURL))
	default:
		form.Set("client_id", p.id)
		form.Set("client_secret", p.secret)
	}
	reply, text := p.submit(p.at("/oauth2/token"), form, headers...)
	if reply.Header.Get("Cache-Control") != "no-store" {
		p.t.Error("the reply of the token endpoint may be cached (Core §3.1.3.3)")
	}
	var got tokens
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		p.t.Fatalf("%d %s: %v", reply.StatusCode, text, err)
	}
	return &got, reply.StatusCode
}

// code returns the code of a successful response.
func (p *party) code(a *answer) string {
	p.t.Helper()
	code := a.params.Get("code")
	if code == "" || a.to != p.redirect || a.params.Get("state") != "a state, with & in it" || a.params.Get("iss") != p.cfg.Server.PublicURL {
		p.t.Fatalf("answered %+v", a)
	}
	return code
}

func (p *party) redeem(code string, change ...string) (*tokens, int) {
	p.t.Helper()
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {p.redirect}}
	for i := 0; i < len(change); i += 2 {
		form.Set(change[i], change[i+1])
	}
	return p.token(form)
}

// idClaims are the claims of an ID token that the specification defines.
type idClaims struct {
	Nonce    string   `json:"nonce"`
	AuthTime int64    `json:"auth_time"`
	ACR      string   `json:"acr"`
	AMR      []string `json:"amr"`
	Hash     string   `json:"at_hash"`
	Azp      string   `json:"azp"`
}

// signInAndVerify gets tokens, and makes all checks that the specification requires of relying
// parties (Core §3.1.3.7).
func (p *party) signInAndVerify(change ...string) (*tokens, *oidc.IDToken, idClaims) {
	p.t.Helper()
	got, status := p.redeem(p.code(p.ask(change...)))
	if status != http.StatusOK || !strings.EqualFold(got.Type, "Bearer") || got.Expires <= 0 || got.Access == "" {
		p.t.Fatalf("%d %+v", status, got)
	}
	id, claims := p.verify(got)
	if want := p.request(change...).Get("nonce"); claims.Nonce != want {
		p.t.Errorf("the nonce %q, want %q", claims.Nonce, want)
	}
	return got, id, claims
}

// verify validates an ID token as a relying party.
func (p *party) verify(got *tokens) (*oidc.IDToken, idClaims) {
	p.t.Helper()
	ctx := oidc.ClientContext(p.t.Context(), p.http)
	provider, err := oidc.NewProvider(ctx, p.cfg.Server.PublicURL)
	if err != nil {
		p.t.Fatal(err)
	}
	id, err := provider.Verifier(&oidc.Config{ClientID: p.id}).Verify(ctx, got.ID)
	if err != nil {
		p.t.Fatal(err)
	}
	var claims idClaims
	if err := errors.Join(id.Claims(&claims), id.VerifyAccessToken(got.Access)); err != nil || len(id.Audience) != 1 || id.Subject == "" || len(id.Subject) > 255 {
		p.t.Errorf("%+v, %v", id, err)
	}
	return id, claims
}

// userinfo requests the claims about the user (Core §5.3).
func (p *party) userinfo(access string) map[string]any {
	p.t.Helper()
	r, err := http.NewRequest(http.MethodGet, p.at("/oauth2/userinfo"), nil)
	if err == nil {
		r.Header.Set("Authorization", "Bearer "+access)
	}
	return p.claims(p.do(r, err))
}

func (p *party) claims(reply *http.Response, text string) map[string]any {
	p.t.Helper()
	claims := p.object(reply, text)
	if claims["sub"] == nil {
		p.t.Errorf("userinfo lacks sub: %v", claims)
	}
	return claims
}

// object is a successful reply of JSON.
func (p *party) object(reply *http.Response, text string) (object map[string]any) {
	p.t.Helper()
	if err := json.Unmarshal([]byte(text), &object); err != nil || reply.StatusCode != http.StatusOK {
		p.t.Fatalf("%d %s, %v", reply.StatusCode, text, err)
	}
	return object
}

// refused makes sure that the client received an error; if it is unvouched and the user was
// not asked, an error page for the user is enough (RFC 9700 §4.11.2).
func (p *party) refused(a *answer, codes ...string) {
	p.t.Helper()
	for _, code := range codes {
		if p.untrusted && strings.HasPrefix(a.to, p.at("/gate/error?")) && a.params.Get("error") == code {
			return
		}
		if a.to == p.redirect && a.params.Get("error") == code && !a.params.Has("code") && a.params.Get("state") == "a state, with & in it" {
			return
		}
	}
	p.t.Errorf("answered %+v, want the error %v at %s", a, codes, p.redirect)
}
