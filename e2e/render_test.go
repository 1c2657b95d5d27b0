package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// allActions is a step with every kind of component, as a future node might produce it.
const allActions = `{
  "executionId": "run", "flowStatus": "INCOMPLETE", "type": "VIEW", "stepId": "everything", "challengeToken": "token-1",
  "error": {"code": "too_bad", "message": {"defaultValue": "Too bad"}, "description": {"defaultValue": "That did not <b>work</b>."}},
  "data": {
    "inputs": [{"ref": "input_pin", "identifier": "pin", "type": "OTP_INPUT", "required": true}],
    "fieldErrors": [{"identifier": "email", "message": "Enter an <i>address</i>."}],
    "meta": {"components": [
      {"id": "t", "type": "TEXT", "label": "All of <it>", "variant": "HEADING_2"},
      {"id": "u", "type": "TEXT", "label": "A second heading", "variant": "HEADING_3"},
      {"id": "r", "type": "RICH_TEXT", "label": "<a href='javascript:alert(1)'>rich</a>"},
      {"id": "d", "type": "DIVIDER"},
      {"id": "i", "type": "IMAGE", "label": "A picture"},
      {"id": "x", "type": "HOLOGRAM", "label": "Unknown, but it says this"},
      {"id": "form", "type": "BLOCK", "components": [
        {"id": "input_text", "type": "TEXT_INPUT", "ref": "text", "label": "Text", "required": true, "placeholder": "anything"},
        {"id": "input_email", "type": "EMAIL_INPUT", "ref": "email", "label": "Email", "autocomplete": "email"},
        {"id": "input_password", "type": "PASSWORD_INPUT", "ref": "password", "label": "Password"},
        {"id": "input_pin", "type": "OTP_INPUT", "ref": "pin", "label": "Code", "required": true},
        {"id": "stack", "type": "STACK", "components": [
          {"id": "input_phone", "type": "PHONE_INPUT", "ref": "phone", "label": "Phone"},
          {"id": "input_number", "type": "NUMBER_INPUT", "ref": "number", "label": "Number"},
          {"id": "input_date", "type": "DATE_INPUT", "ref": "date", "label": "Date"},
          {"id": "input_colour", "type": "SELECT", "ref": "colour", "label": "Colour", "options": ["red", "<blue>"]}
        ]},
        {"id": "go", "type": "ACTION", "label": "Go on", "variant": "PRIMARY", "eventType": "SUBMIT"},
        {"id": "other", "type": "ACTION", "label": "Another way", "variant": "SECONDARY", "eventType": "SUBMIT"}
      ]},
      {"id": "form2", "type": "BLOCK", "components": [
        {"id": "input_apart", "type": "TEXT_INPUT", "ref": "apart", "label": "Apart"},
        {"id": "alone", "type": "ACTION", "eventType": "SUBMIT"}
      ]}
    ]}
  }
}`

