package main

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// attackedServer is a server with every endpoint that accepts tokens.
type attackedServer struct {
	*testApp
	t      *testing.T
	p      *party
	authID string // of an authorization request that p has started …
	app    string // … for this application
	admin  string // the administrator's id
}

func newAttackedServer(t *testing.T) *attackedServer {
	t.Helper()
	p := newParties(t, "query")(t)
	gate := p.begin()
	b := &attackedServer{testApp: p.testApp, t: t, p: p, authID: gate.Get("authId"), app: gate.Get("applicationId")}
	holders, err := b.directory.Administrators(t.Context(), directory.SystemCall(), 1)
	if err != nil || len(holders) != 1 {
		t.Fatal(holders, err)
	}
	b.admin = holders[0]
	return b
}

// endpoints are the endpoints that accept a token, by purpose.
func (b *attackedServer) endpoints() map[string]func(raw string) (status int) {
	bearer := func(method, path, body string) func(string) int {
		return func(raw string) int {
			r := newRequest(method, path, body, jsonBody, mcpReply)
			r.Header["Authorization"] = []string{"Bearer " + raw}
			return b.testApp.reply(r).Code
		}
	}
	return map[string]func(string) int{
		"the API":               bearer("GET", "/applications", ""),
		"the account":           bearer("GET", "/users/me", ""),
		"registering a passkey": bearer("POST", "/register/passkey/start", `{"userId":"`+b.admin+`"}`),
		"registering a client":  bearer("POST", "/oauth2/dcr/register", `{"redirect_uris":["https://rp.example.com/callback"]}`),
		"the tools":             bearer("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"service_list_applications","arguments":{}}}`),
		"userinfo":              bearer("GET", "/oauth2/userinfo", ""),
		"answering by assertion": func(raw string) int {
			status, _ := b.p.postJSON("/oauth2/auth/callback", map[string]string{"authId": b.authID, "assertion": raw})
			return status
		},
	}
}

// Every invalid token is rejected, at every endpoint.
func TestHostileTokensEverywhere(t *testing.T) {
	sequential(t)
	b := newAttackedServer(t)
	access, another := b.access("CONSOLE", nil), b.access("CONSOLE", nil)
	assertion, later := b.answer(), b.answer()
	for place, raw := range map[string]string{"the API": access, "the account": access, "the tools": access, "registering a passkey": access, "registering a client": access} {
		if status := b.endpoints()[place](raw); status >= 300 {
			t.Fatalf("a good token at %s: %d", place, status)
		}
	}
	f := newForger(t, access, another, b.tokens.JWKS())
	table := b.tamperedTokens(f)
	for name, raw := range f.forgeries() {
		table["an access token: "+name] = raw
	}
	for name, raw := range newForger(t, assertion, later, b.tokens.JWKS()).forgeries() {
		table["an assertion: "+name] = raw
	}
	if len(table) < 60 {
		t.Fatalf("there are %d tokens", len(table))
	}
	fine := b.accepts()
	for name, raw := range table {
		t.Run(name, func(t *testing.T) {
			for place, send := range b.endpoints() {
				if status := send(raw); status != http.StatusUnauthorized && !strings.Contains(fine[name], place) {
					t.Errorf("at %s: %d", place, status)
				}
			}
		})
	}
	for place, raw := range map[string]string{"the account": later, "answering by assertion": later} {
		if status := b.endpoints()[place](raw); status != http.StatusOK {
			t.Errorf("a good assertion at %s: %d", place, status)
		}
	}
}

// accepts lists where tokens are accepted nevertheless. Userinfo requires the scope openid and no
// audience of another resource server.
func (b *attackedServer) accepts() map[string]string {
	return map[string]string{
		"a client for an audience":        "userinfo",
		"the audience of the tools alone": "userinfo the tools",
		"the audience of the API alone":   "userinfo the API the account registering a passkey registering a client",
	}
}

func (b *attackedServer) audiences() map[string][]string {
	return map[string][]string{
		"another audience": {"https://shop.example.com"}, "the audience of the tools alone": {b.origin + "/mcp"}, "the audience of the API alone": {b.origin},
		"an audience that is almost ours": {b.origin + "/", b.origin + "/mcp/", strings.ToUpper(b.origin)}, "a client for an audience": {"CONSOLE", bootstrap.ConsoleID, b.app},
		"an audience below ours": {b.origin + "/oauth2/token", b.origin + "/applications"},
	}
}

// access is an access token of the administrator with some claims changed.
func (b *attackedServer) access(client string, change func(*token.Claims)) string {
	b.t.Helper()
	a := token.Claims{Subject: b.admin, ClientID: client, Audience: []string{b.origin, b.origin + "/mcp"}, Scope: []string{"system", "openid", "account"}}
	if app, err := b.store.ApplicationByClientID(b.t.Context(), client); err == nil {
		a.Generation = app.TokenGeneration
	}
	if change != nil {
		change(&a)
	}
	return b.sign(b.tokens.Access(b.t.Context(), a))
}

func (b *attackedServer) sign(raw string, err error) string {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	return raw
}

// issuer signs with the keys of this server, under other options.
func (b *attackedServer) issuer(o token.Options) *attackedServer {
	b.t.Helper()
	var err error
	other := *b
	other.testApp = &testApp{app: &app{store: b.store}, t: b.t, origin: b.origin}
	if other.tokens, err = token.New(b.t.Context(), b.store, b.encryption.newestKey(), o); err != nil {
		b.t.Fatal(err)
	}
	return &other
}

// statement is the assertion of a sign-in of the administrator.
func (b *attackedServer) statement(application, session string) string {
	b.t.Helper()
	generation := ""
	if app, err := b.store.Application(b.t.Context(), application); err == nil {
		generation = app.TokenGeneration
	}
	return b.sign(b.tokens.Assert(b.t.Context(), schemas.Assertion{Subject: b.admin, Audience: []string{application, b.origin}, Permissions: []string{"system"},
		Generation: generation, Session: session, AuthTime: time.Now(), Validity: time.Hour}))
}

// tamperedTokens are tokens signed by keys of this server: of another kind, for another audience,
// or no longer valid.
func (b *attackedServer) tamperedTokens(f *forger) map[string]string {
	now := func(shift time.Duration) func() time.Time {
		return func() time.Time { return time.Now().Add(shift) }
	}
	table := b.otherKinds()
	maps.Copy(table, b.revokedTokens(f))
	for name, o := range map[string]token.Options{
		"of another issuer":                 {Issuer: "https://other.example.com"},
		"of the issuer with a slash":        {Issuer: b.origin + "/"},
		"of the issuer in capitals":         {Issuer: strings.ToUpper(b.origin)},
		"of two hours ago":                  {Issuer: b.origin, Now: now(-2 * time.Hour)},
		"of a clock that is two hours fast": {Issuer: b.origin, Now: now(2 * time.Hour)},
	} {
		other := b.issuer(o)
		table["an access token "+name] = other.access("CONSOLE", nil)
		table["an assertion "+name] = other.statement(b.app, b.session())
	}
	for name, audience := range b.audiences() {
		table[name] = b.access("CONSOLE", func(a *token.Claims) { a.Audience = audience })
	}
	return table
}

// otherKinds are the other signed or issued values.
func (b *attackedServer) otherKinds() map[string]string {
	ctx, table := b.t.Context(), map[string]string{}
	for _, algorithm := range []string{token.RS256, token.ES256} {
		for _, client := range []string{"CONSOLE", b.origin, b.origin + "/mcp", b.app} {
			table["an ID token by "+algorithm+" for "+client] = b.sign(b.tokens.IDToken(ctx, token.Claims{Subject: b.admin, ClientID: client, Algorithm: algorithm,
				Profile: map[string]any{"scope": "system openid account", "client_id": "CONSOLE", "jti": schemas.NewID()}}))
			table["a logout token by "+algorithm+" for "+client] = b.sign(b.tokens.LogoutToken(ctx, token.Claims{Subject: b.admin, Session: b.session(), ClientID: client, Algorithm: algorithm}))
		}
	}
	got, _, _ := b.p.newTokens().signInAndVerify("scope", "openid offline_access", "prompt", "consent")
	q := b.p.newTokens()
	table["a refresh token"], table["a code"], table["an ID token of the flow"] = got.Refresh, q.code(q.ask()), got.ID
	return table
}

// newTokens is the same client in another browser.
func (p *party) newTokens() *party {
	other := *p
	other.http = newBrowser(p.t, p.testApp.http)
	return &other
}

// answer is an assertion that answers the authorization request.
func (b *attackedServer) answer() string {
	b.t.Helper()
	run := b.p.step(map[string]any{"applicationId": b.app, "flowType": "AUTHENTICATION", "authId": b.authID})
	return b.p.newTokens().assertionOfRun(run.ExecutionID)
}

// session starts a session of the administrator.
func (b *attackedServer) session() string {
	b.t.Helper()
	now := time.Now().UTC()
	s := schemas.Session{ID: schemas.NewID(), UserID: b.admin, AMR: []string{"pwd"}, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
	b.apply(schemas.StartSession{Session: s})
	return s.ID
}

func (b *attackedServer) apply(changes ...schemas.Change) {
	b.t.Helper()
	if err := b.p.store.Apply(b.t.Context(), storetest.Authorized(changes)); err != nil {
		b.t.Fatal(err)
	}
}

// revokedTokens are revoked tokens and tokens whose session, client, application or user was
// deleted, in each of the two encodings of their signature.
func (b *attackedServer) revokedTokens(f *forger) map[string]string {
	ended, revoked := b.session(), schemas.NewID()
	client := b.client("system")
	app := b.create(b.directory.Applications, `{"name":"Gone"}`).ID
	table := map[string]string{
		"an access token of a session that ended":         b.access("CONSOLE", func(a *token.Claims) { a.Session = ended }),
		"an assertion of a session that ended":            b.statement(b.app, ended),
		"an access token of a session that there was not": b.access("CONSOLE", func(a *token.Claims) { a.Session = schemas.NewID() }),
		"an access token that was revoked":                b.access("CONSOLE", func(a *token.Claims) { a.ID = revoked }),
		"one of several that were revoked together":       b.access("CONSOLE", func(a *token.Claims) { a.ID = revoked + ".1" }),
		"a client's own that is gone":                     b.access(client.ClientID, func(a *token.Claims) { a.Subject = client.ClientID }),
		"a user's for a client that is gone":              b.access(client.ClientID, nil),
		"of a client that there was not":                  b.access("nobody", nil),
		"of a client by the id of its application":        b.access(bootstrap.ConsoleID, nil),
		"an assertion of an application that is gone":     b.statement(app, b.session()),
		"an assertion of an application that was not":     b.statement(schemas.NewID(), b.session()),
	}
	maps.Copy(table, b.tokensOfDeletedUsers())
	b.apply(schemas.EndSession{ID: ended, At: time.Now()}, schemas.RevokeToken{ID: revoked, ExpiresAt: time.Now().Add(time.Hour)})
	for _, id := range []string{client.ID, app} {
		if err := b.directory.Applications.Delete(b.t.Context(), directory.SystemCall(), id, ""); err != nil {
			b.t.Fatal(err)
		}
	}
	for name, raw := range maps.Clone(table) {
		table[name+", mirrored"] = f.mirroredKeys(raw)
	}
	return table
}

// tokensOfDeletedUsers are tokens of a deleted administrator.
func (b *attackedServer) tokensOfDeletedUsers() map[string]string {
	user := b.create(b.directory.Users, `{"type":"Person","attributes":{"username":"passing","password":"grey lantern harbour"}}`).ID
	b.create(b.directory.Roles, `{"name":"Passing","permissions":["system"],"assignments":[{"type":"user","id":"`+user+`"}]}`)
	was := b.admin
	b.admin = user
	table := map[string]string{
		"of a user who is gone":              b.access("CONSOLE", func(a *token.Claims) { a.Session = b.session() }),
		"an assertion of a user who is gone": b.statement(b.app, b.session()),
	}
	b.admin = was
	if err := b.directory.Users.Delete(context.WithoutCancel(b.t.Context()), directory.SystemCall(), user, ""); err != nil {
		b.t.Fatal(err)
	}
	return table
}
