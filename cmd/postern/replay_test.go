package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
)

var replaySize = flag.Int("replay", 400, "the number of requests that TestReplay records and sends again")

// recordedRequest is a request as it was sent.
type recordedRequest struct {
	method, target, host string
	header               http.Header
	body                 []byte
}

// requestRecorder records the requests of a handler.
type requestRecorder struct {
	http.Handler
	list []recordedRequest
}

func (rec *requestRecorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // in memory
	rec.list = append(rec.list, recordedRequest{r.Method, r.URL.RequestURI(), r.Host, r.Header.Clone(), body})
	r.Body = io.NopCloser(bytes.NewReader(body))
	rec.Handler.ServeHTTP(w, r)
}

// replay sends a recorded request; cookies, if not nil, replace its cookies.
func (r recordedRequest) replay(h http.Handler, cookies []*http.Cookie) *httptest.ResponseRecorder {
	in := httptest.NewRequest(r.method, r.target, bytes.NewReader(r.body))
	in.Host, in.Header = r.host, r.header.Clone()
	if cookies != nil {
		in.Header.Del("Cookie")
		for _, c := range cookies {
			in.AddCookie(c)
		}
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, in)
	return rec
}

// signInAndOut is a complete sign-in to a client: the authorization requests, the steps of the flow,
// the codes, their tokens, their use, the sign-out, and the revocation of the tokens that stay after it.
func (w *testApp) signInAndOut(client *party) {
	p := client.newTokens()
	redeem := func(change ...string) *tokens {
		got, status := p.redeem(p.code(p.ask(change...)))
		if status != http.StatusOK {
			w.t.Fatalf("%d %+v", status, got)
		}
		p.userinfo(got.Access)
		return got
	}
	online := redeem("prompt", "login")
	offline := redeem("scope", "openid offline_access", "prompt", "login")
	again, status := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {offline.Refresh}})
	if status != http.StatusOK {
		w.t.Fatalf("%d %+v", status, again)
	}
	p.visit(p.at("/oauth2/logout?" + url.Values{"id_token_hint": {offline.ID}}.Encode()))
	if ended, stays := w.get("/oauth2/userinfo", online.Access), w.get("/oauth2/userinfo", again.Access); ended != http.StatusUnauthorized || stays != http.StatusOK {
		w.t.Fatalf("after the sign-out, userinfo has the status %d, and %d with offline_access", ended, stays)
	}
	p.submit(p.at("/oauth2/revoke"), url.Values{"token": {again.Refresh}, "client_id": {p.id}, "client_secret": {p.secret}})
	if status := w.get("/oauth2/userinfo", again.Access); status != http.StatusUnauthorized {
		w.t.Fatalf("the revocation ended no session: userinfo has the status %d", status)
	}
}

