package main

import (
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// administrator is an administrator with a verified address and a password.
func (w *emailChangeTest) administrator(name string, permissions string) (id string) {
	id = w.person(name)
	w.made(w.token, "/roles", `{"name":"`+name+`","permissions":["`+permissions+`"],"assignments":[{"type":"user","id":"`+id+`"}]}`)
	return id
}

// losePasskey gives a user a passkey that counts in full, and removes it.
func (w *emailChangeTest) losePasskey(userID string) {
	key := schemas.Credential{ID: schemas.Bytes("key of " + userID), UserID: userID, Name: "Lost", RPID: "localhost", PublicKey: schemas.Bytes{1}, Algorithm: -7, CreatedAt: time.Now()}
	w.apply(schemas.CreateCredential{Credential: key})
	w.apply(schemas.DeleteCredential{UserID: userID, ID: key.ID, At: time.Now()})
}

// recover answers the built-in flow for a forgotten password until it asks for a new one.
func (w *emailChangeTest) recover(application, name string) schemas.Step {
	w.t.Helper()
	s := w.answer(w.begin(application, "RECOVERY"), "continue", map[string]string{"username": name})
	return w.answer(s, "submit", map[string]string{"code": w.box.code(w.t)})
}

// Flows change the account of an administrator only after a proof that suffices, and end at the node
// otherwise.
func TestFlowsChangeNoAdministrator(t *testing.T) {
	onEmailChanges(t, func(t *testing.T, w *emailChangeTest) {
		never, lost, partial := w.administrator("never", "system"), w.administrator("lost", "system"), w.administrator("partial", "system:users:write")
		w.losePasskey(lost)
		w.losePasskey(partial)
		w.person("plain")
		recovery := w.application(w.token, "Recovery", "recoveryFlowId", "forgotten-password")
		changes := func(name string) schemas.Step {
			s := w.answer(w.begin(w.app, "AUTHENTICATION"), "password", nil)
			return w.answer(s, "continue", map[string]string{"username": name, "password": "wheel of forty cogs"})
		}
		recovers := func(name string) schemas.Step { return w.recover(recovery, name) }
		for _, tt := range []struct {
			what, name string
			run        func(string) schemas.Step
			step       string // "" if the flow ends there
		}{
			{"a password changes the address", "plain", changes, "address"},
			{"a password changes the address", "never", changes, "address"},
			{"a password changes the address", "lost", changes, ""},
			{"a password changes the address", "partial", changes, ""},
			{"a mailed code sets the password", "plain", recovers, "secret"},
			{"a mailed code sets the password", "never", recovers, ""},
			{"a mailed code sets the password", "lost", recovers, ""},
			{"a mailed code sets the password", "partial", recovers, ""},
		} {
			s := tt.run(tt.name)
			ended := s.FlowStatus == schemas.Failed && schemas.HasCode(s.Error, schemas.CodeStaleProof)
			if ended != (tt.step == "") || !ended && s.StepID != tt.step {
				t.Errorf("%s of %s: %+v", tt.what, tt.name, s)
			}
		}
		for _, id := range []string{never, lost, partial} {
			if n := w.countEvents("password.set", id); n != 1 {
				t.Errorf("the password of %s was set %d times", id, n)
			}
		}
	})
}

// The passkey that an administrator adds with a link of the operator replaces the others, which may be
// stolen, if the flow says so.
func TestEnrolmentLinkReplacesPasskeys(t *testing.T) {
	onEmailChanges(t, func(t *testing.T, w *emailChangeTest) {
		admin := w.administrator("boss", "system")
		flow := func(handle, with string) string {
			return w.made(w.token, "/flows", `{"handle":"`+handle+`","name":"`+handle+`","flowType":"AUTHENTICATION","waive":[{"rule":"chain","node":"key","reason":"the operator has issued the link"}],"nodes":[
				{"id":"link","use":"invitation","next":"key"},
				{"id":"key","use":"passkey-register","with":`+with+`,"next":{"success":"done"}},
				{"id":"done","use":"authorization-code"}]}`)
		}
		for _, tt := range []struct {
			handle, with string
			keys         int
		}{{"add", `{}`, 2}, {"replace", `{"removeOthers":true}`, 1}} {
			lost := schemas.Credential{ID: schemas.Bytes("lost " + tt.handle), UserID: admin, Name: "Lost", RPID: "localhost", PublicKey: schemas.Bytes{1}, Algorithm: -7, CreatedAt: time.Now()}
			w.apply(schemas.CreateCredential{Credential: lost})
			app := w.made(w.token, "/applications", `{"name":"`+tt.handle+`","invitationFlowId":"`+flow(tt.handle, tt.with)+`"}`)
			w.device = passkeytest.New()
			link, _, err := w.directory.LinkForEnrolment(t.Context(), directory.SystemCall(), admin, app)
			if err != nil {
				t.Fatal(err)
			}
			_, token, _ := strings.Cut(link, "#")
			if s := w.register(w.answer(w.begin(app, "INVITATION"), "submit", map[string]string{"invitation": token})); s.FlowStatus != schemas.Complete {
				t.Fatalf("%s: the run ends with %+v", tt.handle, s)
			}
			keys, err := w.store.Credentials(t.Context(), admin)
			if err != nil || len(keys) != tt.keys {
				t.Errorf("%s: the passkeys are %+v, %v", tt.handle, keys, err)
			}
			if s := w.answer(w.begin(app, "INVITATION"), "submit", map[string]string{"invitation": token}); s.StepID != "link" {
				t.Errorf("%s: the link once more: %+v", tt.handle, s)
			}
		}
		if n := w.countEvents("passkey.deleted", admin); n != 3 {
			t.Errorf("%d passkeys were removed, expected the lost ones and that of the first link", n)
		}
	})
}

// An administrator who has lost the passkey adds one with a link of the operator, and nothing else.
func TestEnrolmentLinkOfTheOperator(t *testing.T) {
	onEmailChanges(t, func(t *testing.T, w *emailChangeTest) {
		lost, plain := w.administrator("lost", "system"), w.person("plain")
		w.losePasskey(lost)
		issue := func(user string) (token string, err error) {
			link, _, err := w.directory.LinkForEnrolment(t.Context(), directory.SystemCall(), user, bootstrap.ConsoleID)
			_, token, _ = strings.Cut(link, "#")
			return token, err
		}
		if _, err := issue(plain); !schemas.HasClass(err, schemas.Conflict) {
			t.Errorf("a link for a user without permissions: %v", err)
		}
		accept := func(token string) schemas.Step {
			return w.answer(w.begin(bootstrap.ConsoleID, "INVITATION"), "submit", map[string]string{"invitation": token})
		}
		void, err := issue(lost)
		if err != nil {
			t.Fatal(err)
		}
		token, err := issue(lost)
		if err != nil {
			t.Fatal(err)
		}
		if s := accept(void); s.StepID != "link" {
			t.Errorf("a replaced link: %+v", s)
		}
		if s := w.answer(accept(token), "skip", nil); s.FlowStatus != schemas.Failed || !schemas.HasCode(s.Error, schemas.CodeStaleProof) {
			t.Errorf("a password with the link: %+v", s)
		}
		s := accept(token)
		w.register(s)
		keys, err := w.store.Credentials(t.Context(), lost)
		if err != nil || len(keys) != 1 || !keys[0].AddedBy.IsZero() {
			t.Fatalf("the passkeys are %+v, %v", keys, err)
		}
		if s := accept(token); s.StepID != "link" {
			t.Errorf("the link once more: %+v", s)
		}
		for action, want := range map[string]int{"enrolment.issued": 2, "enrolment.accepted": 2, "passkey.registered": 1} {
			if n := w.countEvents(action, lost); n != want {
				t.Errorf("%d events %s, want %d", n, action, want)
			}
		}
	})
}
