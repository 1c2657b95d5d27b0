package main

import (
	"cmp"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// issuedSecret is a token or another secret, and the classes of the places that accept it.
type issuedSecret struct {
	raw        string
	acceptedBy []string
}

// secretPlace is a parameter or header field in which a request sends a token or another secret.
type secretPlace struct {
	name, class string
	route       string // "" for the header field Authorization
	send        func(raw string) *httptest.ResponseRecorder
	refused     func(*httptest.ResponseRecorder) bool
	isRead      bool     // whether accepted secrets may be sent as well, because they change nothing
	begins      []string // tables that each request changes, with any secret
}

// confusion is a server with each kind of secret, and each place for one.
type confusion struct {
	*attackedServer
	cookies  []*http.Cookie // of the browser with a session
	keyed    *party         // a client that signs assertions
	run      schemas.Step   // of a sign-in that has begun
	inviting string         // an application with an invitation flow
	secrets  map[string]issuedSecret
}

func newConfusion(t *testing.T) *confusion {
	t.Helper()
	c := &confusion{attackedServer: newAttackedServer(t), secrets: map[string]issuedSecret{}}
	c.cookies = c.signedInBrowser(t)
	c.run = c.signInTo(bootstrap.TryID)
	c.inviting = c.application(c.testApp.admin(), "Inviting", "invitationFlowId", "invitation")
	c.addKeyedClient(t)
	c.addForgedTokens(t)
	c.addTokens()
	c.addOpaqueSecrets()
	return c
}

func (c *confusion) add(name, raw string, acceptedBy ...string) {
	c.t.Helper()
	if raw == "" {
		c.t.Fatalf("there is no %s", name)
	}
	if _, twice := c.secrets[name]; twice {
		c.t.Fatalf("there are two secrets %q", name)
	}
	c.secrets[name] = issuedSecret{raw, acceptedBy}
}

func (c *confusion) addKeyedClient(t *testing.T) {
	t.Helper()
	holder := newKeyholder(t, "first")
	public := datatest.Marshal(t, holder.published())
	c.keyed = c.configuredClient(t, `"grantTypes":["client_credentials"],"tokenEndpointAuthMethod":"private_key_jwt","jwks":`+string(public))
	c.add("a client assertion", holder.assert(c.keyed.id, c.origin), "client_assertion")
	c.add("a client assertion for another server", holder.assert(c.keyed.id, "https://other.example.com"))
	c.add("a client assertion for the tools", holder.assert(c.keyed.id, c.origin+"/mcp"))
	c.add("a client assertion of another client", holder.assert(c.p.id, c.origin))
	c.add("a client assertion by another key", newKeyholder(t, "first").assert(c.keyed.id, c.origin))
}

// addForgedTokens adds tokens that were forged, and tokens of this server that are no longer valid
// or for another audience.
func (c *confusion) addForgedTokens(t *testing.T) {
	t.Helper()
	f := newForger(t, c.access("CONSOLE", nil), c.access("CONSOLE", nil), c.tokens.JWKS())
	for what, forger := range map[string]*forger{"access token": f, "assertion": newForger(t, c.answer(), c.answer(), c.tokens.JWKS())} {
		all := forger.forgeries()
		for _, name := range []string{"alg none", "no alg", "HS256 by the public key in PEM", "HS256 by the public key as a JWK", "a key of one's own in the header", "sub changed", "scope added", "exp later"} {
			c.add("a forged "+what+": "+name, all[name])
		}
	}
	classes := map[string]string{"userinfo": "userinfo", "the tools": "tools", "the API": "API"}
	fine := c.accepts()
	table := c.tamperedTokens(f)
	delete(table, "a code") // addTokens has one that no other test uses
	for name, raw := range table {
		var acceptedBy []string
		for place, class := range classes {
			if strings.Contains(fine[name], place) {
				acceptedBy = append(acceptedBy, class)
			}
		}
		switch {
		case strings.HasPrefix(name, "an ID token by"): // of any client: a session can end after its client is deleted
			acceptedBy = []string{"logout hint"}
		case name == "an ID token of the flow":
			acceptedBy = []string{"logout hint", "sign-in hint"}
		case name == "a refresh token":
			acceptedBy = []string{"refresh_token", "introspection", "revocation"}
		}
		c.add(name, raw, acceptedBy...)
	}
	was := c.admin
	c.admin = c.userNamed("pat")
	c.add("an access token of distributed claims", c.access("CONSOLE", func(a *token.Claims) { a.Audience = []string{c.origin + oauth.ClaimsPath + "/idToken"} }), "claims")
	c.add("an access token of distributed claims of another document", c.access("CONSOLE", func(a *token.Claims) { a.Audience = []string{c.origin + oauth.ClaimsPath + "/accessToken"} }))
	c.add("an access token of a user without permissions", c.access("CONSOLE", nil), "API", "tools", "userinfo")
	disabled := c.create(c.directory.Users, `{"type":"Person","attributes":{"username":"disabled","password":"grey lantern harbour"}}`).ID
	c.admin = disabled
	c.add("an access token of a disabled user", c.access("CONSOLE", func(a *token.Claims) { a.Session = c.session() }))
	c.add("an assertion of a disabled user", c.statement(c.app, c.session()))
	c.mustChangeUser(disabled, c.testApp.admin(), func(u *schemas.User) { u.Status = schemas.UserDisabled })
	c.admin = was
}

// addTokens adds valid tokens of each kind.
func (c *confusion) addTokens() {
	c.add("an access token", c.access("CONSOLE", nil), "API", "tools", "userinfo")
	c.add("an assertion", c.statement(c.app, c.session()), "API")
	c.add("a token of postern token", c.testApp.admin(), "API", "tools")
	got, _, _ := c.p.newTokens().signInAndVerify("scope", "openid profile", "prompt", "login")
	c.add("an access token of the client", got.Access, "userinfo", "introspection", "revocation")
	machine := c.client("system")
	var own tokens
	datatest.Unmarshal(c.t, c.askToken(machine.ClientID, machine.ClientSecret, "&scope=system").Body.Bytes(), &own)
	c.add("an access token of a client on its own behalf", own.Access, "API", "tools")
	c.add("a secret of another client", machine.ClientSecret)
	elsewhere := c.configuredClient(c.t, `"redirectUris":["`+rpRedirect+`"],"scopes":["openid","offline_access"],"grantTypes":["authorization_code","refresh_token"]`)
	c.add("a code of another client", elsewhere.code(elsewhere.ask()))
	its, _ := elsewhere.newTokens().redeem(elsewhere.newTokens().code(elsewhere.newTokens().ask("scope", "openid offline_access", "prompt", "consent")))
	c.add("a refresh token of another client", its.Refresh)
	c.add("an ID token of another client", its.ID, "logout hint")
	c.add("an access token of another client", its.Access, "userinfo")
	q := c.p.newTokens()
	c.add("a code", q.code(q.ask()), "code")
	c.add("the assertion of the request", c.answer(), "API", "answer")
}

// addOpaqueSecrets adds what is not a JWT.
func (c *confusion) addOpaqueSecrets() {
	c.add("a client secret", c.p.secret, "client_secret")
	c.add("a client id", c.p.id)
	c.add("an authId", c.authID, "authId")
	c.add("an execution id", c.run.ExecutionID, "executionId")
	c.add("a challenge token", c.run.ChallengeToken, "challengeToken")
	c.add("a password", rpPassword)
	c.add("a code verifier", gateVerifier)
	c.add("the word null", "null")
	c.add("a space", " ")
	c.add("the session token of a sign-in", c.startPasskey().SessionToken, "ceremony")
	var begun struct{ SessionToken string }
	c.send(http.StatusOK, "/register/passkey/start", c.testApp.admin(), `{"userId":"`+c.admin+`"}`, &begun)
	c.add("the session token of a registration", begun.SessionToken, "ceremony")
	invited := c.create(c.directory.Users, `{"type":"Person","attributes":{"username":"invited","email":"invited@example.org"}}`).ID
	for purpose, user := range map[string]string{schemas.LockLink: invited, schemas.InvitationLink: invited} {
		raw, now := schemas.NewSecret(), time.Now()
		c.apply(schemas.CreateLink{Link: schemas.Link{TokenHash: schemas.HashSecret(raw), UserID: user, Purpose: purpose, Subject: c.inviting, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}})
		c.add("the token of a link: "+purpose, raw, purpose)
	}
	for _, cookie := range c.cookies {
		var acceptedBy []string
		if cookie.Name == oauth.Cookie(c.origin, "postern-session", "").Name {
			acceptedBy = []string{"cookie"}
		}
		c.add("the cookie "+cookie.Name, cookie.Value, acceptedBy...)
	}
}

// request sends a request as the browser of the authorization request.
func (c *confusion) request(method, target, contentType, body string, headers ...string) *httptest.ResponseRecorder {
	r := newRequest(method, target, body, "Content-Type: "+contentType, mcpReply)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header[name] = []string{value}
	}
	if at, err := url.Parse(c.origin); err == nil && len(headers) == 0 {
		for _, cookie := range c.p.http.Jar.Cookies(at) {
			r.AddCookie(cookie)
		}
	}
	return c.reply(r)
}

