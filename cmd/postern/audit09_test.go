package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// These tests are named after finding 9 of the security audit of November 2026: a new
// password did not end what the old one had authenticated.

// changeFlow lets users who know the old password change it.
const changeFlow = `{"id":"01a00000-0000-7000-8000-0000000000f2","handle":"change-password","name":"Change the password","flowType":"AUTHENTICATION","nodes":[
	{"id":"who","use":"prompt","with":{"inputs":[{"identifier":"username","type":"TEXT_INPUT","required":true},{"identifier":"password","type":"PASSWORD_INPUT","required":true}],
		"actions":[{"ref":"continue","label":"Continue"}]},"next":"find"},
	{"id":"find","use":"user-resolve","with":{"by":["username"],"from":"username","conceal":true},"next":{"found":"check","missing":"check"}},
	{"id":"check","use":"password-authenticate","next":{"success":"set"}},
	{"id":"set","use":"password-set","with":{"input":"newPassword"},"next":"done"},
	{"id":"done","use":"authorization-code"}]}`

// changing starts a run of that flow and enters the old password.
func (w *testApp) changing(applicationID, password string) (s schemas.Step) {
	w.t.Helper()
	s = w.signInTo(applicationID)
	w.post("/flow/execute", map[string]any{"executionId": s.ExecutionID, "challengeToken": s.ChallengeToken, "action": "continue",
		"inputs": map[string]string{"username": "pat", "password": password}}, &s)
	if s.StepID != "set" {
		w.t.Fatalf("expected to be asked for a new password, got %+v", s)
	}
	return s
}

// change answers the prompt for the new password.
func (w *testApp) change(s schemas.Step, password string) (status int, said string) {
	w.t.Helper()
	return w.attempt("/flow/execute", "", map[string]any{"executionId": s.ExecutionID, "challengeToken": s.ChallengeToken, "action": s.Data.Actions[0].Ref,
		"inputs": map[string]string{"newPassword": password}})
}

// A password change in a flow ends the other sessions of the user, their tokens and the
// other runs, on every instance, and keeps the run that changed it.
func TestAudit09PasswordChangeEndsSessionsAndTokens(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, two *testApp) {
		one.create(one.directory.Flows, changeFlow)
		changer := one.create(one.directory.Applications, `{"name":"Changer","authFlowId":"01a00000-0000-7000-8000-0000000000f2"}`).ID
		p := leakyMetadata(t, one)
		before := p.collect(p.begin().Get("applicationId"))
		mine, other := one.changing(changer, rpPassword), two.changing(changer, rpPassword)

		status, said := two.change(mine, newPassword)
		if !throughEndpoint(status, said) {
			t.Fatalf("the run that changes the password: %d %s", status, said)
		}
		before.userTokensEnd(p, one, two)
		if status, said := one.change(other, otherPassword); throughEndpoint(status, said) {
			t.Errorf("another run of the user goes on: %d %s", status, said)
		}
		left := one.liveSessions(one.userNamed("pat"))
		if len(left) != 1 || !slices.Equal(left[0].AMR, []string{"pwd"}) {
			t.Errorf("expected the session of the run alone, got %+v", left)
		}
		events, err := one.store.Events(t.Context(), schemas.EventQuery{Limit: 20, Action: "session.ended"})
		if err != nil || len(events) == 0 {
			t.Fatalf("%d sessions were recorded to have ended, %v", len(events), err)
		}
		for _, e := range events {
			if e.Detail["reason"] != "password_changed" || e.Actor.ID != one.userNamed("pat") || e.ExecutionDigest == "" || e.TraceID == "" {
				t.Errorf("recorded %+v", e)
			}
		}
	})
}

// userTokensEnd makes sure that all tokens issued to the user are rejected.
func (h tokensAndSessions) userTokensEnd(p *party, instances ...*testApp) {
	p.t.Helper()
	for i, w := range instances {
		for name, live := range h.bearerTokens(w) {
			if live && name != "the client's own token" {
				p.t.Errorf("instance %d takes %s", i+1, name)
			}
		}
	}
	p.refusesGrant("a refresh token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {h.refresh}})
	p.refusesGrant("a code", url.Values{"grant_type": {"authorization_code"}, "code": {h.code}, "redirect_uri": {p.redirect}})
}

// A password change through the API does the same: users who change their own keep only the
// session they used.
func TestAudit09PasswordSetThroughTheAPIEndsSessions(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, two *testApp) {
		pat := one.userNamed("pat")
		one.create(one.directory.Roles, `{"name":"Writers","permissions":["system:users:write"],"assignments":[{"type":"user","id":"`+pat+`"}]}`)
		token, err := one.issueToken(t.Context(), "pat", []string{"system:users:write"}, 1<<40)
		if err != nil {
			t.Fatal(err)
		}
		own := one.liveSessions(pat)
		one.mustSignIn("pat", rpPassword)
		two.setPassword(pat, newPassword, token)
		if left := one.liveSessions(pat); len(left) != 1 || left[0].ID != own[0].ID {
			t.Errorf("the sessions %+v are left, expected %+v", left, own)
		}
		one.mustSignIn("pat", newPassword)
		_, err = one.directory.Users.Replace(t.Context(), directory.SystemCall(), pat, "",
			documentOf(t, fmt.Sprintf(`{"type":"Person","attributes":{"username":"pat","password":%q}}`, rpPassword)))
		if err != nil {
			t.Fatal(err)
		}
		if left := one.liveSessions(pat); len(left) > 0 {
			t.Errorf("after the program itself set a password (apply, bootstrap) %d sessions go on", len(left))
		}
		if status := two.get("/users/me", token); status != http.StatusUnauthorized {
			t.Errorf("the token of an ended session: %d", status)
		}
	})
}

func (w *testApp) mustSignIn(name, password string) {
	w.t.Helper()
	if status, said := w.signInAs(name, password); !throughEndpoint(status, said) {
		w.t.Fatalf("%d %s", status, said)
	}
}

func documentOf(t *testing.T, text string) *schemas.Document {
	t.Helper()
	d, problems := schemas.ParseJSON([]byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return d
}

// A session ends with the credential that it was authenticated by, and no other session
// does.
func TestAudit09RemovedPasskeyEndsItsSessions(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, two *testApp) {
		one.enrol("ada")
		ada, admin := one.userNamed("ada"), one.admin()
		one.put("/users/"+ada, `{"type":"Person","attributes":{"username":"ada","password":"`+newPassword+`"}}`, admin)
		one.mustSignIn("ada", newPassword)
		byFlow := one.authenticate(one.start(schemas.Authentication)).Assertion
		byCeremony := two.finishPasskey(two.startPasskey())
		keys, err := one.store.Credentials(t.Context(), ada)
		if err != nil || len(keys) != 1 {
			t.Fatalf("%d passkeys, %v", len(keys), err)
		}
		if status, code, _ := one.bare(http.MethodDelete, "/users/"+ada+"/passkeys/"+keys[0].ID.String(), admin); status != http.StatusNoContent {
			t.Fatalf("%d %s", status, code)
		}
		for name, assertion := range map[string]string{"the flow": byFlow, "the ceremony": byCeremony} {
			if status := two.get("/users/me", assertion); status != http.StatusUnauthorized {
				t.Errorf("the assertion of %s: %d", name, status)
			}
		}
		if left := one.liveSessions(ada); len(left) != 1 || strings.Join(left[0].AMR, " ") != "pwd" {
			t.Errorf("expected the session that began with the password, got %+v", left)
		}
	})
}
