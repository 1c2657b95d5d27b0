package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// Recent incidents in identity services, each reproduced against the whole server. The
// affected packages have tests of their own.
func TestIncidents(t *testing.T) {
	sequential(t)
	for name, try := range map[string]func(*testing.T){
		"a note of one step is accepted by another":                inputsOfOtherSteps,
		"an empty POST skips a step":                               emptyAnswers,
		"the passkey policy is enforced only in the browser":       policyOnlyInTheBrowser,
		"a factor is enrolled on another user's account":           factorOfAnother,
		"a session that is merely identified binds a factor":       identifiedUserOnly,
		"another way in skips the second factor":                   addSecondPath,
		"the hosted pages reflect markup":                          reflectedMarkup,
		"X-Forwarded-For is trusted":                               forwardedFor,
		"what was deleted is usable from an earlier request":       deletedMeanwhile,
		"what was switched off is usable from an earlier request":  switchedOffMeanwhile,
		"a client that registered itself is deleted in mid-run":    clientDeletedMeanwhile,
		"the tool server does not check the audience":              toolAudience,
		"a flow that is changed in mid-run can be bypassed":        flowChangedMeanwhile,
		"the answer to one run's challenge is accepted by another": otherRunsChallenge,
	} {
		t.Run(name, try)
	}
}

// inputsOf are the inputs of the passkey step of a sign-in.
func inputsOf(a passkey.AuthenticationResponse) map[string]string {
	return map[string]string{"credentialId": a.ID, "clientDataJSON": a.ClientDataJSON, "authenticatorData": a.AuthenticatorData, "signature": a.Signature, "userHandle": a.UserHandle}
}

// attempt posts JSON, with a token if there is one.
func (w *testApp) attempt(path, token string, body any) (status int, said string) {
	w.t.Helper()
	rec := w.exchange(http.MethodPost, path, string(datatest.Marshal(w.t, body)), jsonBody, bearer(token))
	return rec.Code, rec.Body.String()
}

// throughEndpoint reports whether a run or a ceremony has completed.
func throughEndpoint(status int, said string) bool {
	return status == http.StatusOK && (strings.Contains(said, `"COMPLETE"`) || strings.Contains(said, `"assertion"`) || strings.Contains(said, `"CredentialID"`))
}

// inputsOfOtherSteps answers each ceremony with the answer to another: a challenge of the
// atomic API in a flow and vice versa, a registration with an authentication.
func inputsOfOtherSteps(t *testing.T) {
	w := newTestApp(t)
	w.enrol("ada")
	assertion := w.authenticate(w.start(schemas.Authentication)).Assertion
	claims := w.claimsOf(assertion)
	begun := w.startPasskey()
	answer := w.sign(begun.Options)
	run := w.start(schemas.Authentication)
	for name, body := range map[string]any{
		"the atomic API's challenge in a flow":   map[string]any{"executionId": run.ExecutionID, "inputs": inputsOf(answer)},
		"the session token as a challenge token": map[string]any{"executionId": run.ExecutionID, "challengeToken": begun.SessionToken, "inputs": w.assertion(run)},
	} {
		if status, said := w.attempt("/flow/execute", "", body); throughEndpoint(status, said) {
			t.Errorf("%s: %d %s", name, status, said)
		}
	}
	var register struct{ SessionToken string }
	w.send(http.StatusOK, "/register/passkey/start", assertion, `{"userId":"`+claims.Subject+`"}`, &register)
	signIn := w.passkeyFinish(w.startPasskey()).(map[string]any)
	signIn["sessionToken"] = register.SessionToken
	for path, token := range map[string]string{"/auth/passkey/finish": "", "/register/passkey/finish": assertion} {
		if status, said := w.attempt(path, token, signIn); throughEndpoint(status, said) {
			t.Errorf("a sign-in by the session of a registration at %s: %d %s", path, status, said)
		}
	}
	step := w.start(schemas.Authentication)
	from := w.sign(json.RawMessage(step.Data.AdditionalData["passkeyChallenge"]))
	body := w.passkeyFinish(w.startPasskey()).(map[string]any)
	body["publicKeyCredential"] = map[string]any{"id": from.ID, "type": "public-key", "response": inputsOf(from)}
	if status, said := w.attempt("/auth/passkey/finish", "", body); throughEndpoint(status, said) {
		t.Errorf("a flow's challenge at the atomic API: %d %s", status, said)
	}
}

