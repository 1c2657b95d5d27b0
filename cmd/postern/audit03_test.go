package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// These tests are named after findings 3 and 10 of the security audit of November 2026: a
// sign-in in progress ignored a concurrent change of a credential.

const (
	newPassword   = "Tarn-ferry-slate-41"
	otherPassword = "Copper-thistle-87-lane"
)

// interject calls do between the decision of the last step of a run and its commit, as if
// the step had taken long. It must be called before the first run.
func (w *testApp) interject(do func()) {
	kind := *w.kinds["authorization-code"]
	build := kind.New
	kind.New = func(c *engine.Config) (engine.Executor, []schemas.Problem) {
		inner, problems := build(c)
		return interjection{inner, do}, problems
	}
	w.kinds["authorization-code"] = &kind
}

type interjection struct {
	engine.Executor
	do func()
}

func (i interjection) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	d, err := i.Executor.Execute(ctx, v)
	i.do()
	return d, err
}

// plainID is the id of the application that signInAs signs in to.
const plainID = "01a00000-0000-7000-8000-0000000000f1"

// signInAs signs in with a password, and returns the last reply.
func (w *testApp) signInAs(name, password string) (status int, said string) {
	w.t.Helper()
	s := w.signInTo(plainID)
	s = w.answer(s, "password", nil)
	return w.attempt("/flow/execute", "", map[string]any{"executionId": s.ExecutionID, "challengeToken": s.ChallengeToken, "action": "continue",
		"inputs": map[string]string{"username": name, "password": password}})
}

// setPassword replaces the password of a user as an administrator does.
func (w *testApp) setPassword(userID, password, token string) {
	w.t.Helper()
	w.put("/users/"+userID, fmt.Sprintf(`{"type":"Person","attributes":{"username":"pat","password":%q}}`, password), token)
}

// call sends JSON with a token.
func (w *testApp) call(method, path, token, body string) *httptest.ResponseRecorder {
	if body == "" {
		return w.exchange(method, path, "", bearer(token))
	}
	return w.exchange(method, path, body, jsonBody, bearer(token))
}

// put replaces a resource. The reply to a token that may not read it has no content.
func (w *testApp) put(path, body, token string) {
	w.t.Helper()
	if rec := w.call(http.MethodPut, path, token, body); rec.Code != http.StatusOK && rec.Code != http.StatusNoContent {
		w.t.Errorf("PUT %s: %d %s", path, rec.Code, rec.Body)
	}
}

// userNamed returns the id of a user.
func (w *testApp) userNamed(name string) string {
	w.t.Helper()
	u, err := w.store.UserByAttribute(context.Background(), "", "username", name)
	if err != nil {
		w.t.Fatal(err)
	}
	return u.ID
}

// liveSessions returns the sessions of a user.
func (w *testApp) liveSessions(userID string) []schemas.Session {
	w.t.Helper()
	found, err := store.SessionsOf(context.Background(), w.store, userID, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// raiseHashCost is another instance on the same store, with a higher hashing cost than the
// stored hashes.
func raiseHashCost(t *testing.T, one *testApp) *testApp {
	t.Helper()
	cfg := *one.cfg
	cfg.Password.Iterations++
	h := openForTest(t, &cfg, slog.New(slog.DiscardHandler))
	return &testApp{app: h, t: t, http: h.handler(), origin: one.origin, device: one.device}
}

// onTwoInstances runs a test on both databases, with two instances on each.
func onTwoInstances(t *testing.T, test func(t *testing.T, one, two *testApp)) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		one, two := twoInstances(t, environ...)
		one.create(one.directory.Applications, `{"id":"`+plainID+`","name":"Plain"}`)
		two.device = one.device
		test(t, one, two)
	})
}

