package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// Tests of finding 17 of the security audit of November 2026: anonymous requests fill the
// store only up to a bound, and other requests succeed.

// boundedResources is a server that admits a hundred unfinished rows of each kind, and throttles
// nothing else.
func boundedResources(t *testing.T, driver string, environ ...string) *testApp {
	t.Helper()
	environ = append(environ, "POSTERN_DATABASE_DRIVER="+driver, "POSTERN_THROTTLE_ENABLED=true",
		"POSTERN_THROTTLE_UNFINISHED_RUNS=100", "POSTERN_THROTTLE_UNFINISHED_REQUESTS=100", "POSTERN_THROTTLE_UNFINISHED_PASSKEYS=100")
	for _, budget := range []string{"SIGN_INS", "RUN_STARTS", "RUN_STEPS", "PAIR_GUESSES", "FAMILIAR_GUESSES", "NETWORK_GUESSES", "ACCOUNT_GUESSES"} {
		environ = append(environ, "POSTERN_THROTTLE_"+budget+"_BURST=0")
	}
	if driver == "postgres" {
		environ = append(environ, "POSTERN_DATABASE_DSN="+storetest.Postgres(t))
	}
	return newTestApp(t, environ...)
}

// from sends a request from an address.
func (w *testApp) from(remote string, r *http.Request, cookies ...*http.Cookie) *httptest.ResponseRecorder {
	w.t.Helper()
	r.RemoteAddr = remote + ":4711"
	for _, c := range cookies {
		if c != nil {
			r.AddCookie(c)
		}
	}
	rec := w.reply(r)
	if status := rec.Code; (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable) && rec.Header().Get("Retry-After") == "" {
		w.t.Errorf("%s: %d without Retry-After", r.URL.Path, status)
	}
	return rec
}

const runStart = `{"applicationId":"` + bootstrap.TryID + `","flowType":"AUTHENTICATION"}`

// anonymousRequests are the ways for anonymous callers to have something stored.
func (w *testApp) anonymousRequests() map[string]func() *http.Request {
	app := w.create(w.directory.Applications, `{"name":"Shop","inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["https://shop.example.com/back"],"publicClient":true}}]}`).Value.(*schemas.Application)
	authorize := "/oauth2/authorize?" + url.Values{"client_id": {app.ClientID}, "redirect_uri": {"https://shop.example.com/back"}, "response_type": {"code"},
		"code_challenge": {strings.Repeat("A", 43)}, "code_challenge_method": {"S256"}, "state": {strings.Repeat("s", 4000)}}.Encode()
	return map[string]func() *http.Request{
		"runs":     func() *http.Request { return newRequest(http.MethodPost, "/flow/execute", runStart, jsonBody) },
		"passkeys": func() *http.Request { return newRequest(http.MethodPost, "/auth/passkey/start", `{}`, jsonBody) },
		"requests": func() *http.Request { return newRequest(http.MethodGet, authorize, "") },
	}
}

