package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// assignFlow assigns a built-in flow to an application.
func (w *testApp) assignFlow(applicationID, handle string) {
	w.t.Helper()
	flow, err := w.directory.Flows.Find(w.t.Context(), directory.SystemCall(), "AUTHENTICATION/"+handle)
	if err != nil {
		w.t.Fatal(err)
	}
	item, err := w.directory.Applications.Get(w.t.Context(), directory.SystemCall(), applicationID)
	if err != nil {
		w.t.Fatal(err)
	}
	app := *item.Value.(*schemas.Application)
	app.AuthFlowID = flow.ID
	w.replace(w.directory.Applications, app.ID, app)
}

// addPasskeyByPassword signs in at an application with an optional passkey and adds one.
func (w *testApp) addPasskeyByPassword(applicationID, name, password string) {
	w.t.Helper()
	s := w.answer(w.signInTo(applicationID), "continue", map[string]string{"username": name, "password": password})
	a, err := w.device.Register(json.RawMessage(s.Data.AdditionalData["passkeyCreationOptions"]), w.origin)
	if err != nil {
		w.t.Fatal(err)
	}
	s = w.answer(s, "passkey", map[string]string{"credentialId": a.ID, "clientDataJSON": a.ClientDataJSON, "attestationObject": a.AttestationObject})
	if s.FlowStatus != schemas.Complete {
		w.t.Fatalf("%+v", s)
	}
}

// A passkey that was added with a password proves no more than the password at the endpoints of
// passkeys too, and gives no permissions that the console would not give.
func TestLimitedPasskeyAtThePasskeyEndpoints(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		admin := w.admin()
		shop := w.application(admin, "Shop", "authFlowId", "")
		w.assignFlow(shop, "password-then-passkey")
		w.assignFlow(bootstrap.ConsoleID, "passkey-sign-in")
		w.addPasskeyByPassword(shop, "admin", adminPassword)

		if s := w.authenticate(w.signInTo(bootstrap.ConsoleID)); s.Assertion != "" {
			t.Fatalf("the console accepts the passkey: %+v", s)
		}
		claims := w.claimsOf(w.finishPasskey(w.startPasskey()))
		if claims.ACR != schemas.ACRPassword || strings.Join(claims.AMR, " ") != schemas.AMRLimited || len(claims.Scope) != 0 {
			t.Errorf("the endpoint proves %s %v, with the permissions %v", claims.ACR, claims.AMR, claims.Scope)
		}
		if rec := w.call("POST", "/roles", w.finishPasskey(w.startPasskey()), `{"name":"Mine","permissions":["system"]}`); rec.Code != http.StatusForbidden {
			t.Errorf("POST /roles: %d %s", rec.Code, rec.Body)
		}
		for _, s := range w.liveSessions(w.userNamed("admin")) {
			if s.ApplicationID == "" && s.ACR != schemas.ACRPassword {
				t.Errorf("a session of the class %s", s.ACR)
			}
		}
	})
}

// Without an assertion the endpoint records the same, for a known and an unknown browser.
func TestPasskeyWithoutAssertionIsRecorded(t *testing.T) {
	w := newGuessingTest(t, "POSTERN_MAIL_HOST=127.0.0.1", "POSTERN_MAIL_TLS=none", "POSTERN_MAIL_FROM=Example <no-reply@example.com>")
	w.enrol("ada")
	ada := w.userNamed("ada")
	before := w.countEvents("user.signed_in", ada)
	body := w.passkeyFinish(w.startPasskey()).(map[string]any)
	body["skipAssertion"] = true
	var reply map[string]any
	w.post("/auth/passkey/finish", body, &reply)
	if _, has := reply["assertion"]; has || reply["id"] != ada {
		t.Errorf("the reply is %v", reply)
	}
	if got := w.countEvents("user.signed_in", ada) - before; got != 1 {
		t.Errorf("%d sign-ins are recorded", got)
	}
	for _, e := range w.eventsOf("user.signed_in")[:1] {
		if e.Detail[schemas.NewBrowser] != "true" || e.Detail["sessionId"] != "" {
			t.Errorf("recorded %v", e.Detail)
		}
	}
}

// A passkey that was only touched is one factor.
func TestTouchedPasskeyAtThePasskeyEndpoints(t *testing.T) {
	w := newTestApp(t)
	w.enrol("ada")
	begun := w.startPasskey()
	a := w.sign(begun.Options, passkeytest.NoUV)
	var out struct{ Assertion string }
	w.post("/auth/passkey/finish", map[string]any{"sessionToken": begun.SessionToken, "publicKeyCredential": map[string]any{
		"id": a.ID, "type": "public-key", "response": map[string]string{"clientDataJSON": a.ClientDataJSON,
			"authenticatorData": a.AuthenticatorData, "signature": a.Signature, "userHandle": a.UserHandle}}}, &out)
	if claims := w.claimsOf(out.Assertion); claims.ACR != schemas.ACRPhishingResistant {
		t.Errorf("the class is %s", claims.ACR)
	}
}
