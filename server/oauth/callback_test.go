package oauth_test

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// TestCallbackIsBoundToTheBrowser: who only knows the authId gets nothing, and
// takes nothing away.
func TestCallbackIsBoundToTheBrowser(t *testing.T) {
	a, own := newSignIns(t), browser{}
	a.authorize(own, ask())
	id := a.begun.ID
	rec, err := a.callback(own, id)
	if err != nil || !strings.HasPrefix(rec.Header().Get("Location"), gateURL+"/error?error=invalid_request&") {
		t.Errorf("before the sign-in: %v, %v", rec.Header(), err)
	}
	a.grantRequest(a.begun, "")
	other := browser{}
	a.authorize(other, ask())
	for name, b := range map[string]browser{"none": {}, "another": other, "two": {"__Host-postern-browser": "x", "postern-browser": own["__Host-postern-browser"]}} {
		rec, err := a.callback(b, id)
		if err != nil || !strings.HasPrefix(rec.Header().Get("Location"), gateURL+"/error?error=lost&") || rec.Header().Get("Set-Cookie") != "" {
			t.Errorf("the cookie of %s browser: %v, %v", name, rec.Header(), err)
		}
	}
	rec, err = a.callback(own, id)
	a.must(err)
	q := location(t, rec).Query()
	if q.Get("code") == "" || q.Get("state") != "st&te" || q.Get("iss") != base || q.Get("keep") != "1" || own["__Host-postern-session"] == "" {
		t.Errorf("got %v", rec.Header())
	}
	rec, err = a.callback(own, id)
	if err != nil || !strings.HasPrefix(rec.Header().Get("Location"), gateURL+"/error?") {
		t.Errorf("a second code: %v, %v", rec.Header(), err)
	}
	for _, id := range []string{"", "unknown", "a%00"} {
		rec, err := a.callback(own, id)
		if err != nil || !strings.HasPrefix(rec.Header().Get("Location"), gateURL+"/error?") {
			t.Errorf("%q: %v, %v", id, rec.Header(), err)
		}
	}
}

func TestExpiredRequest(t *testing.T) {
	a, b := newSignIns(t), browser{}
	a.authorize(b, ask())
	a.grantRequest(a.begun, "")
	a.now = a.now.Add(30 * time.Minute)
	rec, err := a.callback(b, a.begun.ID)
	if err != nil || !strings.HasPrefix(rec.Header().Get("Location"), gateURL+"/error?") {
		t.Errorf("%v, %v", rec.Header(), err)
	}
}

func TestFormPost(t *testing.T) {
	a, b := newSignIns(t), browser{}
	a.authorize(b, ask("response_mode", "form_post", "state", `"><script>alert(1)</script>`))
	a.grantRequest(a.begun, "")
	rec, err := a.callback(b, a.begun.ID)
	a.must(err)
	page := rec.Body.String()
	for _, want := range []string{`action="https://app.example.com/callback?keep=1"`, `name="code"`, `name="iss" value="` + base + `"`, `&lt;script&gt;alert(1)`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s: %s", want, page)
		}
	}
	if csp := rec.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "script-src 'sha256-") || strings.Contains(csp, "unsafe") {
		t.Errorf("the page has the policy %s", csp)
	}
	rec, err = b.do(t, a.provider.Authorize, httptest.NewRequest("GET", "/oauth2/authorize?"+ask("response_mode", "form_post", "prompt", "x").Encode(), nil))
	if err != nil || !strings.Contains(rec.Body.String(), `value="invalid_request"`) {
		t.Errorf("an error: %d %s, %v", rec.Code, rec.Body, err)
	}
}

// TestLoginRulesHold: whatever the flow did, a client gets no code for less than it
// asked for.
func TestLoginRulesHold(t *testing.T) {
	a := newSignIns(t)
	for _, change := range [][]string{{"prompt", "login"}, {"prompt", "select_account"}, {"max_age", "0"}} {
		b := browser{}
		a.authorize(b, ask(change...))
		now := a.now
		a.now = now.Add(-time.Minute)
		a.grantRequest(a.begun, "")
		a.now = now
		rec, err := a.callback(b, a.begun.ID)
		a.must(err)
		if q := location(t, rec).Query(); q.Get("error") != "login_required" || q.Has("code") || b["__Host-postern-session"] != "" {
			t.Errorf("%v: %v", change, rec.Header())
		}
		a.wantUnbound()
	}
}

