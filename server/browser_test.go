package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
	"github.com/postern-id/postern/server/oauth"
)

const accountPageApp = "01900000-0000-7000-8000-000000000001"

// newAccountServer returns a server with the application of the account page.
func newAccountServer(t *testing.T) *testServer {
	t.Helper()
	h := newTestServer(t, func(o *server.Options) { o.AccountApplication = accountPageApp })
	h.create("/applications", `{"id":"`+accountPageApp+`","name":"Account page","inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["https://id.example.com/back"],"scopes":["openid","account"]}}]}`)
	return h
}

// signInBrowser starts a session and returns the header with its cookie.
func (h *testServer) signInBrowser(application, user, acr string, methods ...string) (cookie, id string) {
	h.t.Helper()
	session := schemas.Session{ID: schemas.NewID(), UserID: user, ApplicationID: application, ACR: acr, AMR: methods, CreatedAt: h.clock(), ExpiresAt: h.clock().Add(time.Hour)}
	h.apply(schemas.StartSession{Session: session})
	value := schemas.NewSecret()
	if bound, err := h.db.BindSession(h.t.Context(), schemas.SessionToken{SessionID: session.ID, Hash: schemas.HashSecret(value), Browser: "browser"}); err != nil || !bound {
		h.t.Fatal(bound, err)
	}
	return "Cookie: " + oauth.Cookie(h.base, "postern-session", value).String(), session.ID
}

// The cookie of a session is worth something only in requests of the server's own pages.
func TestBrowserSessionIsForOwnPages(t *testing.T) {
	h := newAccountServer(t)
	carl, dora := h.user("carl"), h.user("dora")
	cookie, _ := h.signInBrowser(accountPageApp, carl, schemas.ACRMultiFactorPR, "pop", "user")
	absent := "Cookie: " + oauth.Cookie(h.base, "postern-session", schemas.NewSecret()).String()
	const field, same = "Postern-Session: 1", "Sec-Fetch-Site: same-origin"
	ending := "DELETE /users/me/sessions/" + schemas.NewID()
	for name, test := range map[string]struct {
		request string
		headers []string
		status  int
		code    string
	}{
		"an own page":                        {"GET /users/me", []string{cookie, field, same}, 200, ""},
		"an own page for its user":           {"GET /users/me", []string{cookie, "Postern-Session: " + carl, same}, 200, ""},
		"an own page for the former user":    {"GET /users/me", []string{cookie, "Postern-Session: " + dora, same}, 409, "other_user"},
		"an older browser":                   {ending, []string{cookie, field, "Origin: " + h.base}, 404, "session_not_found"},
		"an older browser that reads":        {"GET /users/me", []string{cookie, field}, 200, ""},
		"a proxy that changes the host":      {ending, []string{cookie, field, "Origin: http://example.com"}, 404, "session_not_found"},
		"no header field":                    {"GET /users/me", []string{cookie, same}, 401, "unauthorized"},
		"another site":                       {"GET /users/me", []string{cookie, field, "Sec-Fetch-Site: cross-site"}, 401, "unauthorized"},
		"another host of the site":           {"GET /users/me", []string{cookie, field, "Sec-Fetch-Site: same-site"}, 401, "unauthorized"},
		"an allowed origin":                  {ending, []string{cookie, field, "Origin: " + spaOrigin}, 401, "unauthorized"},
		"an allowed origin that claims more": {ending, []string{cookie, field, "Origin: " + spaOrigin, "Sec-Fetch-Site: cross-site"}, 401, "unauthorized"},
		"a change without an origin":         {ending, []string{cookie, field}, 401, "unauthorized"},
		"a sandboxed frame":                  {ending, []string{cookie, field, "Origin: null"}, 401, "unauthorized"},
		"no cookie":                          {"GET /users/me", []string{field, same}, 401, "no_session"},
		"an unknown cookie":                  {"GET /users/me", []string{absent, field, same}, 401, "no_session"},
		"the API of administrators":          {"GET /users", []string{cookie, field, same}, 401, "unauthorized"},
		"another user's account":             {"GET /users/" + dora + "/passkeys", []string{cookie, field, same}, 401, "unauthorized"},
	} {
		rec := h.request(test.request, "", test.headers...)
		if test.code == "" && rec.Code != test.status {
			t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
		} else if test.code != "" {
			fails(t, rec, test.status, test.code)
		}
	}
	h.pass(time.Hour / 2)
	list, _ := h.ok(200, "GET /users/"+carl+"/sessions", "")
	begun := list.list("sessions")[0].text("lastSeenAt")
	h.ok(200, "GET /users/me", "", cookie, field, same)
	list, _ = h.ok(200, "GET /users/"+carl+"/sessions", "")
	if s := list.list("sessions")[0]; s.text("browser") != "browser" || s.text("lastSeenAt") <= begun {
		t.Errorf("%v was last seen at %s before", s, begun)
	}
	rec := h.do("OPTIONS", "/users/me/sessions", "", "Origin: "+spaOrigin, "Access-Control-Request-Method: DELETE", "Access-Control-Request-Headers: postern-session")
	if allowed := rec.Header().Get("Access-Control-Allow-Headers"); strings.Contains(strings.ToLower(allowed), "postern-session") {
		t.Errorf("pages of other origins may send the field: %s", allowed)
	}
}

