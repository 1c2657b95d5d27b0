package main

import (
	"testing"

	"github.com/postern-id/postern/schemas"
)

// A run that started with a weaker flow does not complete once a stronger one is published or
// assigned, and a new run needs what that guarantees.
func TestRunsOfReplacedFlows(t *testing.T) {
	const password = "wheel of forty cogs"
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		admin := w.admin()
		w.enrol("ada")
		w.put("/users/"+w.userNamed("ada"), `{"type":"Person","attributes":{"username":"ada","password":"`+password+`"}}`, admin)
		both := "  - {id: first, use: passkey-authenticate, with: {mode: usernameless, alternatives: [{ref: password, label: Password}]}, next: {success: done, password: who, failure: who}}\n" + onlyPasswords
		for name, replace := range map[string]func(app, flow string){
			"published": func(_, flow string) { w.put("/flows/"+flow, flowBody(t, "published", onlyPasskeys, ""), admin) },
			"assigned":  func(app, _ string) { w.assignFlow(app, "passkey-sign-in") },
		} {
			flow := w.made(admin, "/flows", flowBody(t, name, both, ""))
			app := w.application(admin, "Shop "+name, "authFlowId", flow)
			waiting, other := w.answer(w.signInTo(app), "password", nil), w.signInTo(app)
			waiting = w.answer(waiting, "continue", map[string]string{"username": "ada"})
			replace(app, flow)
			if s := w.answer(waiting, "submit", map[string]string{"password": password}); s.FlowStatus != schemas.Failed || s.Assertion != "" || s.Error == nil || s.Error.Code != schemas.CodeFlowChanged {
				t.Errorf("%s: the run with a password came to %+v", name, s)
			}
			if s := w.authenticate(other); s.FlowStatus != schemas.Complete || s.Assertion == "" {
				t.Errorf("%s: the run with a passkey came to %+v", name, s)
			}
			if s := w.authenticate(w.signInTo(app)); s.FlowStatus != schemas.Complete {
				t.Errorf("%s: a new run came to %+v", name, s)
			}
		}
	})
}
