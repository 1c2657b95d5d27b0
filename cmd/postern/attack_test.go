package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

// These tests are of the second attack, on the fixes for the security audit of November
// 2026: see docs/security.md.

// withFactor enrolls an authenticator app for the administrator at an application that
// requires one, and returns the application and an unused code.
func (w *testApp) withFactor() (applicationID, code string) {
	w.t.Helper()
	applicationID = w.shop(w.admin(), "code_as_second_factor.yaml")
	s := w.answer(w.begin(applicationID, "AUTHENTICATION"), "continue", map[string]string{"username": "admin", "password": adminPassword})
	key := totp.Key{Secret: s.Data.AdditionalData["totpSecret"], Algorithm: totp.SHA1, Digits: 6}
	var codes [2]string
	for i := range codes {
		var err error
		if codes[i], err = key.Code(time.Now().Add(time.Duration(i) * totp.Period)); err != nil {
			w.t.Fatal(err)
		}
	}
	if s = w.answer(s, "submit", map[string]string{"otp": codes[0]}); s.StepID != "codes" {
		w.t.Fatalf("enrolling an authenticator app: %+v", s)
	}
	return applicationID, codes[1]
}

// guessFactor signs in with the administrator's password from an address, tries a code, and
// reports whether the guess was answered.
func (w *testApp) guessFactor(remote, applicationID, code string) bool {
	w.t.Helper()
	g := &guesser{testApp: w, remote: remote}
	var s schemas.Step
	g.send(map[string]any{"applicationId": applicationID, "flowType": "AUTHENTICATION"}, &s)
	run := s.ExecutionID
	g.send(map[string]any{"executionId": run, "action": "continue", "inputs": map[string]string{"username": "admin", "password": adminPassword}}, &s)
	return g.send(map[string]any{"executionId": run, "challengeToken": s.ChallengeToken, "action": "submit", "inputs": map[string]string{"otp": code}}, &s) == http.StatusOK
}

// An attacker with the password must not gain guesses at the second factor by signing in
// where the password is enough.
func TestAttackPasswordDoesNotResetSecondFactorGuesses(t *testing.T) {
	sequential(t)
	w := newGuessingTest(t)
	application, _ := w.withFactor()
	weak := w.shop(w.admin(), "password_only.yaml")
	answered := 0
	for i := range 40 {
		if w.guessFactor(fmt.Sprintf("203.0.%d.1", i), application, "000000") {
			answered++
		}
		if i%10 == 9 {
			if s := w.answer(w.begin(weak, "AUTHENTICATION"), "continue", map[string]string{"username": "admin", "password": adminPassword}); s.FlowStatus != schemas.Complete {
				t.Fatalf("the password alone: %+v", s)
			}
		}
	}
	if answered > 12 {
		t.Errorf("%d guesses in a row at the second factor were answered", answered)
	}
}

// An attacker with the password must not add a passkey to an account with a second factor,
// through the API or a flow: a passkey counts as two factors. With the second factor the
// user can.
func TestAttackPasswordAloneCannotAddPasskeyToTwoFactorAccount(t *testing.T) {
	w := newTestApp(t)
	application, code := w.withFactor()
	credentials := map[string]string{"username": "admin", "password": adminPassword}
	weak := w.accountApplication(w.shop(w.admin(), "password_only.yaml"))
	s := w.answer(w.begin(weak, "AUTHENTICATION"), "continue", credentials)
	if s.FlowStatus != schemas.Complete {
		t.Fatalf("%+v", s)
	}
	body := fmt.Sprintf(`{"userId":%q,"relyingPartyId":"localhost","relyingPartyName":"x"}`, w.userNamed("admin"))
	if rec := w.call("POST", "/register/passkey/start", s.Assertion, body); rec.Code != http.StatusForbidden || !strings.Contains(rec.Body.String(), schemas.CodeFactorRequired) {
		t.Errorf("by the API: %d %s", rec.Code, rec.Body)
	}
	builtIn, err := store.Flows().Find(t.Context(), w.store, schemas.Authentication, "password-then-passkey")
	if err != nil || builtIn == nil {
		t.Fatal(builtIn, err)
	}
	offering := w.application(w.admin(), "Offering", "authFlowId", builtIn.ID)
	if s := w.answer(w.begin(offering, "AUTHENTICATION"), "continue", credentials); s.StepID != "second" || len(s.Data.Inputs) != 1 || s.Data.Inputs[0].Identifier != "otp" {
		t.Errorf("by a flow: %+v, expected a step that asks for the code of the app", s)
	}

	s = w.answer(w.begin(w.accountApplication(application), "AUTHENTICATION"), "continue", credentials)
	if s = w.answer(s, "submit", map[string]string{"otp": code}); s.FlowStatus != schemas.Complete {
		t.Fatalf("with the second factor: %+v", s)
	}
	if rec := w.call("POST", "/register/passkey/start", s.Assertion, body); rec.Code != http.StatusOK {
		t.Errorf("with the second factor: %d %s", rec.Code, rec.Body)
	}
}

// A caller who may write users must not take an address from a user with more permissions
// by stating that it belongs to another user.
func TestAttackUserWritersCannotTakeAddressesOfAdministrators(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		const entered = `"email":"boss@example.org"`
		body := func(name, attributes string) string {
			return `{"type":"Person","attributes":{"username":"` + name + `",` + attributes + `}}`
		}
		boss := w.create(w.directory.Users, body("boss", entered)).ID
		w.create(w.directory.Roles, `{"name":"Flows","permissions":["system:flows:write"],"assignments":[{"type":"user","id":"`+boss+`"}]}`)
		plain := w.create(w.directory.Users, body("plain", `"nickname":"p"`)).ID
		clerk := w.holder("clerk", "system:users")
		for _, attempt := range [][3]string{
			{"POST", "/users", body("eve", entered+`,"email_verified":true`)},
			{"PUT", "/users/" + plain, body("plain", entered+`,"email_verified":true`)},
			{"POST", "/users", body("boss@example.org", `"nickname":"b"`)},
		} {
			if rec := w.call(attempt[0], attempt[1], clerk, attempt[2]); rec.Code != http.StatusForbidden {
				t.Errorf("%v: %d %s", attempt, rec.Code, rec.Body)
			}
		}
		if u, err := w.store.User(t.Context(), boss); err != nil || u.Text("email") == "" {
			t.Errorf("the administrator has lost the address: %+v, %v", u, err)
		}
		if rec := w.call("PUT", "/users/"+plain, w.admin(), body("plain", entered+`,"email_verified":true`)); rec.Code != http.StatusOK {
			t.Errorf("an administrator: %d %s", rec.Code, rec.Body)
		}
	})
}