// What a session can be used for depends on the application and the class of its sign-in, and on
// its age.
func TestBrowserSessionAndProof(t *testing.T) {
	h := newAccountServer(t)
	shop := h.create("/applications", `{"name":"Shop"}`)
	const any, stale = "", "insufficient_user_authentication"
	for name, test := range map[string]struct {
		application, acr string
		age              time.Duration
		see, change      string // error codes
	}{
		"just signed in":               {accountPageApp, schemas.ACRMultiFactorPR, 0, any, any},
		"signed in a while ago":        {accountPageApp, schemas.ACRMultiFactorPR, 6 * time.Minute, any, stale},
		"at another application":       {shop, schemas.ACRMultiFactorPR, 0, any, stale},
		"with less than the flow asks": {shop, schemas.ACRVouched, 0, "weak_session", "weak_session"},
		"at a deleted application":     {schemas.NewID(), schemas.ACRMultiFactorPR, 0, any, stale},
	} {
		user := h.user("user-" + schemas.NewID())
		h.enrol(user)
		cookie, _ := h.signInBrowser(test.application, user, test.acr, "pop", "user")
		h.pass(test.age)
		for request, code := range map[string]string{
			"GET /users/me": test.see, "GET /users/me/passkeys": test.see, "GET /users/me/sessions": test.see, "DELETE /users/me/sessions": test.see,
			"GET /users/me/export": test.change,
		} {
			rec := h.request(request, "", cookie, "Postern-Session: "+user, "Sec-Fetch-Site: same-origin")
			if code == "" && rec.Code != http.StatusOK {
				t.Errorf("%s: %s: %d %s", name, request, rec.Code, rec.Body)
			} else if code != "" {
				fails(t, rec, 401, code)
			}
		}
		rec := h.do("POST", "/register/passkey/start", `{"userId":"`+user+`"}`, cookie, "Postern-Session: "+user, "Origin: "+h.base)
		if test.change == "" && rec.Code != http.StatusOK {
			t.Errorf("%s: adding a passkey: %d %s", name, rec.Code, rec.Body)
		} else if test.change != "" {
			fails(t, rec, 401, test.change)
		}
		h.pass(-test.age)
		// A session that ended elsewhere ends the page.
		h.ok(200, "DELETE /users/"+user+"/sessions", "")
		fails(t, h.do("GET", "/users/me", "", cookie, "Postern-Session: "+user, "Sec-Fetch-Site: same-origin"), 401, "no_session")
	}
}

// A browser has several sessions of a user after another sign-in: ending one ends all, for the user and for
// administrators, and "everywhere else" means other browsers. Offline tokens are listed, and end by themselves.
func TestEndingASessionEndsThoseOfItsBrowser(t *testing.T) {
	onBothStores(t, endingSessions)
}

