package server_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
	"github.com/postern-id/postern/server/oauth"
)

// The table is written a second time, so that a change of what a route needs is visible.
func TestRoutes(t *testing.T) {
	h := newTestServer(t)
	var table strings.Builder
	for _, r := range h.routes() {
		table.WriteString(r.Method + " " + r.Path + " — " + r.Needs + "\n")
	}
	want, err := os.ReadFile("testdata/routes.txt")
	if err != nil || table.String() != string(want) {
		t.Errorf("the table of routes is not that of testdata/routes.txt (%v):\n%s", err, &table)
	}
}

func (h *testServer) routes() []server.Route {
	return server.Routes(server.Options{Directory: h.directory, OAuth: &oauth.Provider{}, Tools: fakeTools{}, Keys: &token.Issuer{}})
}

// texts are what a route can need other than a permission.
func texts() []string {
	return []string{"nothing", "the user's token, or system", "a user's token", "a token for the tools", "client authentication", "an access token with the scope openid", "the access token of a distributed claim"}
}

// Every permission of the table is one that roles can grant.
func TestPermissionsOfRoutesExist(t *testing.T) {
	h := newTestServer(t)
	page, _ := h.ok(200, "GET /resource-servers?filter=handle+eq+%22system%22", "")
	var seeded []string
	for _, p := range page.list("resourceServers")[0]["permissions"].([]any) {
		seeded = append(seeded, p.(string))
	}
	for _, r := range h.routes() {
		if !slices.Contains(texts(), r.Needs) && !slices.Contains(seeded, r.Needs) {
			t.Errorf("%s %s needs %q, which is not among %q", r.Method, r.Path, r.Needs, seeded)
		}
		if strings.HasPrefix(r.Needs, "system:") && (r.Method == "GET") != strings.HasSuffix(r.Needs, ":read") && r.Path != "/flows/check" {
			t.Errorf("%s %s needs %q", r.Method, r.Path, r.Needs)
		}
	}
}

// bearerAt is a path of the route, with something for each variable.
func bearerAt(r server.Route) string {
	path := r.Path
	for _, variable := range []string{"{id}", "{type}", "{memberId}", "{principalId}", "{credentialId}", "{sid}", "{n}"} {
		path = strings.ReplaceAll(path, variable, "7")
	}
	return path
}

func TestRoutesWithoutToken(t *testing.T) {
	h := newTestServer(t)
	for _, r := range h.routes() {
		isOpen := slices.Contains([]string{"nothing", "client authentication", "an access token with the scope openid", "the access token of a distributed claim"}, r.Needs)
		if isOpen || r.Path == oauth.RegisterPath { // see TestClientRegistrationPermissions
			continue
		}
		for _, header := range []string{"", "Authorization: Bearer nonsense", "Authorization: Basic YTpi", "Authorization: Bearer"} {
			rec := h.do(r.Method, bearerAt(r), "{}", header)
			challenge := rec.Header().Get("WWW-Authenticate")
			code := "invalid_token"
			if header == "" {
				code = "unauthorized"
			}
			fails(t, rec, 401, code)
			if r.Path == oauth.ToolsPath {
				continue // see TestToolChallenges
			}
			if !strings.HasPrefix(challenge, `Bearer realm="postern"`) || strings.Contains(challenge, "error=") != (header != "") {
				t.Errorf("%s %s: %q", r.Method, r.Path, challenge)
			}
		}
	}
}

