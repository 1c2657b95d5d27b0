package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// A flow that replaces a password shows what the former one alone has added, also an address that a flow has
// changed with it, and does not accept the current password.
func TestFlowsShowWhatAFormerPasswordAdded(t *testing.T) {
	onEmailChanges(t, func(t *testing.T, w *emailChangeTest) {
		user := w.person("ada")
		if s := w.enter(w.signedIn("ada"), "thief@example.com"); s.FlowStatus != schemas.Complete {
			t.Fatalf("the run ends with %+v", s)
		}
		password, err := w.store.Password(t.Context(), user)
		if err != nil {
			t.Fatal(err)
		}
		by := schemas.Provenance{ACR: schemas.ACRPassword, Methods: []string{"pwd"}, Proofs: []schemas.Proof{{Kind: schemas.PasswordProof, Of: password.ID}}}
		w.apply(schemas.CreateCredential{Credential: schemas.Credential{ID: schemas.Bytes("key"), UserID: user, Name: "Theirs", RPID: "localhost", PublicKey: schemas.Bytes{1}, Algorithm: -7, CreatedAt: time.Now(), AddedBy: by}})
		recovery := w.application(w.token, "Recovery", "recoveryFlowId", "forgotten-password")
		s := w.answer(w.begin(recovery, "RECOVERY"), "continue", map[string]string{"username": "ada"})
		code := regexp.MustCompile(`(?m)^    ([0-9]{6})\r$`)
		var found []string
		for found == nil { // notices come before it
			found = code.FindStringSubmatch(<-w.box.mails)
		}
		s = w.answer(s, "submit", map[string]string{"code": found[1]})
		s = w.answer(s, "submit", map[string]string{"password": "wheel of forty cogs"})
		if s.StepID != "secret" || len(s.Data.FieldErrors) != 1 || !strings.HasPrefix(s.Data.FieldErrors[0].Message, "This is your current password.") {
			t.Errorf("the current password: %+v", s)
		}
		s = w.answer(s, "submit", map[string]string{"password": "a heron by the quarry"})
		// The user has just confirmed the address with the code.
		if added := s.Data.AdditionalData["addedWithFormerPassword"]; s.FlowStatus != schemas.Complete || !strings.Contains(added, `"name":"Theirs"`) || strings.Contains(added, `"email"`) {
			t.Errorf("the run ends with %+v", s)
		}
		// It counts as added with the new password from then on.
		rec := w.call(http.MethodPatch, "/users/"+user, w.token, `{"attributes":{"password":"a kettle in the orchard"}}`)
		if got := rec.Body.String(); rec.Code != http.StatusOK || !strings.Contains(got, `"addedWithFormerPassword"`) || !strings.Contains(got, `"type":"email"`) || !strings.Contains(got, `"name":"Theirs"`) {
			t.Errorf("%d %s", rec.Code, got)
		}
	})
}