func endingSessions(t *testing.T, h *testServer) {
	shop := h.create("/applications", `{"name":"Shop","inboundAuthConfig":[{"type":"oauth2","config":{"clientId":"shop","redirectUris":["https://shop.example/back"],"scopes":["openid","offline_access"],"grantTypes":["authorization_code","refresh_token"]}}]}`)
	for name, test := range map[string]struct {
		request string
		left    string // of old, current, elsewhere, offline and other
	}{
		"the user's own":            {"DELETE /users/me/sessions/{current}", "elsewhere offline other"},
		"an earlier one":            {"DELETE /users/me/sessions/{old}", "elsewhere offline other"},
		"another browser's":         {"DELETE /users/me/sessions/{elsewhere}", "current offline old other"},
		"offline tokens":            {"DELETE /users/me/sessions/{offline}", "current elsewhere old other"},
		"everywhere else":           {"DELETE /users/me/sessions", "current offline old"},
		"one, by an administrator":  {"DELETE /users/{user}/sessions/{old}", "elsewhere offline other"},
		"all, by an administrator":  {"DELETE /users/{user}/sessions", ""},
		"after the user was locked": {"PATCH /users/{user}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			user := h.user("user-" + schemas.NewID())
			ids := map[string]string{}
			bind := func(name, browser string) (token string) {
				session := schemas.Session{ID: schemas.NewID(), UserID: user, ACR: schemas.ACRPassword, AMR: []string{"pwd"}, CreatedAt: h.clock(), ExpiresAt: h.clock().Add(time.Hour)}
				h.apply(schemas.StartSession{Session: session})
				ids[name] = session.ID
				if browser != "" {
					if bound, err := h.db.BindSession(t.Context(), schemas.SessionToken{SessionID: session.ID, Hash: []byte(session.ID), Browser: browser}); err != nil || !bound {
						t.Fatal(bound, err)
					}
				}
				return h.assertionHeader(schemas.Assertion{Subject: user, Audience: []string{h.accountApp(), h.base}, Session: session.ID,
					AuthTime: h.clock(), AMR: session.AMR, ACR: session.ACR, Generation: h.generation(h.accountApp())})
			}
			bind("old", "blue "+user)
			bind("elsewhere", "red "+user)
			bind("other", "")
			token := bind("current", "blue "+user)
			ids["offline"] = schemas.NewID()
			h.apply(schemas.StartSession{Session: schemas.Session{ID: ids["offline"], UserID: user, ApplicationID: shop, CreatedAt: h.clock(), ExpiresAt: h.clock().Add(time.Hour), OfflineOf: ids["current"]}})
			list, _ := h.ok(200, "GET /users/me/sessions", "", token)
			for _, s := range list.list("sessions") {
				if name := s.text("applicationName"); (name == "Shop") != (s.text("id") == ids["offline"]) {
					t.Errorf("%v", s)
				}
			}
			request := strings.NewReplacer("{user}", user, "{old}", ids["old"], "{current}", ids["current"], "{elsewhere}", ids["elsewhere"], "{offline}", ids["offline"]).Replace(test.request)
			switch {
			case strings.Contains(request, "/me/"):
				if rec := h.request(request, "", token); rec.Code/100 != 2 {
					t.Fatalf("%d %s", rec.Code, rec.Body)
				}
			case strings.HasPrefix(request, "DELETE"):
				if rec := h.request(request, "", h.admin); rec.Code/100 != 2 {
					t.Fatalf("%d %s", rec.Code, rec.Body)
				}
			default:
				h.ok(200, request, `{"status":"disabled"}`)
			}
			var left []string
			for name, id := range ids {
				s, err := h.db.Session(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				if s != nil {
					left = append(left, name)
				}
			}
			slices.Sort(left)
			want := strings.Fields(test.left)
			slices.Sort(want)
			if !slices.Equal(left, want) {
				t.Errorf("left %v, want %v", left, want)
			}
		})
	}
}
