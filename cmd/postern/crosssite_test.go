package main

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// sender is a page that makes the browser of a signed-in user send a request, as header fields.
type sender struct {
	name    string
	headers []string // "Name: value"
}

// foreignSenders are pages of other sites and hosts, in browsers of all ages. The field
// Postern-Session takes a preflight, which is refused; it is sent all the same.
func foreignSenders() (list []sender) {
	for name, headers := range map[string][]string{
		"another site":                 {"Origin: " + evilOrigin, "Sec-Fetch-Site: cross-site"},
		"another site, older browser":  {"Origin: " + evilOrigin},
		"a sandboxed frame":            {"Origin: null", "Sec-Fetch-Site: cross-site"},
		"a sandboxed frame, older":     {"Origin: null"},
		"a link or an image":           {"Sec-Fetch-Site: cross-site"},
		"another host of the site":     {"Origin: https://other.localhost:8090", "Sec-Fetch-Site: same-site"},
		"another port of the host":     {"Origin: https://localhost:9999", "Sec-Fetch-Site: same-site"},
		"the host without TLS":         {"Origin: http://localhost:9999", "Sec-Fetch-Site: cross-site"},
		"our host as the user name":    {"Origin: https://localhost:8090@evil.example", "Sec-Fetch-Site: cross-site"},
		"our host as a part of a name": {"Origin: https://localhost:8090.evil.example", "Sec-Fetch-Site: cross-site"},
	} {
		list = append(list, sender{name, headers}, sender{name + ", with the field of own pages", append(slices.Clone(headers), "Postern-Session: 1")})
	}
	return append(list, sender{"no origin at all", nil})
}

// simpleTypes are the content types that pages of other origins can send without a preflight.
func simpleTypes() []string {
	return []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain; application/json", "application/json;text/plain"}
}

// attackBodies are bodies that would have an effect, by route; {} otherwise.
func attackBodies() map[string]string {
	const form = "token=x&id_token_hint=x"
	return map[string]string{
		"PATCH /users/me/profile":      `{"given_name":"Mallory"}`,
		"PUT /users/me/password":       `{"password":"grey lantern harbour","currentPassword":"` + rpPassword + `"}`,
		"POST /flow/execute":           `{"applicationId":"` + bootstrap.TryID + `","flowType":"AUTHENTICATION"}`,
		"POST /groups":                 `{"name":"Made by another site"}`,
		"POST /users":                  `{"type":"Person","attributes":{"username":"mallory"}}`,
		"POST /oauth2/logout":          "confirm=yes",
		"POST /oidc/logout":            "confirm=yes",
		"POST /oauth2/revoke":          form,
		"POST /auth/passkey/start":     `{"relyingPartyId":"localhost"}`,
		"POST /oauth2/dcr/register":    `{"redirect_uris":["https://evil.example/back"]}`,
		"POST /oauth2/token":           "grant_type=client_credentials",
		"POST /oauth2/introspect":      form,
		"POST /revoke-tokens":          `{}`,
		"POST /signing-keys/rotate":    `{}`,
		"DELETE /users/me":             `{}`,
		"POST /account/lock":           `{"token":"x"}`,
		"POST /oauth2/auth/callback":   `{"authId":"x","assertion":"x"}`,
		"POST /register/passkey/start": `{"relyingPartyId":"localhost"}`,
	}
}