// scriptedServer serves the page and answers every step the same way. It sends the received
// bodies to the channel.
func scriptedServer(t *testing.T, reply string) (origin string, sent chan object) {
	t.Helper()
	sent = make(chan object, 16)
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir("../examples/try")))
	mux.HandleFunc("/config.json", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"applicationId":%q}`, tryID)
	})
	mux.HandleFunc("POST /flow/execute", func(w http.ResponseWriter, r *http.Request) {
		var body object
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		sent <- body
		fmt.Fprint(w, reply)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return strings.Replace(s.URL, "127.0.0.1", "localhost", 1), sent
}

func TestPageRendersAnyStep(t *testing.T) {
	t.Parallel()
	origin, sent := scriptedServer(t, allActions)
	b := openTab(t)
	b.open(origin)
	b.click("start-sign-up")
	b.sees("step/everything")
	if begun := <-sent; begun["applicationId"] != tryID || begun["flowType"] != "REGISTRATION" || begun["verbose"] != true {
		t.Errorf("the flow was started with %v", begun)
	}

	for expression, want := range map[string]string{
		`document.getElementById("heading").textContent`:                                                   "All of <it>",
		`document.querySelectorAll("h1").length + ""`:                                                      "1",
		`document.querySelector("h2").textContent`:                                                         "A second heading",
		`document.getElementById("text-r").textContent`:                                                    "<a href='javascript:alert(1)'>rich</a>",
		`document.querySelectorAll("#view a, #view b, #view i, #view img").length + ""`:                    "0",
		`document.getElementById("alert").textContent`:                                                     "That did not <b>work</b>.",
		`document.getElementById("error-email").textContent`:                                               "Enter an <i>address</i>.",
		`document.getElementById("field-email").getAttribute("aria-invalid")`:                              "true",
		`document.activeElement.id`:                                                                        "field-email",
		`document.getElementById("field-pin").autocomplete`:                                                "one-time-code",
		`document.getElementById("field-password").type`:                                                   "password",
		`document.getElementById("field-date").type`:                                                       "date",
		`document.getElementById("field-text").required + ""`:                                              "true",
		`document.getElementById("action-alone").textContent`:                                              "alone",
		`[...document.querySelectorAll("input, select")].filter((i) => i.labels.length !== 1).length + ""`: "0",
	} {
		if got := eval[string](b, expression); got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
	if text := b.text("view"); !strings.Contains(text, "Unknown, but it says this") {
		t.Error("a component of an unknown type is not shown as text")
	}

	for name, value := range map[string]string{"text": "some", "password": "hunter22", "pin": "123456", "phone": "+49 30 1", "number": "-3.5", "apart": "not sent"} {
		b.enter(name, value)
	}
	eval[any](b, `document.getElementById("field-date").value = "1990-12-31"; document.getElementById("field-colour").value = "<blue>"`)
	b.do(chromedp.SendKeys(chromedp.ID("field-text"), kb.Enter))
	answer := <-sent
	inputs, _ := json.Marshal(answer["inputs"])
	want, _ := json.Marshal(object{
		"text": "some", "password": "hunter22", "pin": "123456", "phone": "+49 30 1", "number": "-3.5", "date": "1990-12-31", "colour": "<blue>",
	})
	if answer["executionId"] != "run" || answer["challengeToken"] != "token-1" || answer["action"] != "go" || string(inputs) != string(want) {
		t.Errorf("Enter sent %v", answer)
	}

	// Entered values are kept after an error; secrets are not.
	b.sees("step/everything")
	kept := eval[[]string](b, `["text", "colour", "password", "pin"].map((name) => document.getElementById("field-" + name).value)`)
	if !slices.Equal(kept, []string{"some", "<blue>", "", ""}) {
		t.Errorf("the fields hold %q after an error", kept)
	}
	if log := b.text("wire-log"); strings.Contains(log, "123456") {
		t.Error("a one-time code is listed among the requests")
	}
	b.click("action-other")
	if answer := <-sent; answer["action"] != "other" {
		t.Errorf("the second button sent %v", answer)
	}
}

// Browsers without the JSON functions of WebAuthn Level 3, and password managers that
// replace the browser's functions.
func TestPageWithoutJSONFunctions(t *testing.T) {
	t.Parallel()
	p, b := serve(t), openTab(t)
	b.open(p.base + "/try/")
	b.sees("home")
	eval[any](b, `delete PublicKeyCredential.parseCreationOptionsFromJSON; delete PublicKeyCredential.parseRequestOptionsFromJSON; delete PublicKeyCredential.prototype.toJSON`)
	b.signUpHere("ada")
	b.click("sign-out")
	b.click("start-sign-in")
	b.sees("signed-in")
	b.click("sign-out")
	b.click("start-atomic")
	b.sees("signed-in")
}

// With the same run in two places, the outdated page updates itself.
func TestPageResumesItsRun(t *testing.T) {
	t.Parallel()
	p, b := serve(t), openTab(t)
	b.open(p.base + "/try/")
	b.click("start-sign-up")
	b.sees("step/who")
	run := eval[string](b, `document.getElementById("wire-log").textContent.match(/"executionId": "([^"]+)"/)[1]`)
	if _, err := p.execute(object{"executionId": run, "action": "continue", "inputs": object{"username": "elsewhere"}}); err != nil {
		t.Fatal(err)
	}
	b.enter("username", "here")
	b.click("action-continue")
	if b.expectMessage() == "" {
		t.Error("the page says nothing about the step that was overtaken")
	}
	b.sees("step/key")
	b.click("action-passkey")
	b.sees("signed-in")
	if got := b.claim("username"); got != "elsewhere" {
		t.Errorf("signed in %q, want the run's own user", got)
	}
}

// longTimers keeps the timers of more than a minute, for the test to end their time.
const longTimers = `{
	const real = setTimeout;
	window.longTimers = [];
	window.setTimeout = (run, ms, ...more) => ms > 60000 ? void longTimers.push(run) : real(run, ms, ...more);
}`

// A challenge that waits in the autofill is renewed before it expires, and entered values
// are kept.
func TestPageRenewsAnExpiredChallenge(t *testing.T) {
	t.Parallel()
	p, b := serve(t), openTab(t)
	b.beforeScripts(longTimers)
	b.signUp(p.base, "ada")
	b.click("sign-out")
	b.present(false)
	b.click("start-sign-in")
	b.sees("step/autofill")
	b.enter("username", "ad")
	for range 2 {
		b.until(`longTimers.length > 0`)
		requests := eval[int](b, `(longTimers.splice(0).at(-1)(), document.getElementById("wire-log").children.length)`)
		b.until(fmt.Sprintf(`document.getElementById("wire-log").children.length > %d`, requests))
		b.sees("step/autofill")
	}
	if got := eval[string](b, `document.activeElement.id + "=" + document.activeElement.value`); got != "field-username=ad" {
		t.Errorf("after the renewal the focus is on %s, want what was being typed", got)
	}
	b.present(true)
	b.until(`longTimers.length > 0`)
	eval[any](b, `longTimers.at(-1)()`) // the browser decides whether the ceremony before it notices the touch
	b.sees("signed-in")
}