// wantUnbound checks that no browser has the session of the last grant.
func (a *signIns) wantUnbound() {
	a.t.Helper()
	req, err := a.store.AuthRequest(a.t.Context(), a.begun.ID)
	a.must(err)
	bound, err := a.store.BindSession(a.t.Context(), schemas.SessionToken{SessionID: req.Grant.SessionID, Hash: []byte(req.ID)})
	if err != nil || !bound {
		a.t.Errorf("the session has a token that no browser received (%v)", err)
	}
}

// A redirect URI that is removed during a sign-in gets no answer, and the browser no session.
func TestRemovedRedirectURI(t *testing.T) {
	a, b := newSignIns(t), browser{}
	a.authorize(b, ask())
	a.grantRequest(a.begun, "")
	a.clients.list["app"].OAuth().RedirectURIs = []string{"https://app.example.com/elsewhere"}
	rec, err := a.callback(b, a.begun.ID)
	a.must(err)
	if to := rec.Header().Get("Location"); !strings.HasPrefix(to, gateURL+"/error?error=invalid_request&") || b["__Host-postern-session"] != "" {
		t.Errorf("%v", rec.Header())
	}
	a.wantUnbound()
}

func (a *signIns) post(b browser, id, assertion string) (string, error) {
	a.t.Helper()
	body, _ := json.Marshal(map[string]string{"authId": id, "assertion": assertion})
	r := httptest.NewRequest("POST", "/oauth2/auth/callback", strings.NewReader(string(body)))
	r.Header.Set("Content-Type", "application/json")
	rec, err := b.do(a.t, a.provider.CallbackBy, r)
	if err != nil {
		return "", err
	}
	var reported map[string]string
	a.must(json.Unmarshal(rec.Body.Bytes(), &reported))
	return reported["redirect_uri"], nil
}

// assertion is that of a sign-in of ann to an application, for no authorization request.
func (a *signIns) assertion(app string) string {
	a.t.Helper()
	return a.assertionFor(app, "")
}

// assertionFor is that of a run that began for an authorization request.
func (a *signIns) assertionFor(app, requestID string) string {
	a.t.Helper()
	s := schemas.Assertion{Subject: a.user.ID, Audience: []string{app, base}, AuthTime: a.now, Validity: time.Hour, AuthRequest: requestID}
	session := s.StartSession(app, "", a.now)
	a.must(a.store.Apply(a.t.Context(), []schemas.Change{schemas.StartSession{Session: session}}))
	raw, err := a.tokens.Assert(a.t.Context(), s)
	a.must(err)
	return raw
}

func TestCallbackByAssertion(t *testing.T) {
	a, b := newSignIns(t), browser{}
	a.authorize(b, ask())
	another := a.begun.ID
	a.authorize(b, ask())
	id := a.begun.ID
	for name, assertion := range map[string]string{"none": "", "of another application": a.assertionFor("app-conf", id), "garbage": "a.b.c",
		"of a run of its own": a.assertion("app-app"), "of another request of this browser": a.assertionFor("app-app", another)} {
		_, err := a.post(b, id, assertion)
		t.Log(name)
		wantRefused(t, err, "invalid_token")
	}
	_, err := a.post(browser{}, id, a.assertionFor("app-app", id))
	wantRefused(t, err, "access_denied")
	to, err := a.post(b, id, a.assertionFor("app-app", id))
	a.must(err)
	u, err := url.Parse(to)
	a.must(err)
	if !strings.HasPrefix(to, callback+"&") || u.Query().Get("iss") != base {
		t.Fatalf("leads to %s", to)
	}
	r, err := a.redeem(u.Query().Get("code"))
	a.must(err)
	if _, c := claims(t, r.IDToken); c["sub"] != a.user.ID {
		t.Errorf("got %v", c)
	}
	a.now = a.now.Truncate(time.Second).Add(999 * time.Millisecond)
	a.authorize(b, ask("prompt", "login", "max_age", "0"))
	if to, err = a.post(b, a.begun.ID, a.assertionFor("app-app", a.begun.ID)); err != nil || !strings.Contains(to, "code=") {
		t.Errorf("signed in again: %s, %v", to, err)
	}
	a.authorize(b, ask("response_mode", "form_post"))
	to, err = a.post(b, a.begun.ID, a.assertionFor("app-app", a.begun.ID))
	if err != nil || to != base+"/oauth2/auth/callback?authId="+a.begun.ID {
		t.Errorf("form_post: %s, %v", to, err)
	}
	r2 := httptest.NewRequest(http.MethodPost, "/oauth2/auth/callback", strings.NewReader("{}"))
	r2.Header.Set("Content-Type", "text/plain")
	_, err = b.do(t, a.provider.CallbackBy, r2)
	wantRefused(t, err, "invalid_request")
}