// signedInBrowser returns the cookies of a browser in which pat has just signed in to the console.
func (w *testApp) signedInBrowser(t testing.TB) []*http.Cookie {
	t.Helper()
	c := crossSite{testApp: w}
	step := func(body map[string]any) (s schemas.Step) {
		text := datatest.Marshal(t, body)
		rec := c.send("POST", "/flow/execute", "application/json", string(text), []string{"Origin: " + w.origin, "Postern-Session: 1"})
		if err := json.Unmarshal(rec.Body.Bytes(), &s); err != nil || rec.Code != http.StatusOK {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		c.cookies = append(c.cookies, rec.Result().Cookies()...)
		return s
	}
	id := step(map[string]any{"applicationId": bootstrap.ConsoleID, "flowType": "AUTHENTICATION"}).ExecutionID
	step(map[string]any{"executionId": id, "action": "password"})
	step(map[string]any{"executionId": id, "action": "continue", "inputs": map[string]string{"username": "pat", "password": rpPassword}})
	cookies := c.cookies
	if !slices.ContainsFunc(cookies, func(c *http.Cookie) bool { return c.Name == oauth.Cookie(w.origin, "postern-session", "").Name }) {
		t.Fatalf("the browser has no session: %v", cookies)
	}
	return cookies
}

// crossSite is a server and the cookies of a user's browser.
type crossSite struct {
	*testApp
	cookies []*http.Cookie
}

func (c crossSite) send(method, target, contentType, body string, headers []string) *httptest.ResponseRecorder {
	r := newRequest(method, c.origin+target, body, append(slices.Clone(headers), "Content-Type: "+contentType)...)
	for _, cookie := range c.cookies {
		r.AddCookie(cookie)
	}
	return c.reply(r)
}

// Pages of other sites cannot change anything with the cookies of a browser: for every route, every
// sender and every content type that needs no preflight. An authorization request starts a run,
// which only the user can complete.
func TestCrossSiteRequestsChangeNothing(t *testing.T) {
	sequential(t)
	w := createUsers(t)
	c := crossSite{w, w.signedInBrowser(t)}
	pat := w.userNamed("pat")
	routes := readRoutes(t)
	targets := w.attackTargets(t, routes, pat, w.liveSessions(pat)[0].ID)
	for _, own := range [][]string{{"Sec-Fetch-Site: same-origin"}, {"Origin: " + w.origin}} {
		if rec := c.send("PATCH", "/users/me/profile", "application/json", `{"nickname":"Patty"}`, append(own, "Postern-Session: 1")); rec.Code != http.StatusOK {
			t.Fatalf("the server's own page, %v: %d %s", own, rec.Code, rec.Body)
		}
	}
	watch := w.watchStore(t, bookkeeping()...)
	sent := 0
	for _, r := range routes {
		body := cmp.Or(attackBodies()[r.String()], "{}")
		for _, from := range foreignSenders() {
			for _, contentType := range simpleTypes() {
				rec := c.send(r.method, targets.at(r), contentType, body, from.headers)
				sent++
				if changed := watch.changes(); len(changed) > 0 {
					t.Errorf("%s from %s as %q: %d, and changed %v", r, from.name, contentType, rec.Code, changed)
				}
				if h := rec.Header(); h.Get("Access-Control-Allow-Credentials") != "" {
					t.Errorf("%s from %s: the page may read the reply: %v", r, from.name, h)
				}
				if r.needs != "nothing" && r.needs != "client authentication" && rec.Code < 400 {
					t.Errorf("%s from %s: %d", r, from.name, rec.Code)
				}
			}
		}
	}
	if users := w.liveSessions(pat); len(users) == 0 {
		t.Error("the user was signed out")
	}
	t.Logf("%d requests: %d routes, %d senders, %d content types", sent, len(routes), len(foreignSenders()), len(simpleTypes()))
}

// An authorization request from another site starts a run at most; a logout asks the user.
func TestCrossSiteSignInAndOut(t *testing.T) {
	p := newParties(t, "query")(t)
	c := crossSite{p.testApp, p.signedInBrowser(t)}
	watch := p.watchStore(t, append(bookkeeping(), "runs", "auth_requests")...)
	request := p.request("prompt", "login").Encode()
	for _, from := range foreignSenders() {
		for _, tt := range []struct{ method, path, body string }{
			{"GET", "/oauth2/authorize?" + request, ""}, {"POST", "/oauth2/authorize", request},
			{"GET", "/oauth2/logout", ""}, {"POST", "/oauth2/logout", ""}, {"GET", "/oauth2/logout?confirm=yes", ""},
			{"POST", "/oauth2/logout", "confirm=yes"}, {"POST", "/oidc/logout", "confirm=yes"}, {"GET", "/oidc/logout?client_id=" + p.id, ""},
		} {
			rec := c.send(tt.method, tt.path, "application/x-www-form-urlencoded", tt.body, from.headers)
			if changed := watch.changes(); len(changed) > 0 || strings.Contains(rec.Header().Get("Location"), "code=") {
				t.Errorf("%s %s from %s: %d %v, and changed %v", tt.method, tt.path, from.name, rec.Code, rec.Header(), changed)
			}
		}
	}
	if len(p.liveSessions(p.userNamed("pat"))) == 0 {
		t.Error("the user was signed out")
	}
}

// No preflight of another origin is answered with permission to send credentials or the field
// Postern-Session.
func TestPreflightsOfOtherOrigins(t *testing.T) {
	w := createUsers(t)
	for _, r := range readRoutes(t) {
		for _, origin := range []string{evilOrigin, "null", "https://localhost:9999"} {
			in := httptest.NewRequest(http.MethodOptions, attackTargets{}.at(r), nil)
			for name, value := range map[string]string{"Origin": origin, "Access-Control-Request-Method": r.method, "Access-Control-Request-Headers": "content-type,postern-session"} {
				in.Header.Set(name, value)
			}
			rec := w.reply(in)
			h := rec.Header()
			if h.Get("Access-Control-Allow-Credentials") != "" || strings.Contains(strings.ToLower(h.Get("Access-Control-Allow-Headers")), "postern-session") ||
				h.Get("Access-Control-Allow-Origin") == origin {
				t.Errorf("%s from %s: %d %v", r, origin, rec.Code, h)
			}
		}
	}
}

// framedPages are the requests for all pages and all replies of routes.
func (w *testApp) framedPages(t testing.TB) []string {
	t.Helper()
	list := []string{"GET /gate/signin", "GET /gate/preview", "GET /gate/account", "GET /gate/error?error=x", "GET /gate/lock", "GET /gate/invitation", "GET /gate/nothing",
		"GET /console/flows", "GET /nowhere", "GET //double", "POST /gate/signin"}
	for key := range w.pages {
		list = append(list, "GET "+key)
	}
	for _, r := range readRoutes(t) {
		path := attackTargets{}.at(r)
		list = append(list, r.method+" "+path, "PROPFIND "+path, "OPTIONS "+path)
	}
	return list
}

// Every reply forbids framing, sniffing and referrers; every HTML page forbids inline scripts,
// eval, and the base of another site.
func TestNoReplyCanBeFramed(t *testing.T) {
	p := newParties(t, "form_post")(t)
	pages := 0
	check := func(request string, status int, h http.Header) {
		policy := h.Get("Content-Security-Policy")
		isRedirect := status >= 300 && status < 400
		allowed := map[bool]string{true: "'self'", false: "'none'"}[request == "GET /gate/preview"] // the console frames the preview
		if !isRedirect && !strings.Contains(policy, "frame-ancestors "+allowed) {
			t.Errorf("%s: %d can be framed: %q", request, status, policy)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s: %d has the header %v", request, status, h)
		}
		if !strings.HasPrefix(h.Get("Content-Type"), "text/html") {
			return
		}
		pages++
		for _, directive := range strings.Split(policy, ";") {
			name, sources, _ := strings.Cut(strings.TrimSpace(directive), " ")
			if (name == "script-src" || name == "default-src") && (strings.Contains(sources, "unsafe-inline") || strings.Contains(sources, "unsafe-eval'") && !strings.Contains(sources, "wasm-unsafe-eval") || strings.Contains(sources, "*")) {
				t.Errorf("%s: the policy %q", request, directive)
			}
		}
		if !strings.Contains(policy, "base-uri 'none'") && !strings.Contains(policy, "base-uri 'self'") && !strings.Contains(policy, "default-src 'none'; frame-ancestors 'none'") {
			t.Errorf("%s: a page without base-uri: %q", request, policy)
		}
	}
	for _, request := range p.framedPages(t) {
		method, path, _ := strings.Cut(request, " ")
		rec := p.testApp.exchange(method, path, "")
		check(request, rec.Code, rec.Header())
	}
	reply, _ := p.visit(p.at("/oauth2/authorize?" + p.request("prompt", "none").Encode()))
	check("the page of form_post", reply.StatusCode, reply.Header)
	reply, _ = p.visit(p.at("/oauth2/authorize?" + p.request("redirect_uri", "https://evil.example/").Encode()))
	check("the error page", reply.StatusCode, reply.Header)
	if pages < 8 {
		t.Errorf("only %d pages were checked", pages)
	}
	t.Logf("%d pages", pages)
}
