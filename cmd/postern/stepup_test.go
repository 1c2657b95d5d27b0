package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// Administrators need a passkey where a password is enough for others. A role counts from the moment
// at which it is assigned, and until it is removed.
func TestStepUpForAdministrators(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		token := w.admin()
		app := w.shop(token, "step_up_for_administrators.yaml")
		w.enrol("ada")
		ada := w.userNamed("ada")
		w.put("/users/"+ada, `{"type":"Person","attributes":{"username":"ada","password":"wheel of forty cogs"}}`, token)
		signIn := func(want string) schemas.Step {
			t.Helper()
			s := w.answer(w.begin(app, "AUTHENTICATION"), "continue", map[string]string{"username": "ada", "password": "wheel of forty cogs"})
			if got := string(s.FlowStatus) + " " + s.StepID; got != want {
				t.Fatalf("got %s, want %s: %s", got, want, s.FailureReason)
			}
			return s
		}
		const asksForPasskey, signedIn = "INCOMPLETE key", "COMPLETE "
		signIn(signedIn)

		assignee := fmt.Sprintf(`[{"type":"user","id":%q}]`, ada)
		owner := w.made(token, "/roles", `{"name":"owner","permissions":["system"],"assignments":`+assignee+`}`)
		w.put("/roles/"+owner, `{"name":"owner","permissions":["system"],"assignments":[]}`, token)
		signIn(signedIn)
		w.put("/roles/"+owner, `{"name":"owner","permissions":["system"],"assignments":`+assignee+`}`, token)
		if s := w.authenticate(signIn(asksForPasskey)); s.FlowStatus != schemas.Complete {
			t.Errorf("with the passkey: %+v", s)
		}
		w.put("/roles/"+owner, `{"name":"owner","permissions":["system"],"assignments":[]}`, token)
		signIn(signedIn)

		nested := w.made(token, "/groups", `{"name":"On call","members":`+assignee+`}`)
		auditor := w.made(token, "/roles", `{"name":"auditor","permissions":[],"assignments":[{"type":"group","id":"`+nested+`"}]}`)
		signIn(asksForPasskey)
		w.put("/roles/"+auditor, `{"name":"auditor","permissions":[],"assignments":[]}`, token)
		signIn(signedIn)
		rec := w.call(http.MethodPut, "/groups/"+bootstrap.AdministratorsID+"/members/group/"+nested, token, "")
		if rec.Code >= 300 {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		signIn(asksForPasskey)
	})
}

// knownBrowserFlow asks in browsers that the user has not signed in with before.
const knownBrowserFlow = `{"handle":"known-browser","name":"Known browser","flowType":"AUTHENTICATION","nodes":[
	{"id":"who","use":"prompt","with":{"inputs":[{"identifier":"username","type":"TEXT_INPUT","required":true},
		{"identifier":"password","type":"PASSWORD_INPUT","required":true}],"actions":[{"ref":"continue"}]},"next":"find"},
	{"id":"find","use":"user-resolve","with":{"by":["username"],"from":"username","conceal":true},"next":"check"},
	{"id":"check","use":"password-authenticate","next":{"success":"known","failure":"who"}},
	{"id":"known","use":"decision","with":{"cases":[{"when":"!user.knowsBrowser(\"password\")","outcome":"ask"}]},"next":{"ask":"ask","otherwise":"done"}},
	{"id":"ask","use":"prompt","with":{"title":"A new browser","actions":[{"ref":"go"}]},"next":"done"},
	{"id":"done","use":"authorization-code"}]}`