// An assertion answers the request that its run began for once, on either database, also
// if it is sent many times at once.
func TestAssertionAnswersItsRequestOnce(t *testing.T) {
	for _, driver := range []string{"sqlite", "postgres"} {
		t.Run(driver, func(t *testing.T) {
			config := store.Config{Driver: driver, DSN: ":memory:"}
			if driver == "postgres" {
				config.DSN = storetest.Postgres(t)
			}
			a, b := newSignInsOn(t, config), browser{}
			for range 20 {
				a.authorize(b, ask())
				id := a.begun.ID
				assertion := a.assertionFor("app-app", id)
				var codes, refused atomic.Int32
				var all sync.WaitGroup
				for range 6 {
					all.Go(func() {
						to, err := a.post(maps.Clone(b), id, assertion)
						reported, _ := errors.AsType[*oauth.Error](err)
						switch {
						case strings.Contains(to, "code="):
							codes.Add(1)
						case reported != nil && reported.Code == "invalid_request":
							refused.Add(1)
						default:
							t.Errorf("answered %q, %v", to, err)
						}
					})
				}
				all.Wait()
				if codes.Load() != 1 || refused.Load() != 5 {
					t.Fatalf("%d got a code, %d were refused", codes.Load(), refused.Load())
				}
				_, err := a.post(b, id, assertion)
				wantRefused(t, err, "invalid_request")
			}
		})
	}
}

// A request that its run has granted is answered by the assertion of that run alone.
func TestGrantedRequestIsAnsweredByItsOwnRun(t *testing.T) {
	a, b := newSignIns(t), browser{}
	a.authorize(b, ask())
	a.grantRequest(a.begun, "")
	id := a.begun.ID
	_, err := a.post(b, id, a.assertion("app-app"))
	wantRefused(t, err, "invalid_token")
	_, err = a.post(b, id, a.assertionFor("app-app", id)) // of a second run for the request
	wantRefused(t, err, "invalid_request")
	req, err := a.store.AuthRequest(t.Context(), id)
	a.must(err)
	own, err := a.tokens.Assert(t.Context(), schemas.Assertion{Subject: a.user.ID, Audience: []string{"app-app", base}, AuthTime: a.now, AuthRequest: id, Session: req.Grant.SessionID})
	a.must(err)
	if to, err := a.post(b, id, own); err != nil || !strings.Contains(to, "code=") {
		t.Errorf("%q, %v", to, err)
	}
}

// The assertion of one application does not sign its holder in to all others.
func TestAssertionsNeedABrowser(t *testing.T) {
	for _, mode := range []string{"query", "form_post"} {
		a, b := newSignIns(t), browser{}
		a.authorize(b, ask("response_mode", mode))
		to, err := a.post(b, a.begun.ID, a.assertionFor("app-app", a.begun.ID))
		a.must(err)
		if mode == "form_post" {
			rec, err := a.callback(b, a.begun.ID)
			a.must(err)
			to = rec.Body.String()
		}
		if !strings.Contains(to, "code") || a.signedIn(b) {
			t.Errorf("%s: %q, and the browser has %v", mode, to, b)
		}
		if to := a.authorize(b, ask("client_id", "conf", "prompt", "none")); to.Query().Get("error") != "login_required" {
			t.Errorf("%s: another application is answered %s", mode, to)
		}
	}
}

// TestHeldOneCallbackOfSix has a browser come back six times at once: one gets a code.
func TestHeldOneCallbackOfSix(t *testing.T) {
	a, own := newSignIns(t), browser{}
	for range 20 {
		a.authorize(own, ask())
		a.grantRequest(a.begun, "")
		id := a.begun.ID
		var codes atomic.Int32
		var all sync.WaitGroup
		for range 6 {
			b := maps.Clone(own)
			all.Go(func() {
				if rec, err := a.callback(b, id); err != nil {
					t.Error(err)
				} else if strings.Contains(rec.Header().Get("Location"), "code=") {
					codes.Add(1)
				}
			})
		}
		all.Wait()
		if codes.Load() != 1 {
			t.Fatalf("%d codes were issued for one sign-in", codes.Load())
		}
	}
}
