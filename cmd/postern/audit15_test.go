package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// These tests are named after finding 15 of the security audit of November 2026: no account
// could be disabled.

// inactive are the ways to deactivate a user, by the error that the user then receives.
func inactive() map[string]func(u *schemas.User) {
	return map[string]func(u *schemas.User){
		schemas.CodeAccountDisabled: func(u *schemas.User) { u.Status = schemas.UserDisabled },
		schemas.CodeAccountLocked:   func(u *schemas.User) { u.LockedUntil = time.Now().Add(time.Hour) },
	}
}

// changeUser replaces a user as an administrator does. The result is active before change.
func (w *testApp) changeUser(id, token string, change func(u *schemas.User)) (status int, said string) {
	w.t.Helper()
	u, err := w.store.User(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	u.Status, u.LockedUntil = "", time.Time{}
	change(u)
	body := datatest.Marshal(w.t, u)
	rec := w.call(http.MethodPut, "/users/"+id, token, string(body))
	return rec.Code, rec.Body.String()
}

func (w *testApp) mustChangeUser(id, token string, change func(u *schemas.User)) {
	w.t.Helper()
	if status, said := w.changeUser(id, token, change); status != http.StatusOK {
		w.t.Fatalf("%d %s", status, said)
	}
}

func active(*schemas.User) {}

// countEvents returns the number of events of an action about a user.
func (w *testApp) countEvents(action, userID string) int {
	w.t.Helper()
	found, err := w.store.Events(w.t.Context(), schemas.EventQuery{Action: action, UserID: userID, Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(found)
}

// A user who is disabled or locked at one instance loses everything at once on every
// instance: session, assertion, access token, refresh token, code and unfinished runs. None
// of it is restored when the user is enabled again.
func TestAudit15InactiveUsersLoseAllAccess(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, two *testApp) {
		one.create(one.directory.Flows, changeFlow)
		changer := one.create(one.directory.Applications, `{"name":"Changer","authFlowId":"01a00000-0000-7000-8000-0000000000f2"}`).ID
		p, admin, pat := leakyMetadata(t, one), one.admin(), one.userNamed("pat")
		client, err := one.directory.Applications.Get(t.Context(), directory.SystemCall(), p.begin().Get("applicationId"))
		if err != nil {
			t.Fatal(err)
		}
		leakyApp := *client.Value.(*schemas.Application)
		leakyApp.ClientSecret = p.secret
		for code, deactivate := range inactive() {
			h, run := p.collect(leakyApp.ID), two.changing(changer, rpPassword)
			h.expect(true, one, two)

			one.mustChangeUser(pat, admin, deactivate)
			h.userTokensEnd(p, one, two)
			for i, w := range []*testApp{one, two} {
				for what, token := range map[string]string{"an access token": h.user, "a refresh token": h.refresh} {
					rec := w.asClient("/oauth2/introspect", &leakyApp, url.Values{"token": {token}})
					if said := strings.TrimSpace(rec.Body.String()); rec.Code != http.StatusOK || said != `{"active":false}` {
						t.Errorf("%s: instance %d introspects %s: %d %s", code, i+1, what, rec.Code, said)
					}
				}
			}
			if left := two.liveSessions(pat); len(left) > 0 {
				t.Errorf("%s: %d sessions live on", code, len(left))
			}
			p.refused(p.ask("prompt", "none"), "login_required")
			if status, said := one.change(run, newPassword); throughEndpoint(status, said) {
				t.Errorf("%s: a run that authenticated the user before goes on: %d %s", code, status, said)
			}

			one.mustChangeUser(pat, admin, active)
			two.mustSignIn("pat", rpPassword)
			h.userTokensEnd(p, one, two)
		}
		for action, want := range map[string]int{"user.disabled": 1, "user.enabled": 1, "user.locked": 1, "user.unlocked": 1} {
			if got := one.countEvents(action, pat); got != want {
				t.Errorf("%d events %s, want %d", got, action, want)
			}
		}
	})
}

// volatile matches the members that differ between all replies.
var volatile = regexp.MustCompile(`"(executionId|challengeToken|traceId)":"[^"]*"`)

// The right password of an inactive user gets the same reply as a wrong one: a guess
// reveals neither that it is right, nor that the account is disabled. The audit log
// distinguishes them.
func TestAudit15PasswordStepDoesNotRevealInactiveUsers(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, two *testApp) {
		admin, pat := one.admin(), one.userNamed("pat")
		attempt := func(password string) string {
			_, said := two.signInAs("pat", password)
			return volatile.ReplaceAllString(said, "$1")
		}
		wrong := attempt(newPassword)
		for code, deactivate := range inactive() {
			one.mustChangeUser(pat, admin, deactivate)
			before := one.countEvents("user.sign_in_refused", pat)
			if got := attempt(rpPassword); got != wrong {
				t.Errorf("%s: the right password: %s\na wrong one while the user was active: %s", code, got, wrong)
			}
			if got := attempt(newPassword); got != wrong {
				t.Errorf("%s: a wrong password: %s\nbefore: %s", code, got, wrong)
			}
			if got := one.countEvents("user.sign_in_refused", pat) - before; got != 1 {
				t.Errorf("%s: %d refused sign-ins were recorded, want that with the right password", code, got)
			}
		}
		one.mustChangeUser(pat, admin, func(u *schemas.User) { u.LockedUntil = time.Now().Add(-time.Second) })
		two.mustSignIn("pat", rpPassword)
	})
}