// otherRunsChallenge answers a run with the assertion of another.
func otherRunsChallenge(t *testing.T) {
	w := newTestApp(t)
	w.enrol("ada")
	one, other := w.start(schemas.Authentication), w.start(schemas.Authentication)
	status, said := w.attempt("/flow/execute", "", map[string]any{"executionId": other.ExecutionID, "inputs": w.assertion(one)})
	if throughEndpoint(status, said) {
		t.Errorf("%d %s", status, said)
	}
}

// emptyAnswers sends every kind of empty answer to every step.
func emptyAnswers(t *testing.T) {
	w := newTestApp(t)
	for name, steps := range map[string][]map[string]any{
		"AUTHENTICATION": {{}, {"action": "password"}},
		"REGISTRATION":   {{}, {"action": "continue", "inputs": map[string]string{"username": "eve"}}},
	} {
		var s schemas.Step
		w.post("/flow/execute", map[string]string{"applicationId": bootstrap.TryID, "flowType": name}, &s)
		for _, next := range steps {
			next["executionId"] = s.ExecutionID
			w.attempt("/flow/execute", "", next)
			for _, empty := range emptyBodies(s.ExecutionID) {
				if status, said := w.attempt("/flow/execute", "", empty); throughEndpoint(status, said) || status >= 500 {
					t.Errorf("%s: after %v, %v: %d %s", name, next, empty, status, said)
				}
			}
		}
	}
	if rec := w.exchange(http.MethodPost, "/flow/execute", ""); rec.Code != http.StatusBadRequest {
		t.Errorf("nothing at all: %d %s", rec.Code, rec.Body)
	}
}

func emptyBodies(run string) []map[string]any {
	blank, none := map[string]any{}, map[string]any{}
	for _, name := range []string{"username", "password", "credentialId", "clientDataJSON", "authenticatorData", "signature", "userHandle", "attestationObject", "code"} {
		blank[name], none[name] = "", nil
	}
	list := []map[string]any{{}, {"inputs": map[string]any{}}, {"inputs": blank}, {"inputs": none}, {"action": ""}, {"action": "continue"}, {"action": "passkey"},
		{"action": "next"}, {"action": "success"}, {"action": "done"}, {"action": "end"}, {"action": "skip"}, {"action": "continue", "inputs": blank}, {"action": "passkey", "inputs": blank}}
	for _, body := range list {
		body["executionId"] = run
	}
	return list
}

// policyOnlyInTheBrowser has an authenticator that did not verify its user, where the
// server requires it, whatever the client requested from the browser.
func policyOnlyInTheBrowser(t *testing.T) {
	w := newTestApp(t, "POSTERN_PASSKEY_USER_VERIFICATION=required")
	w.enrol("ada")
	s := w.start(schemas.Authentication)
	a := w.sign(json.RawMessage(s.Data.AdditionalData["passkeyChallenge"]), passkeytest.NoUV)
	if status, said := w.attempt("/flow/execute", "", map[string]any{"executionId": s.ExecutionID, "inputs": inputsOf(a)}); throughEndpoint(status, said) {
		t.Errorf("a flow: %d %s", status, said)
	}
	begun := w.startPasskey()
	a = w.sign(begun.Options, passkeytest.NoUV)
	body := map[string]any{"sessionToken": begun.SessionToken, "publicKeyCredential": map[string]any{"id": a.ID, "type": "public-key", "response": inputsOf(a)}}
	if status, said := w.attempt("/auth/passkey/finish", "", body); throughEndpoint(status, said) {
		t.Errorf("the atomic API: %d %s", status, said)
	}
	s = w.answer(w.start(schemas.Registration), "continue", map[string]string{"username": "eve"})
	made, err := passkeytest.New().Register(json.RawMessage(s.Data.AdditionalData["passkeyCreationOptions"]), w.origin, passkeytest.NoUV)
	if err != nil {
		t.Fatal(err)
	}
	if s = w.answer(s, "passkey", map[string]string{"credentialId": made.ID, "clientDataJSON": made.ClientDataJSON, "attestationObject": made.AttestationObject}); s.FlowStatus == schemas.Complete {
		t.Errorf("a sign-up: %+v", s)
	}
}