// A route with a permission rejects callers with all other permissions, and accepts callers with it
// or one above it.
func TestRoutesAndPermissions(t *testing.T) {
	h := newTestServer(t)
	var all []string
	for _, r := range h.routes() {
		if !slices.Contains(texts(), r.Needs) && !slices.Contains(all, r.Needs) && r.Needs != "system" {
			all = append(all, r.Needs)
		}
	}
	if len(all) < 15 {
		t.Fatalf("only %q", all)
	}
	for _, r := range h.routes() {
		if slices.Contains(texts(), r.Needs) || r.Path == oauth.RegisterPath {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(all), func(p string) bool { return p == r.Needs })
		others = append(others, r.Needs+":more", r.Needs[:len(r.Needs)-1], "openid", "*", "System")
		for _, path := range []string{bearerAt(r), bearerAt(r) + "?limit=x"} {
			rec := h.do(r.Method, path, "{", h.bearer(ada, others...))
			f := fails(t, rec, 403, "forbidden")
			want := `Bearer realm="postern", error="insufficient_scope", scope="` + r.Needs + `"`
			if got := rec.Header().Get("WWW-Authenticate"); got != want {
				t.Errorf("%s %s: %s, want %s", r.Method, r.Path, got, want)
			}
			if !strings.Contains(f.Description.DefaultValue, `"`+r.Needs+`"`) {
				t.Errorf("%q does not name %s", f.Description.DefaultValue, r.Needs)
			}
		}
		for above := r.Needs; ; above = above[:strings.LastIndex(above, ":")] {
			if rec := h.do(r.Method, bearerAt(r), "{}", h.bearer(ada, above)); rec.Code == 401 || rec.Code == 403 {
				t.Errorf("%s %s with %s: %d %s", r.Method, r.Path, above, rec.Code, rec.Body)
			}
			if above == "system" {
				break
			}
		}
	}
}

// A token that was meant for another audience, or was revoked, is none.
func TestTokensThatDoNotCount(t *testing.T) {
	h := newTestServer(t)
	raw, err := h.tokens.Assert(t.Context(), schemas.Assertion{Subject: ada, Audience: []string{publicURL + "/mcp"}, Permissions: []string{"system"}, AuthTime: h.clock()})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := h.do("GET", "/groups", "", "Authorization: Bearer "+raw)
	fails(t, elsewhere, 401, "invalid_token")
	if how := "resource=" + publicURL; !strings.Contains(elsewhere.Header().Get("WWW-Authenticate"), how) {
		t.Errorf("the refusal does not tell %s: %v", how, elsewhere.Header())
	}
	h.ok(200, "GET /groups", "")
	claims, err := h.tokens.Verify(t.Context(), strings.TrimPrefix(h.admin, "Authorization: Bearer "), publicURL)
	if err != nil {
		t.Fatal(err)
	}
	h.apply(schemas.RevokeToken{ID: claims.ID, ExpiresAt: claims.Expires})
	fails(t, h.do("GET", "/groups", "", h.admin), 401, "invalid_token")
}

// While the server stands open, a request without a token may do everything,
// one with a bad token nothing, and a page in a browser nothing either, nor what
// may come from another machine.
func TestOpenServer(t *testing.T) {
	open := true
	h := newTestServer(t, func(o *server.Options) { o.Open = func(context.Context) bool { return open } })
	const here = "http://localhost:8090"
	made, _ := h.ok(201, "POST "+here+"/groups", `{"name":"seeded"}`, "Authorization: ")
	fails(t, h.do("GET", here+"/groups", "", "Authorization: Bearer nonsense"), 401, "invalid_token")
	for _, field := range []string{"Origin: " + spaOrigin, "Origin: null", "Sec-Fetch-Site: none", "X-Forwarded-For: 192.0.2.1", "Forwarded: for=192.0.2.1", "Via: 1.1 proxy"} {
		fails(t, h.do("GET", here+"/groups", "", field), 401, "unauthorized")
	}
	fails(t, h.do("GET", here+"/users/me", ""), 403, "forbidden")
	h.ok(200, "GET "+here+"/groups", "", "Origin: "+spaOrigin)
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:80": 200, "127.0.0.1:8090": 200, "127.9.9.9": 200, "[::1]:8090": 200, "evil.example": 401,
		"localhost.evil.example": 401, "192.0.2.1": 401, "127.0.0.1.evil.example:8090": 401,
	} {
		if rec := h.do("GET", "http://"+host+"/groups", ""); rec.Code != want {
			t.Errorf("Host %s: %d, expected %d", host, rec.Code, want)
		}
	}
	events, _ := h.ok(200, "GET "+here+"/audit-events?resource="+made.text("id"), "", "Authorization: ")
	if e := events.list("auditEvents"); len(e) != 1 || e[0].text("actor.type") != "system" || e[0].text("traceId") == "" {
		t.Errorf("%v", events)
	}
	open = false
	fails(t, h.do("GET", here+"/groups", ""), 401, "unauthorized")
}

