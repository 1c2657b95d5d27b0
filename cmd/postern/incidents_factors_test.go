package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// Factors of another user, and ways to bypass a user's factors.

// factorOfAnother adds a passkey to an account with another account's credentials.
func factorOfAnother(t *testing.T) {
	w := newTestApp(t)
	w.enrol("ada")
	tokens := map[string]string{"ada": w.authenticate(w.start(schemas.Authentication)).Assertion}
	w.device = passkeytest.New(passkeytest.NoCounter())
	w.enrol("bob")
	tokens["bob"] = w.authenticate(w.start(schemas.Authentication)).Assertion
	ids := map[string]string{}
	for name, token := range tokens {
		claims := w.claimsOf(token)
		ids[name] = claims.Subject
	}
	if status, said := w.attempt("/register/passkey/start", tokens["bob"], map[string]string{"userId": ids["ada"]}); status != http.StatusForbidden {
		t.Errorf("begun for another: %d %s", status, said)
	}
	var begun struct {
		Options      json.RawMessage `json:"publicKeyCredentialCreationOptions"`
		SessionToken string
	}
	w.send(http.StatusOK, "/register/passkey/start", tokens["ada"], `{"userId":"`+ids["ada"]+`"}`, &begun)
	made, err := passkeytest.New().Register(begun.Options, w.origin)
	if err != nil {
		t.Fatal(err)
	}
	finish := map[string]any{"sessionToken": begun.SessionToken, "publicKeyCredential": map[string]any{"id": made.ID, "type": "public-key",
		"response": map[string]string{"clientDataJSON": made.ClientDataJSON, "attestationObject": made.AttestationObject}}}
	for _, token := range []string{tokens["bob"], ""} {
		if status, said := w.attempt("/register/passkey/finish", token, finish); throughEndpoint(status, said) {
			t.Errorf("finished by another: %d %s", status, said)
		}
	}
	s := w.answer(w.start(schemas.Registration), "continue", map[string]string{"username": "ada", "userId": ids["ada"], "sub": ids["ada"]})
	if s.Data.AdditionalData["passkeyCreationOptions"] != "" {
		t.Errorf("a sign-up by a name that is taken goes on: %+v", s)
	}
}

// identifiedUserOnly writes flows that would give a passkey or a session to a caller who only
// enters a name.
func identifiedUserOnly(t *testing.T) {
	w := newTestApp(t)
	admin := w.admin()
	const who = `{"id":"who","use":"prompt","with":{"inputs":[{"identifier":"username","type":"TEXT_INPUT","required":true}],"actions":[{"ref":"go","label":"Go"}]},"next":"find"},
		{"id":"find","use":"user-resolve","with":{"by":["username"],"from":"username"},"next":{"found":%q,"missing":"who"}}`
	for name, test := range map[string]struct{ kind, first, rest, rule string }{
		"a passkey":                        {"REGISTRATION", "key", `,{"id":"key","use":"passkey-register","next":"end"}`, "takeover"},
		"a password":                       {"REGISTRATION", "set", `,{"id":"set","use":"password-set","next":"end"}`, "takeover"},
		"a session":                        {"AUTHENTICATION", "done", `,{"id":"done","use":"authorization-code"}`, "unauthenticated"},
		"a passkey for an identified user": {"AUTHENTICATION", "hi", `,{"id":"hi","use":"prompt","with":{"actions":[{"ref":"go","label":"It is me"}]},"next":"key"},{"id":"key","use":"passkey-register","next":"done"},{"id":"done","use":"authorization-code"}`, "takeover"},
	} {
		body := fmt.Sprintf(`{"handle":"x","name":"X","flowType":%q,"nodes":[%s%s]}`, test.kind, fmt.Sprintf(who, test.first), test.rest)
		w.refusesFlow(name, admin, body, test.rule)
	}
}

// refusesFlow makes sure that a rule rejects a flow.
func (w *testApp) refusesFlow(name, admin, body, rule string) {
	w.t.Helper()
	var refused schemas.Error
	if w.send(http.StatusBadRequest, "/flows", admin, body, &refused); refused.Code != schemas.CodeInvalidFlow || !strings.Contains(fmt.Sprint(refused.Errors), rule) {
		w.t.Errorf("%s: %+v", name, refused)
	}
}

// addSecondPath writes a flow that guarantees more than one of its paths establishes.
func addSecondPath(t *testing.T) {
	w := newTestApp(t)
	admin := w.admin()
	const flow = `{"handle":"x","name":"X","flowType":"AUTHENTICATION","guarantees":%s,"nodes":[{"id":"session","use":"session-check","next":{"active":%q,"none":"who"}},
		{"id":"who","use":"prompt","with":{"inputs":[{"identifier":"username","type":"TEXT_INPUT","required":true},{"identifier":"password","type":"PASSWORD_INPUT","required":true}],"actions":[{"ref":"go","label":"Go"}]},"next":"find"},
		{"id":"find","use":"user-resolve","with":{"by":["username"],"from":"username"},"next":{"found":"check","missing":"who"}},
		{"id":"check","use":"password-authenticate","next":{"success":%q,"failure":"who"}},
		{"id":"key","use":"passkey-authenticate","with":{"mode":"identified"},"next":{"success":"done","failure":"who"}},
		{"id":"done","use":"authorization-code"}]}`
	w.refusesFlow("a password alone", admin, fmt.Sprintf(flow, `{"phishingResistant":true}`, "done", "done"), "guarantee")
	var made schemas.Flow // whose session-check accepts only sessions of the same class
	w.send(http.StatusCreated, "/flows", admin, fmt.Sprintf(flow, `{"phishingResistant":true}`, "done", "key"), &made)
}
