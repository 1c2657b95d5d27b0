package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// These tests are named after finding 20 of the security audit of November 2026: tokens of
// a client could not be revoked.

// twoInstances starts a server, and a second one on the same store.
func twoInstances(t *testing.T, environ ...string) (one, two *testApp) {
	t.Helper()
	one = createUsers(t, environ...)
	second := openForTest(t, one.cfg, slog.New(slog.DiscardHandler))
	return one, &testApp{app: second, t: t, http: second.handler(), origin: one.origin}
}

// leakyClient is a confidential client of an administrator with every grant type.
const leakyClient = `{"name":"Leaky","inboundAuthConfig":[{"type":"oauth2","config":{"clientId":"leaky",
	"grantTypes":["authorization_code","refresh_token","client_credentials"],"redirectUris":["` + rpRedirect + `"],
	"pkceRequired":false,"scopes":["openid","system:applications:read"]}}]}`

// leakyMetadata creates that client, with a user in a browser of their own.
func leakyMetadata(t *testing.T, w *testApp) *party {
	t.Helper()
	c := w.create(w.directory.Applications, leakyClient).Value.(*schemas.Application)
	return &party{testApp: w, t: t, http: newBrowser(t, w.http), mode: "query", id: c.ClientID, secret: c.ClientSecret,
		method: schemas.AuthMethodBasic, redirect: rpRedirect}
}

// tokensAndSessions are the tokens that a client has been issued.
type tokensAndSessions struct{ own, user, refresh, code, assertion string }

// collect gets every kind of token for the client.
func (p *party) collect(applicationID string) tokensAndSessions {
	p.t.Helper()
	own, status := p.token(url.Values{"grant_type": {"client_credentials"}, "scope": {"system:applications:read"}})
	if status != http.StatusOK {
		p.t.Fatalf("%d %+v", status, own)
	}
	user, status := p.redeem(p.code(p.ask("prompt", "login")))
	if status != http.StatusOK || user.Refresh == "" {
		p.t.Fatalf("%d %+v", status, user)
	}
	s := p.step(map[string]any{"applicationId": applicationID, "flowType": "AUTHENTICATION"})
	p.step(map[string]any{"executionId": s.ExecutionID, "action": "password"})
	done := p.step(map[string]any{"executionId": s.ExecutionID, "action": "continue", "inputs": map[string]string{"username": "pat", "password": rpPassword}})
	return tokensAndSessions{own.Access, user.Access, user.Refresh, p.code(p.ask()), done.Assertion}
}

// bearerTokens reports for each access token and the assertion whether an instance accepts
// it.
func (h tokensAndSessions) bearerTokens(w *testApp) map[string]bool {
	return map[string]bool{
		"the client's own token": w.get("/applications", h.own) == http.StatusOK,
		"the user's token":       w.get("/oauth2/userinfo", h.user) == http.StatusOK,
		"the assertion":          w.get("/users/me", h.assertion) == http.StatusOK,
	}
}

func (h tokensAndSessions) expect(live bool, instances ...*testApp) {
	for i, w := range instances {
		w.t.Helper()
		for name, got := range h.bearerTokens(w) {
			if got != live {
				w.t.Errorf("instance %d takes %s: %v, want %v", i+1, name, got, live)
			}
		}
	}
}

// Replacing a client's leaked secret, and revoking its tokens, ends every token issued before, on
// every instance, and none issued afterwards.
func TestAudit20TokensOfAClientAreRevoked(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		one, two := twoInstances(t, environ...)
		p, admin := leakyMetadata(t, one), one.admin()
		id := p.begin().Get("applicationId")
		h := p.collect(id)
		h.expect(true, one, two)
		for _, revoke := range []func(){
			func() { p.revokeTokens(id, admin) },
			func() {
				var made clientSecretReply
				one.send(http.StatusOK, "/applications/"+id+"/client-secret", admin, `{"revokeTokens":true}`, &made)
				p.secret = made.ClientSecret
			},
			func() {
				p.secret = "a-secret-chosen-by-an-administrator-0123456789"
				p.edit(id, func(a *schemas.Application) { a.ClientSecret = p.secret })
			},
		} {
			revoke()
			h.expect(false, one, two)
			p.refusesGrant("a refresh token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {h.refresh}})
			p.refusesGrant("a code", url.Values{"grant_type": {"authorization_code"}, "code": {h.code}, "redirect_uri": {p.redirect}})
			h = p.collect(id)
			h.expect(true, one, two)
		}
		p.edit(id, func(a *schemas.Application) { a.Description = "Nothing that concerns tokens." })
		h.expect(true, one, two)
		if got, status := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {h.refresh}}); status != http.StatusOK {
			t.Errorf("a refresh token issued afterwards: %d %+v", status, got)
		}
	})
}

type clientSecretReply struct{ ClientID, ClientSecret string }

// revokeTokens calls the endpoint, and checks the event.
func (p *party) revokeTokens(id, token string) {
	p.t.Helper()
	status, _, said := p.bare(http.MethodPost, "/applications/"+id+"/revoke-tokens", token)
	if status != http.StatusNoContent || said != "" {
		p.t.Fatalf("%d %s", status, said)
	}
	events, err := p.store.Events(p.t.Context(), schemas.EventQuery{Limit: 1, ResourceID: id})
	if err != nil || len(events) != 1 || events[0].Action != "application.tokens_revoked" || events[0].Before == events[0].After {
		p.t.Errorf("recorded %+v, %v", events, err)
	}
}