// signUpAndChange signs a user up with a passkey, signs in with it by the endpoints of ceremonies and
// in a flow, changes the account, and ends all sessions.
func (w *testApp) signUpAndChange(name, application string) {
	w.device = passkeytest.New(passkeytest.NoCounter())
	w.enrol(name)
	ceremony := w.finishPasskey(w.startPasskey())
	assertion := w.authenticate(w.signInTo(application)).Assertion
	if rec := w.call("PATCH", "/users/me/profile", assertion, `{"nickname":"`+name+`"}`); rec.Code != http.StatusOK {
		w.t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	w.addPasskey(assertion)
	own, _ := payloadOf(w.t, assertion)["sid"].(string)
	for _, path := range []string{"/users/me/sessions", "/users/me/sessions/" + own} {
		if rec := w.call("DELETE", path, assertion, ""); rec.Code >= 300 {
			w.t.Fatalf("%s: %d %s", path, rec.Code, rec.Body)
		}
	}
	for _, ended := range []string{ceremony, assertion} {
		if status := w.get("/users/me", ended); status != http.StatusUnauthorized {
			w.t.Fatalf("a session did not end: %d", status)
		}
	}
}

// accountApplication is an application that manages accounts, with the sign-in of another one.
func (w *testApp) accountApplication(other string) (id string) {
	w.t.Helper()
	of, err := w.store.Application(w.t.Context(), other)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.create(w.directory.Applications, fmt.Sprintf(`{"name":"Account of %s","authFlowId":%q,"inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":[%q],"scopes":["openid","account"]}}]}`, other, of.AuthFlowID, rpRedirect)).ID
}

// addPasskey registers another passkey by the endpoints of ceremonies.
func (w *testApp) addPasskey(assertion string) {
	user, _ := payloadOf(w.t, assertion)["sub"].(string)
	if rec := w.finishingPasskey(user, assertion).finish(); rec.Code != http.StatusOK {
		w.t.Fatalf("%d %s", rec.Code, rec.Body)
	}
}

// newReplay is a server with at least n recorded requests of complete sign-ins, sign-ups and changes.
func newReplay(t *testing.T, n int) (*testApp, *requestRecorder) {
	t.Helper()
	w := createUsers(t, "POSTERN_MAIL_HOST=127.0.0.1", "POSTERN_MAIL_TLS=none", "POSTERN_MAIL_FROM=Example <no-reply@example.com>")
	handler := w.http
	recorder := &requestRecorder{Handler: handler}
	w.http = recorder
	client := w.configuredClient(t, `"redirectUris":["`+rpRedirect+`"],"scopes":["openid","offline_access"],"grantTypes":["authorization_code","refresh_token"]`)
	application := w.accountApplication(bootstrap.TryID)
	for i := 0; len(recorder.list) < n; i++ {
		w.signInAndOut(client)
		w.signUpAndChange(fmt.Sprintf("user-%d", i), application)
	}
	w.http = handler
	return w, recorder
}

// anotherInstance is a further server on the store.
func (w *testApp) anotherInstance(t *testing.T) http.Handler {
	t.Helper()
	return openForTest(t, w.cfg, slog.New(slog.DiscardHandler)).handler()
}

// eventCounts is how often each action is in the audit log.
func (s *storeWatch) eventCounts() map[string]int {
	s.t.Helper()
	var rows []struct {
		Action string
		N      int
	}
	if err := s.db.Select(&rows, "SELECT action, COUNT(*) AS n FROM events GROUP BY action"); err != nil {
		s.t.Fatal(err)
	}
	counts := map[string]int{}
	for _, row := range rows {
		counts[row.Action] = row.N
	}
	return counts
}

// checkedTogether is the number of replayed requests after which the store is compared, which takes
// longer than a request.
const checkedTogether = 200

// failureEvents are the actions that a replay may record.
func failureEvents() []string {
	return []string{"user.sign_in_failed", "client.refused", "authorization.refused", "token.refused"}
}

// TestReplay sends every request of complete sign-ins, sign-ups and account changes again: to the
// same server, in another order to other instances, with the cookies of another browser, and without
// cookies. No reply contains a token, and nothing is created, changed or mailed; only new runs and
// ceremonies begin.
func TestReplay(t *testing.T) {
	sequential(t)
	w, recorder := newReplay(t, *replaySize)
	live := w.signedInBrowser(t)
	watch := w.watchStore(t, append(bookkeeping(), "runs", "auth_requests", "passkey_sessions", "instance_keys")...)
	before := watch.eventCounts()
	ways := map[string]struct {
		handler http.Handler
		cookies []*http.Cookie
		shuffle bool
	}{
		"the same server":                              {w.http, nil, false},
		"another instance, in another order":           {w.anotherInstance(t), nil, true},
		"a restarted server, without cookies":          {w.anotherInstance(t), []*http.Cookie{}, true},
		"the same server, with cookies of another":     {w.http, live, true},
		"the same server, a third time, from the last": {w.http, nil, true},
	}
	for _, name := range slices.Sorted(maps.Keys(ways)) {
		way := ways[name]
		list := slices.Clone(recorder.list)
		if way.shuffle {
			rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		}
		statuses := map[int]int{}
		for i, r := range list {
			rec := r.replay(way.handler, way.cookies)
			statuses[rec.Code]++
			if (i+1)%checkedTogether == 0 || i+1 == len(list) {
				if changed := watch.changes(); len(changed) > 0 {
					t.Errorf("%s: requests up to %s %.80s, number %d, changed %v", name, r.method, r.target, i, changed)
				}
			}
			for _, secret := range []string{`"access_token":"`, `"assertion":"`, `"refresh_token":"`, `"COMPLETE"`, "code="} {
				if strings.Contains(rec.Body.String()+rec.Header().Get("Location"), secret) {
					t.Errorf("%s: %s %.80s: %d with %s", name, r.method, r.target, rec.Code, secret)
				}
			}
		}
		t.Logf("%s: %d requests, by status %v", name, len(list), statuses)
	}
	for action, n := range watch.eventCounts() {
		if n > before[action] && !slices.Contains(failureEvents(), action) {
			t.Errorf("%d more events %s", n-before[action], action)
		}
	}
}