// reflectedMarkup sends markup to the pages that show parameters.
func reflectedMarkup(t *testing.T) {
	w := newTestApp(t)
	const markup = `"><script>alert(1)</script><img src=x onerror=alert(1)>`
	q := url.Values{}
	for _, name := range []string{"error", "error_description", "applicationId", "authId", "executionId", "login_hint", "ui_locales", "state", "client_id", "redirect_uri", "id_token_hint", "post_logout_redirect_uri"} {
		q.Set(name, markup)
	}
	for _, path := range []string{"/gate/signin", "/gate/error", "/gate/account", "/gate/", "/gate/logout", "/oauth2/authorize", "/oauth2/auth/callback", "/oauth2/logout", "/nowhere/" + url.PathEscape(markup)} {
		rec := w.exchange(http.MethodGet, path+"?"+q.Encode(), "")
		kind := rec.Header().Get("Content-Type")
		if html := strings.HasPrefix(kind, "text/html"); html && (strings.Contains(rec.Body.String(), "alert(1)") || !strings.Contains(rec.Header().Get("Content-Security-Policy"), "'none'")) ||
			!html && kind != "" && rec.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s answers %s, by the policy %q: %s", path, kind, rec.Header().Get("Content-Security-Policy"), rec.Body)
		}
	}
}

// forwardedFor guesses passwords, each time under another forwarded address.
func forwardedFor(t *testing.T) {
	w := newTestApp(t, "POSTERN_THROTTLE_ENABLED=true", "POSTERN_PASSWORD_MEMORY_KIB=1024", "POSTERN_PASSWORD_ITERATIONS=1",
		"POSTERN_THROTTLE_PAIR_GUESSES_BURST=3", "POSTERN_THROTTLE_PAIR_GUESSES_EVERY=24h")
	inner, checked, n := w.http, 0, 0
	w.http = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		n++
		for _, name := range []string{"X-Forwarded-For", "X-Real-Ip", "True-Client-Ip", "Cf-Connecting-Ip"} {
			r.Header.Set(name, fmt.Sprintf("203.0.113.%d", n))
		}
		r.Header.Set("Forwarded", fmt.Sprintf("for=203.0.113.%d", n))
		inner.ServeHTTP(rw, r)
	})
	for range 12 {
		if status, s := w.guess("192.0.2.9", "admin", "wrong"); status == http.StatusOK && s.Error != nil && s.Error.Code == schemas.CodeInvalidCredentials {
			checked++
		}
	}
	if checked != 3 {
		t.Errorf("%d guesses were checked of one address, expected 3", checked)
	}
}

// toolAudience calls a tool with a token that has all permissions, for another audience.
func toolAudience(t *testing.T) {
	b := newAttackedServer(t)
	for name, audience := range b.audiences() {
		raw := b.statement(b.app, b.session())
		if name != "the audience of the API alone" && name != "the audience of the tools alone" {
			raw = b.sign(b.tokens.Assert(t.Context(), schemas.Assertion{Subject: b.admin, Audience: audience, Permissions: []string{"system"}}))
		}
		if status := b.endpoints()["the tools"](raw); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, status)
		}
	}
}

// remove deletes a resource.
func (w *testApp) remove(of directory.Resource, id string) {
	w.t.Helper()
	if err := of.Delete(w.t.Context(), directory.SystemCall(), id, ""); err != nil {
		w.t.Fatal(err)
	}
}