func (w *testApp) stored() store.Pending {
	w.t.Helper()
	n, err := w.store.CountPending(w.t.Context(), time.Now(), store.Pending{Runs: 1000, AuthRequests: 1000, PasskeySessions: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// accepted reports whether a request stored something.
func accepted(rec *httptest.ResponseRecorder) bool {
	return rec.Code == http.StatusOK || strings.Contains(rec.Header().Get("Location"), "/gate/signin")
}

func TestAudit17FloodFromOneNetwork(t *testing.T) {
	for _, driver := range []string{"sqlite", "postgres"} {
		for _, what := range []string{"runs", "passkeys", "requests"} {
			t.Run(driver+"/"+what, func(t *testing.T) {
				w := boundedResources(t, driver)
				ask := w.anonymousRequests()[what]
				first := w.from("203.0.113.7", newRequest(http.MethodPost, "/flow/execute", runStart, jsonBody))
				var begun schemas.Step
				if err := json.Unmarshal(first.Body.Bytes(), &begun); err != nil {
					t.Fatal(err, first.Body)
				}
				n := 0
				for range 200 {
					rec := w.from("203.0.113.7", ask())
					if !accepted(rec) {
						if rec.Code != http.StatusTooManyRequests {
							t.Fatalf("%d %s", rec.Code, rec.Body)
						}
						continue
					}
					n++
				}
				if n < 10 || n > 25 {
					t.Errorf("a network has %d of 100 places", n)
				}
				if stored := w.stored(); stored.Runs > 30 || stored.AuthRequests > 25 || stored.PasskeySessions > 25 {
					t.Errorf("stored are %+v", stored)
				}
				for i := range 10 {
					if rec := w.from(fmt.Sprintf("192.0.%d.1", i), ask()); !accepted(rec) {
						t.Errorf("another network: %d %s", rec.Code, rec.Body)
					}
				}
				// A started run continues, also from that address.
				body := fmt.Sprintf(`{"executionId":%q,"action":"username","inputs":{},"challengeToken":%q}`, begun.ExecutionID, begun.ChallengeToken)
				if rec := w.from("203.0.113.7", newRequest(http.MethodPost, "/flow/execute", body, jsonBody)); rec.Code != http.StatusOK {
					t.Errorf("the run of before: %d %s", rec.Code, rec.Body)
				}
			})
		}
	}
}

// When very many networks use up the limit, browsers with an earlier sign-in still sign in.
// All users can sign in again after unfinished runs have expired or unanswered ones were
// removed.
func TestAudit17FloodFromManyNetworks(t *testing.T) {
	for _, driver := range []string{"sqlite", "postgres"} {
		t.Run(driver, func(t *testing.T) {
			w := boundedResources(t, driver)
			owner := &guesser{testApp: w, remote: "192.0.2.1"}
			if status, s := owner.guess("admin", adminPassword); status != http.StatusOK || s.FlowStatus != schemas.Complete || owner.device == nil {
				t.Fatalf("%d %+v", status, s)
			}
			for i := range 400 {
				w.from(fmt.Sprintf("10.%d.%d.1", i>>8, i&255), newRequest(http.MethodPost, "/flow/execute", runStart, jsonBody))
			}
			if n := w.stored().Runs; n < 50 || n > 101 {
				t.Errorf("%d runs are stored", n)
			}
			if rec := w.from("198.51.100.1", newRequest(http.MethodPost, "/flow/execute", runStart, jsonBody)); rec.Code != http.StatusServiceUnavailable {
				t.Errorf("an unknown caller: %d %s", rec.Code, rec.Body)
			}
			owner.remote = "198.51.100.2"
			if status, s := owner.guess("admin", adminPassword); status != http.StatusOK || s.FlowStatus != schemas.Complete {
				t.Errorf("the owner of a known browser: %d %+v", status, s)
			}
			// Another instance counts the stored rows.
			second := &testApp{app: &app{cfg: w.cfg, store: w.store}, t: t}
			second.pending = second.newPending()
			if err := second.countPending(t.Context(), time.Now()); err != nil || !second.pending.runs.Crowded() || second.pending.runs.Admit(t.Context()) == nil {
				t.Errorf("another instance admits more: %v", err)
			}
			w.sweepOnce(t.Context(), time.Now().UTC().Add(abandonedAfter+time.Minute))
			if n := w.stored().Runs; n > 10 {
				t.Errorf("%d unanswered runs are left", n)
			}
			if rec := w.from("198.51.100.1", newRequest(http.MethodPost, "/flow/execute", runStart, jsonBody)); rec.Code != http.StatusOK {
				t.Errorf("an unknown caller, after the flood: %d %s", rec.Code, rec.Body)
			}
		})
	}
}

// A finished run occupies storage for a minute, and counts for no network.
func TestAudit17FinishedRunsFreeCapacity(t *testing.T) {
	w := boundedResources(t, "sqlite")
	for i := range 60 {
		g := &guesser{testApp: w, remote: "192.0.2.1"} // without the cookie of a device
		if status, s := g.guess("admin", adminPassword); status != http.StatusOK || s.FlowStatus != schemas.Complete {
			t.Fatalf("sign-in %d from one office: %d %+v", i, status, s)
		}
	}
	n, err := w.store.CountPending(t.Context(), time.Now().Add(2*time.Minute), store.Pending{Runs: 1000})
	if err != nil || n.Runs != 0 {
		t.Errorf("two minutes later %d runs that are over are kept, %v", n.Runs, err)
	}
}

// Repeated wrong passwords do not fill the audit log and, once the account's limit of 22
// guesses is reached, store nothing else.
func TestAudit17FailuresAreCounted(t *testing.T) {
	w := boundedResources(t, "sqlite", "POSTERN_FLOW_MAX_FAILURES=1000", "POSTERN_PASSWORD_ITERATIONS=1", "POSTERN_PASSWORD_MEMORY_KIB=8192")
	g := &guesser{testApp: w, remote: "203.0.113.7"}
	var s schemas.Step
	g.send(map[string]any{"applicationId": bootstrap.ConsoleID, "flowType": "AUTHENTICATION"}, &s)
	run := s.ExecutionID
	g.send(map[string]any{"executionId": run, "action": "password", "inputs": map[string]string{}}, &s)
	for i := range 64 {
		g.send(map[string]any{"executionId": run, "action": "continue", "inputs": map[string]string{"username": "admin", "password": fmt.Sprint("Wrong-ferry-slate-", i)}}, &s)
		if s.Error == nil {
			t.Fatalf("%+v", s)
		}
	}
	events, err := w.store.Events(t.Context(), schemas.EventQuery{Limit: 100, Action: "attempt.failed"})
	if err != nil || len(events) != 5 || events[0].Detail["repeated"] != "16" || events[4].Detail["repeated"] != "" {
		t.Errorf("64 wrong passwords are %d events, %v: %+v", len(events), err, events)
	}
}