func (c *confusion) form(path string, values url.Values, headers ...string) *httptest.ResponseRecorder {
	return c.request("POST", path, "application/x-www-form-urlencoded", values.Encode(), headers...)
}

func (c *confusion) json(path string, body map[string]any, headers ...string) *httptest.ResponseRecorder {
	return c.request("POST", path, "application/json", string(datatest.Marshal(c.t, body)), headers...)
}

func isRefusal(rec *httptest.ResponseRecorder) bool {
	return rec.Code >= 400 || strings.Contains(rec.Header().Get("Location"), "/gate/error?") || strings.Contains(rec.Header().Get("Location"), "error=invalid_request")
}

func isUnauthenticated(rec *httptest.ResponseRecorder) bool {
	return rec.Code == http.StatusUnauthorized
}

// bearerPlaces are the header field Authorization at each route that needs a token.
func (c *confusion) bearerPlaces(routes []route) (list []secretPlace) {
	targets := c.attackTargets(c.t, routes, c.userNamed("pat"), c.liveSessions(c.userNamed("pat"))[0].ID)
	for _, r := range routes {
		class := map[string]string{"a token for the tools": "tools", "an access token with the scope openid": "userinfo", "the access token of a distributed claim": "claims", "nothing": "", "client authentication": ""}
		place := secretPlace{name: "Authorization at " + r.String(), class: "API", refused: isUnauthenticated, isRead: r.method == http.MethodGet && r.path != "/users/me/export"} // which needs a recent sign-in
		if known, is := class[r.needs]; is {
			place.class = known
		}
		if place.class == "" {
			continue
		}
		body := "{}"
		if r.path == oauth.ToolsPath {
			body, place.isRead = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, true
		}
		if r.path == oauth.UserInfoPath || place.class == "claims" {
			body, place.refused, place.isRead = "", isRefusal, true
		}
		place.send = func(raw string) *httptest.ResponseRecorder {
			kind := "application/json"
			if r.path == oauth.UserInfoPath {
				kind = "application/x-www-form-urlencoded"
			}
			return c.request(r.method, targets.at(r), kind, body, "Authorization: Bearer "+raw)
		}
		list = append(list, place)
	}
	return list
}

