package main

import (
	"testing"

	"github.com/postern-id/postern/schemas"
)

// emailChangeTest has a server that sends mail, and an application with the built-in flow.
type emailChangeTest struct {
	*testApp
	box        *mailbox
	token, app string
}

func onEmailChanges(t *testing.T, test func(t *testing.T, w *emailChangeTest)) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		w := &emailChangeTest{}
		w.testApp, w.box = newMailTest(t, environ...)
		w.token = w.admin()
		w.app = w.application(w.token, "Change your address", "authFlowId", "change-address")
		test(t, w)
	})
}

// person creates a user with a verified address and a password.
func (w *emailChangeTest) person(name string) (id string) {
	return w.made(w.token, "/users", `{"type": "Person", "attributes": {"username": "`+name+`", "password": "wheel of forty cogs", "email": "`+
		name+`@example.org", "email_verified": true}}`)
}

// signedIn starts a run and signs in with the password.
func (w *emailChangeTest) signedIn(name string) schemas.Step {
	w.t.Helper()
	s := w.answer(w.begin(w.app, "AUTHENTICATION"), "password", nil)
	s = w.answer(s, "continue", map[string]string{"username": name, "password": "wheel of forty cogs"})
	if s.StepID != "address" {
		w.t.Fatalf("the run is at %+v", s)
	}
	return s
}

// enter asks for a code at an address and enters it.
func (w *emailChangeTest) enter(s schemas.Step, address string) schemas.Step {
	w.t.Helper()
	s = w.answer(s, "submit", map[string]string{"newEmail": address})
	return w.answer(s, "submit", map[string]string{"code": w.box.code(w.t)})
}

// A password and a code at the new address change it, and the previous address gets a notice.
func TestEmailChange(t *testing.T) {
	onEmailChanges(t, func(t *testing.T, w *emailChangeTest) {
		ada := w.person("ada")
		if s := w.enter(w.signedIn("ada"), "ada@example.com"); s.FlowStatus != schemas.Complete || s.Assertion == "" {
			t.Fatalf("the run ends with %+v", s)
		}
		found, err := w.store.UserByAttribute(t.Context(), "", "email", "ada@example.com")
		if err != nil || found.ID != ada || !found.Verified(schemas.EmailVerified) {
			t.Errorf("the new address is of %+v, %v", found, err)
		}
		if _, err := w.store.UserByAttribute(t.Context(), "", "email", "ada@example.org"); !schemas.HasCode(err, schemas.CodeUserNotFound) {
			t.Errorf("the previous address still finds a user: %v", err)
		}
		for action, want := range map[string]int{"email_code.sent": 1, "email_code.used": 1, "user.updated": 1, schemas.EmailChanged: 1} {
			if n := w.countEvents(action, ada); n != want {
				t.Errorf("%d events %s, want %d", n, action, want)
			}
		}
	})
}

// Only a user who reads the mail of an address learns that another account has it, which keeps it.
func TestEmailChangeToTheAddressOfAnother(t *testing.T) {
	onEmailChanges(t, func(t *testing.T, w *emailChangeTest) {
		ada, eve := w.person("ada"), w.person("eve")
		s := w.answer(w.signedIn("eve"), "submit", map[string]string{"newEmail": "ada@example.org"})
		code := w.box.code(t)
		free := w.answer(w.signedIn("eve"), "submit", map[string]string{"newEmail": "free@example.org"})
		if s.StepID != free.StepID || s.Error != nil || free.Error != nil || len(s.Data.FieldErrors)+len(free.Data.FieldErrors) > 0 {
			t.Errorf("the replies differ: %+v, %+v", s, free)
		}
		s = w.answer(s, "submit", map[string]string{"code": code})
		if s.StepID != "address" || len(s.Data.FieldErrors) != 1 || s.Data.FieldErrors[0].Identifier != "newEmail" {
			t.Errorf("the address of another: %+v", s)
		}
		for id, address := range map[string]string{ada: "ada@example.org", eve: "eve@example.org"} {
			if u, err := w.store.User(t.Context(), id); err != nil || u.Identifier("email") != address {
				t.Errorf("the user %+v, %v; want the address %s", u, err, address)
			}
		}
	})
}