func (p *party) refusesGrant(what string, form url.Values) {
	p.t.Helper()
	if got, status := p.token(form); status != http.StatusBadRequest || got.Error != "invalid_grant" {
		p.t.Errorf("%s issued before: %d %+v", what, status, got)
	}
}

// Revoking the tokens requires the same permissions as rotating the secret.
func TestAudit20RevocationRequiresThePermissionsOfTheClient(t *testing.T) {
	w := createUsers(t)
	strong := w.client("system")
	weak := w.client("system:applications:read")
	writer := w.client("system:applications:write system:applications:read")
	reader, own := w.client("system:applications:read"), w.client("system:applications:write")
	token := func(c *schemas.Application) string {
		var got tokens
		datatest.Unmarshal(t, w.askToken(c.ClientID, c.ClientSecret, "").Body.Bytes(), &got)
		return got.Access
	}
	for name, test := range map[string]struct {
		of     *schemas.Application
		token  string
		status int
	}{
		"no token":                             {weak, "", 401},
		"a token that may only read":           {weak, token(reader), 403},
		"a client that has more":               {strong, token(writer), 403},
		"a client that has as much":            {weak, token(writer), 204},
		"an administrator":                     {strong, w.admin(), 204},
		"an application that there is not":     {&schemas.Application{ID: schemas.NewID()}, w.admin(), 404},
		"an application that is not a client":  {w.create(w.directory.Applications, `{"name":"Plain"}`).Value.(*schemas.Application), w.admin(), 204},
		"the token that the caller itself has": {own, token(own), 204},
	} {
		for _, path := range []string{"/revoke-tokens", "/client-secret"} {
			if path == "/client-secret" && test.status == http.StatusNoContent {
				continue
			}
			if status, _, said := w.bare(http.MethodPost, "/applications/"+test.of.ID+path, test.token); status != test.status {
				t.Errorf("%s: POST %s answers %d %s, want %d", name, path, status, said, test.status)
			}
		}
	}
}

// A client id that is reused, by any means, revives no token.
func TestAudit20RecreatedClientDoesNotRevalidateTokens(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		one, two := twoInstances(t, environ...)
		p := leakyMetadata(t, one)
		id := p.begin().Get("applicationId")
		h := p.collect(id)
		one.remove(one.directory.Applications, id)
		h.expect(false, one, two)
		// With the same ids, and within the same second, only the registration differs.
		again := one.create(one.directory.Applications, strings.Replace(leakyClient, `{"name"`, fmt.Sprintf(`{"id":%q,"name"`, id), 1)).Value.(*schemas.Application)
		p.secret = again.ClientSecret
		h.expect(false, one, two)
		p.refusesGrant("a refresh token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {h.refresh}})

		h = p.collect(id)
		h.expect(true, one, two)
		config := again.InboundAuthConfig
		p.edit(id, func(a *schemas.Application) { a.InboundAuthConfig, a.ClientID = nil, "" })
		p.edit(id, func(a *schemas.Application) { a.InboundAuthConfig = config })
		h.expect(false, one, two)
	})
}

// A client cannot have a token of its own that is valid for more than a day.
func TestAudit20ClientTokensExpireWithinADay(t *testing.T) {
	const year = 365 * 24 * 3600
	w := createUsers(t, "POSTERN_TOKEN_ACCESS_TTL=8760h")
	c := w.client("system:applications:read")
	var got tokens
	if err := json.Unmarshal(w.askToken(c.ClientID, c.ClientSecret, "").Body.Bytes(), &got); err != nil || got.Expires != 24*3600 {
		t.Errorf("a token is valid for %d seconds, want a day; %v", got.Expires, err)
	}
	body := func(name string, seconds int) string {
		return fmt.Sprintf(`{"name":%q,"inboundAuthConfig":[{"type":"oauth2","config":{"grantTypes":["client_credentials"],
			"token":{"accessToken":{"validityPeriod":%d}}}}]}`, name, seconds)
	}
	refused := httptest.NewRecorder()
	for seconds, want := range map[int]int{24 * 3600: 201, 24*3600 + 1: 400, year: 400} {
		rec := w.call(http.MethodPost, "/applications", w.admin(), body(fmt.Sprint(seconds), seconds))
		if rec.Code != want {
			t.Errorf("%d seconds: %d %s, want %d", seconds, rec.Code, rec.Body, want)
		}
		if seconds == year {
			refused = rec
		}
	}
	if !strings.Contains(refused.Body.String(), "expected at most 86400 seconds for a client with the grant type client_credentials") {
		t.Errorf("refused with %s", refused.Body)
	}
	var m struct{ Result struct{ IsError bool } }
	w.send(200, "/mcp", w.admin(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"service_create_application","arguments":`+body("By a tool", year)+`}}`, &m)
	if !m.Result.IsError {
		t.Error("the tool took a year")
	}
}