// A sign-in that verified the old password before an administrator replaced it stores
// nothing, starts no session and gets no assertion, even if the hash was due for renewal.
func TestAudit03OldPasswordCannotUndoAReset(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, _ *testApp) {
		raised, pat, admin := raiseHashCost(t, one), one.userNamed("pat"), one.admin()
		once := sync.OnceFunc(func() { one.setPassword(pat, newPassword, admin) })
		raised.interject(once)
		if status, said := raised.signInAs("pat", rpPassword); throughEndpoint(status, said) || !strings.Contains(said, schemas.CodeSuperseded) {
			t.Errorf("the sign-in that was under way: %d %s", status, said)
		}
		if left := one.liveSessions(pat); len(left) > 0 {
			t.Errorf("sessions go on: %+v", left)
		}
		if status, said := one.signInAs("pat", rpPassword); throughEndpoint(status, said) {
			t.Errorf("the old password signs in: %d %s", status, said)
		}
		if status, said := one.signInAs("pat", newPassword); !throughEndpoint(status, said) {
			t.Errorf("the new password does not sign in: %d %s", status, said)
		}
	})
}

// The hash of a password is renewed once by any number of concurrent sign-ins, and none of
// them fails because of it.
func TestAudit03HashesAreStillRenewed(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, _ *testApp) {
		raised, pat := raiseHashCost(t, one), one.userNamed("pat")
		before, err := one.store.Password(t.Context(), pat)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				if status, said := raised.signInAs("pat", rpPassword); !throughEndpoint(status, said) {
					t.Errorf("%d %s", status, said)
				}
			})
		}
		all.Wait()
		after, err := one.store.Password(t.Context(), pat)
		if err != nil || after.Hash == before.Hash || after.ID != before.ID {
			t.Errorf("the password was %+v and is %+v, %v", before, after, err)
		}
		if n := len(one.liveSessions(pat)); n != 6 {
			t.Errorf("%d sessions, want 6: a new hash of the same password ends none", n)
		}
	})
}

// A sign-in issues nothing once the credential or session it used is gone.
func TestAudit10SignInRequiresCurrentCredentials(t *testing.T) {
	for name, change := range map[string]func(w *testApp, userID, admin string){
		"the passkey was removed": func(w *testApp, id, admin string) {
			keys, err := w.store.Credentials(context.Background(), id)
			if err != nil || len(keys) != 1 {
				w.t.Fatalf("%d passkeys, %v", len(keys), err)
			}
			w.call(http.MethodDelete, "/users/"+id+"/passkeys/"+keys[0].ID.String(), admin, "")
		},
		"the user was deleted": func(w *testApp, id, admin string) { w.call(http.MethodDelete, "/users/"+id, admin, "") },
	} {
		t.Run(name, func(t *testing.T) {
			onTwoInstances(t, func(t *testing.T, one, two *testApp) {
				one.enrol("ada")
				ada, admin := one.userNamed("ada"), one.admin()
				two.interject(func() { change(one, ada, admin) })
				s := two.start(schemas.Authentication)
				status, said := two.attempt("/flow/execute", "", map[string]any{"executionId": s.ExecutionID, "challengeToken": s.ChallengeToken, "inputs": two.assertion(s)})
				if throughEndpoint(status, said) || strings.Contains(said, "eyJ") {
					t.Errorf("%d %s", status, said)
				}
				if left := one.liveSessions(ada); slices.ContainsFunc(left, func(s schemas.Session) bool { return slices.Contains(s.AMR, "pop") }) {
					t.Errorf("sessions go on: %+v", left)
				}
			})
		})
	}
}

// Many sign-ins with the old password race with the change of the password on two
// instances. In any order, no session of the old password survives.
func TestAudit10SessionsEndWithTheirPassword(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, two *testApp) {
		pat, admin := one.userNamed("pat"), one.admin()
		passwords := []string{rpPassword, newPassword}
		rounds := 12
		if testing.Short() {
			rounds = 3
		}
		for round := range rounds {
			old, next := passwords[round%2], passwords[(round+1)%2]
			var all sync.WaitGroup
			for i := range 8 {
				w := []*testApp{one, two}[i%2]
				all.Go(func() { w.signInAs("pat", old) })
			}
			all.Go(func() { two.setPassword(pat, next, admin) })
			all.Wait()
			if left := one.liveSessions(pat); len(left) > 0 {
				t.Fatalf("round %d: %d sessions of the old password go on", round, len(left))
			}
		}
	})
}