// grantPlaces are the parameters of the token endpoint and of the other endpoints that
// authenticate clients.
func (c *confusion) grantPlaces() []secretPlace {
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth(url.QueryEscape(c.p.id), url.QueryEscape(c.p.secret))
	basic := "Authorization: " + r.Header.Get("Authorization")
	const path, assertionType = "/oauth2/token", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	grant := func(name, class, grantType string, more ...string) secretPlace {
		return secretPlace{name: name + " at POST /oauth2/token", class: class, route: "POST /oauth2/token", refused: isRefusal, send: func(raw string) *httptest.ResponseRecorder {
			form := url.Values{"grant_type": {grantType}, "redirect_uri": {c.p.redirect}, name: {raw}}
			for i := 0; i < len(more); i += 2 {
				form.Set(more[i], more[i+1])
			}
			return c.form(path, form, basic)
		}}
	}
	noClient := func(rec *httptest.ResponseRecorder) bool {
		return rec.Code == http.StatusUnauthorized || rec.Code == http.StatusBadRequest && !strings.Contains(rec.Body.String(), "unauthorized_client")
	}
	return []secretPlace{
		grant("code", "code", "authorization_code"), grant("refresh_token", "refresh_token", "refresh_token"),
		grant("assertion", "nothing", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
		grant("subject_token", "nothing", "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token_type", "urn:ietf:params:oauth:token-type:access_token"),
		grant("device_code", "nothing", "urn:ietf:params:oauth:grant-type:device_code"), grant("password", "nothing", "password", "username", "pat"),
		{name: "client_secret at POST /oauth2/token", class: "client_secret", route: "POST /oauth2/token", isRead: true, refused: noClient, send: func(raw string) *httptest.ResponseRecorder {
			r := &http.Request{Header: http.Header{}}
			r.SetBasicAuth(url.QueryEscape(c.p.id), url.QueryEscape(raw))
			return c.form(path, url.Values{"grant_type": {"client_credentials"}}, "Authorization: "+r.Header.Get("Authorization"))
		}},
		{name: "client_secret in the form at POST /oauth2/token", class: "nothing", route: "POST /oauth2/token", refused: noClient, send: func(raw string) *httptest.ResponseRecorder {
			return c.form(path, url.Values{"grant_type": {"client_credentials"}, "client_id": {c.p.id}, "client_secret": {raw}}, "X-None: 1")
		}},
		{name: "client_assertion at POST /oauth2/token", class: "client_assertion", route: "POST /oauth2/token", isRead: true, refused: noClient, send: func(raw string) *httptest.ResponseRecorder {
			return c.form(path, url.Values{"grant_type": {"client_credentials"}, "client_assertion_type": {assertionType}, "client_assertion": {raw}}, "X-None: 1")
		}},
		{name: "token at POST /oauth2/introspect", class: "introspection", route: "POST /oauth2/introspect", isRead: true, send: func(raw string) *httptest.ResponseRecorder {
			return c.form("/oauth2/introspect", url.Values{"token": {raw}}, basic)
		}, refused: func(rec *httptest.ResponseRecorder) bool {
			return rec.Code >= 400 || strings.TrimSpace(rec.Body.String()) == `{"active":false}`
		}},
		{name: "token at POST /oauth2/revoke", class: "revocation", route: "POST /oauth2/revoke", send: func(raw string) *httptest.ResponseRecorder {
			return c.form("/oauth2/revoke", url.Values{"token": {raw}}, basic)
		}, refused: func(*httptest.ResponseRecorder) bool { return true }}, // RFC 7009 §2.2 replies 200; the store must not change
	}
}

// browserPlaces are the parameters of endpoints to which browsers go, and cookies.
func (c *confusion) browserPlaces() []secretPlace {
	hint := func(method, path, class string) secretPlace {
		return secretPlace{name: "id_token_hint at " + method + " " + path, class: class, route: method + " " + path, refused: isRefusal, isRead: path == oauth.AuthorizePath, send: func(raw string) *httptest.ResponseRecorder {
			values := url.Values{"id_token_hint": {raw}}
			if path == oauth.AuthorizePath {
				values = c.p.request("prompt", "none", "id_token_hint", raw)
			}
			if method == http.MethodPost {
				return c.form(path, values) // with the cookies, without which the reply is a redirect
			}
			return c.request(method, path+"?"+values.Encode(), "", "", "X-None: 1")
		}}
	}
	sessionCookie := oauth.Cookie(c.origin, "postern-session", "").Name
	refusedForm := func(rec *httptest.ResponseRecorder) bool { return rec.Code >= 400 && rec.Code < 500 }
	return []secretPlace{
		hint("GET", oauth.AuthorizePath, "sign-in hint"), hint("POST", oauth.AuthorizePath, "sign-in hint"),
		hint("GET", oauth.LogoutPath, "logout hint"), hint("POST", oauth.LogoutPath, "logout hint"), hint("GET", oauth.LogoutAlias, "logout hint"), hint("POST", oauth.LogoutAlias, "logout hint"),
		{name: "authId at GET /oauth2/auth/callback", class: "nothing", route: "GET /oauth2/auth/callback", refused: isRefusal, send: func(raw string) *httptest.ResponseRecorder {
			return c.request("GET", "/oauth2/auth/callback?authId="+url.QueryEscape(raw), "", "")
		}},
		{name: "authId at POST /oauth2/auth/callback", class: "nothing", route: "POST /oauth2/auth/callback", refused: isRefusal, send: func(raw string) *httptest.ResponseRecorder {
			return c.json("/oauth2/auth/callback", map[string]any{"authId": raw, "assertion": "x"})
		}},
		{name: "assertion at POST /oauth2/auth/callback", class: "answer", route: "POST /oauth2/auth/callback", refused: isUnauthenticated, send: func(raw string) *httptest.ResponseRecorder {
			return c.json("/oauth2/auth/callback", map[string]any{"authId": c.authID, "assertion": raw})
		}},
		{name: "the cookie of a session at GET /users/me", class: "cookie", route: "GET /users/me", refused: isUnauthenticated, isRead: true, send: func(raw string) *httptest.ResponseRecorder {
			return c.request("GET", "/users/me", "", "", "Cookie: "+sessionCookie+"="+raw, "Postern-Session: 1", "Sec-Fetch-Site: same-origin")
		}},
		{name: "access_token in the query of GET /users/me", class: "nothing", route: "GET /users/me", refused: isUnauthenticated, send: func(raw string) *httptest.ResponseRecorder {
			return c.request("GET", "/users/me?access_token="+url.QueryEscape(raw), "", "", "X-None: 1")
		}},
		{name: "access_token in the query of GET /oauth2/userinfo", class: "nothing", route: "GET /oauth2/userinfo", refused: refusedForm, send: func(raw string) *httptest.ResponseRecorder {
			return c.request("GET", "/oauth2/userinfo?access_token="+url.QueryEscape(raw), "", "", "X-None: 1")
		}},
		{name: "access_token in the form of POST /oauth2/userinfo", class: "userinfo", route: "POST /oauth2/userinfo", refused: refusedForm, isRead: true, send: func(raw string) *httptest.ResponseRecorder {
			return c.form("/oauth2/userinfo", url.Values{"access_token": {raw}}, "X-None: 1")
		}},
		{name: "another scheme of Authorization at GET /users", class: "nothing", route: "GET /users", refused: isUnauthenticated, send: func(raw string) *httptest.ResponseRecorder {
			return c.request("GET", "/users", "", "", "Authorization: DPoP "+raw)
		}},
	}
}

// flowPlaces are the members of the bodies that continue a run, a ceremony or a link.
func (c *confusion) flowPlaces() []secretPlace {
	admin := "Authorization: Bearer " + c.testApp.admin()
	place := func(name, class, request string, send func(path, raw string) *httptest.ResponseRecorder) secretPlace {
		_, path, _ := strings.Cut(request, " ")
		return secretPlace{name: name + " at " + request, class: class, route: request, refused: isRefusal, send: func(raw string) *httptest.ResponseRecorder { return send(path, raw) }}
	}
	finish := func(headers ...string) func(path, raw string) *httptest.ResponseRecorder {
		return func(path, raw string) *httptest.ResponseRecorder {
			return c.json(path, map[string]any{"sessionToken": raw, "publicKeyCredential": map[string]any{}}, append(headers, "X-None: 1")...)
		}
	}
	member := func(name string, more map[string]any) func(path, raw string) *httptest.ResponseRecorder {
		return func(path, raw string) *httptest.ResponseRecorder {
			body := maps.Clone(more)
			body[name] = raw
			return c.json(path, body)
		}
	}
	invited := place("the invitation", schemas.InvitationLink, "POST /flow/execute", func(path, raw string) *httptest.ResponseRecorder {
		s := c.begin(c.inviting, "INVITATION")
		return c.json(path, map[string]any{"executionId": s.ExecutionID, "challengeToken": s.ChallengeToken, "action": "submit", "inputs": map[string]string{"invitation": raw}})
	})
	invited.begins = []string{"runs"}
	invited.refused = func(rec *httptest.ResponseRecorder) bool {
		return rec.Code >= 400 || strings.Contains(rec.Body.String(), `"link"`) && strings.Contains(rec.Body.String(), `"error"`)
	}
	return []secretPlace{
		place("sessionToken", "ceremony", "POST /auth/passkey/finish", finish()), place("sessionToken", "ceremony", "POST /register/passkey/finish", finish(admin)),
		place("token", schemas.LockLink, "POST /account/lock", member("token", map[string]any{})),
		place("executionId", "executionId", "POST /flow/execute", member("executionId", map[string]any{})),
		place("challengeToken", "challengeToken", "POST /flow/execute", member("challengeToken", map[string]any{"executionId": c.run.ExecutionID, "action": "password"})),
		place("authId", "authId", "POST /flow/execute", member("authId", map[string]any{"applicationId": c.app, "flowType": "AUTHENTICATION"})),
		invited,
	}
}

// withoutSecrets are the routes at which no secret has a meaning.
func withoutSecrets() []string {
	return []string{"POST /auth/passkey/start", "GET /flow/meta", "GET /.well-known/webauthn", "GET /.well-known/passkey-endpoints", "GET /health/liveness", "GET /health/readiness",
		"GET /openapi.json", "GET /docs", "GET /oauth2/jwks", "GET /.well-known/oauth-authorization-server", "GET /.well-known/oauth-protected-resource",
		"GET /.well-known/oauth-protected-resource/mcp", "GET /.well-known/openid-configuration"}
}

// places are all places for a secret. Every route has one, or is listed to have none.
func (c *confusion) places() []secretPlace {
	c.t.Helper()
	routes := readRoutes(c.t)
	list := c.bearerPlaces(routes)
	covered := withoutSecrets()
	for _, place := range slices.Concat(c.grantPlaces(), c.browserPlaces(), c.flowPlaces()) {
		covered = append(covered, place.route)
		list = append(list, place)
	}
	for _, r := range routes {
		if (r.needs == "nothing" || r.needs == "client authentication") && !slices.Contains(covered, r.String()) {
			c.t.Errorf("%s has no place for a secret in this test: add its parameters, or add it to withoutSecrets", r)
		}
	}
	return list
}

// TestTokenConfusion sends every kind of token and secret to every place for one. Those that the
// place is not for are refused, and change nothing.
func TestTokenConfusion(t *testing.T) {
	sequential(t)
	c := newConfusion(t)
	places := c.places()
	watch := c.watchStore(t, bookkeeping()...)
	refused, accepted := 0, 0
	for _, name := range slices.Sorted(maps.Keys(c.secrets)) {
		secret := c.secrets[name]
		for _, place := range places {
			if slices.Contains(secret.acceptedBy, place.class) {
				if !place.isRead {
					continue
				}
				accepted++
				if rec := place.send(secret.raw); place.refused(rec) {
					t.Errorf("%s is refused as %s: %d %s %s", name, place.name, rec.Code, rec.Header().Get("Location"), rec.Body)
				}
				continue
			}
			refused++
			rec := place.send(secret.raw)
			if !place.refused(rec) {
				t.Errorf("%s is accepted as %s: %d %s %s", name, place.name, rec.Code, rec.Header().Get("Location"), cmp.Or(rec.Body.String(), "-"))
			}
			changed := slices.DeleteFunc(watch.changes(), func(table string) bool { return slices.Contains(place.begins, table) })
			if len(changed) > 0 {
				t.Errorf("%s as %s changes %v", name, place.name, changed)
			}
		}
		watch.changes()
	}
	if refused < 5000 || accepted < 100 {
		t.Errorf("only %d combinations are refused, and %d accepted", refused, accepted)
	}
	t.Logf("%d kinds and %d places: %d combinations are refused, %d accepted", len(c.secrets), len(places), refused, accepted)
}