// The audit log distinguishes a client that acts on its own behalf from a user, and names the
// application through which a user acts.
func TestActors(t *testing.T) {
	h := newTestServer(t)
	machine, err := h.tokens.Access(t.Context(), token.Claims{Subject: "M2M", ClientID: "M2M", Audience: []string{publicURL}, Scope: []string{"system"}})
	if err != nil {
		t.Fatal(err)
	}
	person, err := h.tokens.Access(t.Context(), token.Claims{Subject: ada, ClientID: "SPA", Audience: []string{publicURL, publicURL + "/mcp"}, Scope: []string{"system"}})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for _, client := range []string{"M2M", "SPA"} {
		ids[client] = schemas.NewID()
		app := schemas.Application{ID: ids[client], Name: client, ClientID: client, OUID: h.unit, CreatedAt: h.clock(), UpdatedAt: h.clock()}
		if err := h.db.Update(t.Context(), func(tx *store.Tx) error { return store.Applications().Insert(tx, &app) }); err != nil {
			t.Fatal(err)
		}
	}
	h.allow(ada, []string{"system"})
	h.create("/roles", `{"name":"Machines","permissions":["system"],"assignments":[{"type":"application","id":"`+ids["M2M"]+`"}]}`)
	for name, tt := range map[string]struct {
		header string
		want   schemas.Actor
	}{
		"machine":   {"Authorization: Bearer " + machine, schemas.Actor{Type: schemas.ApplicationActor, ID: ids["M2M"], Client: ids["M2M"]}},
		"person":    {"Authorization: Bearer " + person, schemas.Actor{Type: schemas.UserActor, ID: ada, Client: ids["SPA"]}},
		"assertion": {h.at(ids["SPA"], ada, "system"), schemas.Actor{Type: schemas.UserActor, ID: ada, Client: ids["SPA"]}},
	} {
		id, _ := h.ok(201, "POST /groups", `{"name":"`+name+`"}`, tt.header)
		events, err := h.db.Events(t.Context(), schemas.EventQuery{Limit: 1, ResourceID: id.text("id")})
		if err != nil || len(events) != 1 || events[0].Actor != tt.want || events[0].ApplicationID != tt.want.Client {
			t.Errorf("%s: %+v %v", name, events, err)
		}
	}
	rec := h.do("GET", "/users/me", "", "Authorization: Bearer "+machine)
	fails(t, rec, 403, "forbidden")
	if got := rec.Header().Get("WWW-Authenticate"); got != `Bearer realm="postern", error="insufficient_scope"` {
		t.Errorf("no scope would suffice, but the response names %s", got)
	}
}

// A client that a user has signed in to cannot see to the user's account by that
// alone, where it could add a passkey of its own.
func TestClientsAndAccounts(t *testing.T) {
	h := newTestServer(t)
	app := schemas.Application{ID: schemas.NewID(), Name: "Shop", ClientID: "shop", OUID: h.unit, CreatedAt: h.clock(), UpdatedAt: h.clock()}
	if err := h.db.Update(t.Context(), func(tx *store.Tx) error { return store.Applications().Insert(tx, &app) }); err != nil {
		t.Fatal(err)
	}
	bob := h.user("bob")
	for scope, want := range map[string]int{"openid": 403, "openid accounts": 403, "system:users": 403, "openid account": 200, "system": 200} {
		raw, err := h.tokens.Access(t.Context(), token.Claims{Subject: bob, ClientID: "shop", Audience: []string{publicURL}, Scope: strings.Fields(scope), AuthTime: h.clock()})
		if err != nil {
			t.Fatal(err)
		}
		for _, request := range []struct{ method, path, body string }{
			{"GET", "/users/me", ""}, {"GET", "/users/me/passkeys", ""},
			{"POST", "/register/passkey/start", `{"userId":"` + bob + `"}`},
		} {
			rec := h.do(request.method, request.path, request.body, "Authorization: Bearer "+raw)
			if rec.Code != want {
				t.Errorf("%s %s with %q: %d %s, expected %d", request.method, request.path, scope, rec.Code, rec.Body, want)
			}
			if got := rec.Header().Get("WWW-Authenticate"); want == 403 && got != `Bearer realm="postern", error="insufficient_scope", scope="account"` {
				t.Errorf("%s %s with %q: got the header %s", request.method, request.path, scope, got)
			}
		}
	}
}