// A browser is known by the cookie that the server set when the user signed in with it. The cookie of
// another user does not count, nor does a request without one.
func TestDecisionOnAKnownBrowser(t *testing.T) {
	w := newGuessingTest(t)
	token := w.admin()
	app := w.application(token, "Shop", "authFlowId", w.made(token, "/flows", knownBrowserFlow))
	for _, name := range []string{"ada", "bob"} {
		w.made(token, "/users", `{"type":"Person","attributes":{"username":"`+name+`","password":"wheel of forty cogs"}}`)
	}
	send := func(body map[string]any, cookie *http.Cookie) (s schemas.Step, rec *httptest.ResponseRecorder) {
		t.Helper()
		text := datatest.Marshal(t, body)
		rec = w.from("192.0.2.1", newRequest(http.MethodPost, "/flow/execute", string(text), jsonBody), cookie)
		if err := json.Unmarshal(rec.Body.Bytes(), &s); err != nil || rec.Code != http.StatusOK {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		return s, rec
	}
	signIn := func(name string, cookie *http.Cookie) (asked bool, set *http.Cookie) {
		t.Helper()
		s, _ := send(map[string]any{"applicationId": app, "flowType": "AUTHENTICATION"}, cookie)
		answer := func(action string, inputs map[string]string) (rec *httptest.ResponseRecorder) {
			t.Helper()
			s, rec = send(map[string]any{"executionId": s.ExecutionID, "challengeToken": s.ChallengeToken, "action": action, "inputs": inputs}, cookie)
			return rec
		}
		rec := answer("continue", map[string]string{"username": name, "password": "wheel of forty cogs"})
		if asked = s.StepID == "ask"; asked {
			rec = answer("go", nil)
		}
		if s.FlowStatus != schemas.Complete {
			t.Fatalf("%s: %+v", name, s)
		}
		for _, c := range rec.Result().Cookies() {
			set = c
		}
		return asked, set
	}
	asked, device := signIn("ada", nil)
	if !asked || device == nil {
		t.Fatalf("the first sign-in: asked %v, cookie %v", asked, device)
	}
	for _, test := range []struct {
		what, name string
		cookie     *http.Cookie
		asked      bool
	}{
		{"the same browser", "ada", device, false},
		{"no cookie", "ada", nil, true},
		{"a forged cookie", "ada", &http.Cookie{Name: device.Name, Value: device.Value[:len(device.Value)-4] + "AAAA"}, true},
		{"another user", "bob", device, true},
	} {
		if asked, _ := signIn(test.name, test.cookie); asked != test.asked {
			t.Errorf("%s: asked %v, want %v", test.what, asked, test.asked)
		}
	}
}

// failingFlow has a condition without a value for most names.
const failingFlow = `{"handle":"failing","name":"Failing","flowType":"AUTHENTICATION","nodes":[
	{"id":"who","use":"prompt","with":{"inputs":[{"identifier":"username","type":"TEXT_INPUT","required":true}],"actions":[{"ref":"continue"}]},"next":"choose"},
	{"id":"choose","use":"decision","with":{"cases":[{"when":"int(inputs.username) > 5","outcome":"high"}]},"next":{"high":"key","otherwise":"key"}},
	{"id":"key","use":"passkey-authenticate","next":"done"},
	{"id":"done","use":"authorization-code"}]}`

// A condition without a value ends the run with 200, and leaves an event and no way to continue.
func TestFailingConditionOverHTTP(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		token := w.admin()
		app := w.application(token, "Shop", "authFlowId", w.made(token, "/flows", failingFlow))
		if s := w.answer(w.begin(app, "AUTHENTICATION"), "continue", map[string]string{"username": "7"}); s.StepID != "key" {
			t.Fatalf("a number: %+v", s)
		}
		run := w.begin(app, "AUTHENTICATION")
		s := w.answer(run, "continue", map[string]string{"username": "private"})
		if s.FlowStatus != schemas.Failed || !schemas.HasCode(s.Error, schemas.CodeExpressionFailed) || s.Assertion != "" {
			t.Errorf("got %+v", s)
		}
		events := w.eventsOf("flow.failed")
		if len(events) != 1 {
			t.Fatalf("the events are %+v", events)
		}
		text := fmt.Sprint(events[0].Detail)
		if events[0].Detail["node"] != "choose" || events[0].Detail["flow"] != "failing" || !strings.Contains(text, "case 1") || strings.Contains(text, "private") {
			t.Errorf("the event is %+v", events[0])
		}
		w.findsNoRun(run)
	})
}