// A verified passkey proves who the user is, so the reply states the reason: in a flow that
// waits for it, and at /auth/passkey/finish. Neither starts a session.
func TestAudit15PasskeysOfInactiveUsers(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, two *testApp) {
		one.enrol("ada")
		admin, ada := one.admin(), one.userNamed("ada")
		for code, deactivate := range inactive() {
			assertion := one.finishPasskey(one.startPasskey())
			waiting, begun, here := one.start(schemas.Authentication), two.startPasskey(), two.start(schemas.Authentication)
			one.mustChangeUser(ada, admin, deactivate)
			if status, said := two.attempt("/register/passkey/start", assertion, map[string]string{"userId": ada}); status != http.StatusUnauthorized {
				t.Errorf("%s: a passkey is registered with an old assertion: %d %s", code, status, said)
			}
			for _, s := range []schemas.Step{one.authenticate(waiting), two.authenticate(here)} {
				if s.FlowStatus != schemas.Failed || s.Error == nil || s.Error.Code != code || s.Assertion != "" {
					t.Errorf("%s: the flow replies %+v", code, s)
				}
			}
			if status, said := two.attempt("/auth/passkey/finish", "", two.passkeyFinish(begun)); status != http.StatusForbidden || !strings.Contains(said, code) {
				t.Errorf("%s: the ceremony replies %d %s", code, status, said)
			}
			if left := one.liveSessions(ada); len(left) > 0 {
				t.Errorf("%s: %d sessions", code, len(left))
			}
			one.mustChangeUser(ada, admin, active)
			if s := two.authenticate(two.start(schemas.Authentication)); s.FlowStatus != schemas.Complete {
				t.Errorf("%s: afterwards the flow replies %+v", code, s)
			}
		}
		if got := one.countEvents("user.sign_in_refused", ada); got != 6 {
			t.Errorf("%d refused sign-ins were recorded, want 6", got)
		}
	})
}

// A sign-in that was decided before the user was disabled, and commits afterwards, starts
// no session.
func TestAudit15SignInInProgressIsRefused(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, two *testApp) {
		admin, pat := one.admin(), one.userNamed("pat")
		change := active
		one.interject(func() { two.mustChangeUser(pat, admin, change) })
		for code, deactivate := range inactive() {
			change = deactivate
			if status, said := one.signInAs("pat", rpPassword); throughEndpoint(status, said) || !strings.Contains(said, code) {
				t.Errorf("%d %s", status, said)
			}
			if left := one.liveSessions(pat); len(left) > 0 {
				t.Errorf("%s: %d sessions", code, len(left))
			}
			two.mustChangeUser(pat, admin, active)
		}
		change = active
		one.mustSignIn("pat", rpPassword)
	})
}

// Only administrators who have all permissions of a user change the user's status, and one
// administrator who can sign in always remains.
func TestAudit15PermissionsToDisableUsers(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, two *testApp) {
		partial, root := one.holder("partial", "system:users:read", "system:users:write"), one.userNamed("admin")
		admin, pat := one.admin(), one.userNamed("pat")
		for code, deactivate := range inactive() {
			if status, said := one.changeUser(root, partial, deactivate); status != http.StatusForbidden {
				t.Errorf("%s: a partial administrator changes an administrator: %d %s", code, status, said)
			}
			if status, said := two.changeUser(root, admin, deactivate); status != http.StatusConflict || !strings.Contains(said, schemas.CodeLastAdministrator) {
				t.Errorf("%s: the last administrator: %d %s", code, status, said)
			}
			two.mustChangeUser(pat, partial, deactivate)
			one.mustChangeUser(pat, partial, active)
		}
		// Another administrator counts only if they can sign in.
		one.holder("second", "system")
		second := one.userNamed("second")
		one.mustChangeUser(second, admin, inactive()[schemas.CodeAccountLocked])
		if status, said := one.changeUser(second, partial, active); status != http.StatusForbidden {
			t.Errorf("a partial administrator unlocks an administrator: %d %s", status, said)
		}
		if status, said := two.changeUser(root, admin, inactive()[schemas.CodeAccountDisabled]); status != http.StatusConflict {
			t.Errorf("the other administrator is locked: %d %s", status, said)
		}
		if rec := two.call(http.MethodDelete, "/users/"+root, admin, ""); rec.Code != http.StatusConflict {
			t.Errorf("deleting: %d %s", rec.Code, rec.Body)
		}
		one.mustChangeUser(second, admin, active)
		two.mustChangeUser(root, admin, inactive()[schemas.CodeAccountDisabled]) // their own account
		if status := one.get("/users", admin); status != http.StatusUnauthorized {
			t.Errorf("the token of an administrator who disabled their own account: %d", status)
		}
		if token := one.admin(); one.get("/users", token) != http.StatusOK {
			t.Error("postern token issues no token of the administrator who is left")
		}
	})
}
