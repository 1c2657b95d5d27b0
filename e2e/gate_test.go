package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

func TestGateSignsUpAndIn(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	g.signUp("ada")
	if text := eval[string](g.tab, `document.querySelector(".lead").textContent`); text != "ada" {
		t.Errorf("the account is that of %q", text)
	}
	g.click("sign-out")
	g.shows("signedout")

	// An authenticator that is present at once answers the waiting autofill.
	g.visit("signin")
	g.shows("account")
	g.click("sign-out")
	g.shows("signedout")

	// The button ends the waiting autofill; a canceled dialog leaves the step unchanged.
	g.present(false)
	g.visit("signin")
	g.shows("step/autofill")
	if got := g.focused(); got != "field-username" {
		t.Errorf("the focus is on %q, want the field that offers passkeys", got)
	}
	g.click("action-passkey")
	g.until(`document.getElementById("elsewhere").textContent === "Cancel"`)
	g.do(clickNow("elsewhere"))
	g.alerted("Canceled")
	g.present(true)
	g.until(`(document.getElementById("action-passkey")?.click(), true)`) // gone if the waiting autofill noticed
	g.shows("account")
}

// In a browser without autofill for passkeys the buttons work.
func TestGateSignsInByButton(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	g.beforeScripts(`PublicKeyCredential.isConditionalMediationAvailable = undefined`)
	g.signUp("mary")
	for _, button := range []string{"action-passkey", "elsewhere"} {
		g.click("sign-out")
		g.shows("signedout")
		g.visit("signin")
		g.shows("step/autofill")
		if n := eval[int](g.tab, `document.querySelectorAll("#view input").length`); n != 0 {
			t.Errorf("there are %d fields, though nothing can be offered in them", n)
		}
		g.click(button)
		g.shows("account")
	}
}

// A browser without parseRequestOptionsFromJSON and toJSON works too.
func TestGateInOlderBrowsers(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	g.beforeScripts(`
		delete PublicKeyCredential.parseRequestOptionsFromJSON;
		delete PublicKeyCredential.parseCreationOptionsFromJSON;
		delete PublicKeyCredential.prototype.toJSON;
		delete PublicKeyCredential.signalUnknownCredential;
		PublicKeyCredential.isConditionalMediationAvailable = undefined;`)
	g.signUp("grace")
	g.click("sign-out")
	g.shows("signedout")
	g.visit("signin")
	g.click("action-passkey")
	g.shows("account")
}

func TestGateSignsInByPassword(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	g.present(false)
	g.open(p.base + "/gate")
	g.shows("step/key")
	g.enter("username", "admin")
	g.do(chromedp.SendKeys(chromedp.ID("field-username"), "\r")) // Enter submits without a dialog
	g.shows("step/who")
	if got := eval[string](g.tab, `document.getElementById("field-username").value`); got != "admin" {
		t.Errorf("the name typed before is %q in the next step, want it carried over", got)
	}
	if got := g.focused(); got != "field-password" {
		t.Errorf("the focus is on %q, want the first field that is empty", got)
	}
	g.enter("password", "not this one")
	g.click("action-continue")
	g.alerted("Incorrect")
	if got := g.focused(); got != "field-password" {
		t.Errorf("after an error the focus is on %q, want the field to fill in", got)
	}
	if got := eval[string](g.tab, `document.getElementById("field-password").value`); got != "" {
		t.Error("the wrong password is still there")
	}
	if got := eval[string](g.tab, `document.activeElement.getAttribute("aria-describedby")`); got != "alert" {
		t.Errorf("the field is described by %q, want what went wrong", got)
	}
	g.enter("password", adminPassword)
	g.click("action-continue")
	g.shows("account")
	if url := eval[string](g.tab, `location.href`); strings.Contains(url, "executionId") {
		t.Errorf("the run that is over is still in the address: %s", url)
	}
}

func TestGateShowsErrorsAtTheFields(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	g.visit("signup", "lang=fr")
	g.shows("step/who")
	g.enter("email", "not an address")
	g.click("action-continue")
	g.until(`document.querySelectorAll("[aria-invalid]").length === 2`)
	if got := g.focused(); got != "field-username" {
		t.Errorf("the focus is on %q, want the first field that is wrong", got)
	}
	for id, want := range map[string]string{"username": "Ce champ est obligatoire.", "email": "Saisissez une adresse"} {
		got := eval[string](g.tab, fmt.Sprintf(`document.getElementById(document.getElementById("field-%s").getAttribute("aria-describedby")).textContent`, id))
		if !strings.Contains(got, want) {
			t.Errorf("the field %s is described by %q, want %q", id, got, want)
		}
	}
	if got := eval[string](g.tab, `document.getElementById("field-email").value`); got != "not an address" {
		t.Errorf("what was typed is %q", got)
	}
}

func TestGateResumesItsRun(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	g.present(false)
	g.visit("signin")
	g.shows("step/autofill")
	g.click("action-username")
	g.shows("step/who")
	run := eval[string](g.tab, `new URLSearchParams(location.search).get("executionId")`)

	g.do(chromedp.Reload())
	g.shows("step/who")
	if got := eval[string](g.tab, `new URLSearchParams(location.search).get("executionId")`); got != run {
		t.Errorf("after a reload the run is %s, want %s", got, run)
	}

	// Back from another page, also to a page in the browser's cache.
	g.open(p.base + "/gate/signedout")
	g.shows("signedout")
	before := g.countRequests("/flow/execute")
	eval[any](g.tab, `void setTimeout(() => history.back())`) // does not wait for a load: there may be none
	eventually(t, "the page asks for its step", func() bool { return g.countRequests("/flow/execute") > before })
	g.shows("step/who")

	// Another tab was faster.
	if _, err := p.execute(object{"executionId": run, "action": "usernameless", "inputs": object{}}); err != nil {
		t.Fatal(err)
	}
	eval[any](g.tab, `document.getElementById("field-username").value = "ada"; document.getElementById("action-continue").click()`)
	g.alerted("continued elsewhere")
	g.shows("step/autofill")

	// A run that no longer exists is started again.
	g.visit("signin", "executionId=01900000-0000-7000-8000-0000000000ff")
	g.alerted("we started again")
	g.shows("step/autofill")
}

// An old challenge is renewed before it is used: the page cannot know the age of the
// challenge of a resumed run.
func TestGateRenewsExpiredChallenges(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	g.beforeScripts(`PublicKeyCredential.isConditionalMediationAvailable = undefined`)
	g.signUp("lin")
	g.click("sign-out")
	g.shows("signedout")
	begun, err := p.begin("AUTHENTICATION")
	if err != nil {
		t.Fatal(err)
	}
	before := g.countRequests("/flow/execute")
	g.visit("signin", "executionId="+begun.ExecutionID)
	g.shows("step/autofill")
	g.click("action-passkey")
	g.shows("account")
	// Resumed, renewed, answered.
	if n := g.countRequests("/flow/execute") - before; n != 3 {
		t.Errorf("the run took %d requests, want 3", n)
	}
}

func TestGateAccount(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	g.signUp("noor")
	rows := func(want int) {
		t.Helper()
		g.until(fmt.Sprintf(`document.querySelectorAll("[id^=Rename-]").length === %d && !document.querySelector("[aria-busy]")`, want))
	}
	first := `document.querySelector("[id^=Rename-]").click()`
	rows(1)

	// The last sign-in method cannot be deleted.
	eval[any](g.tab, `document.querySelector("[id^=Delete-]").click()`)
	g.do(chromedp.Click(chromedp.ID("sure")))
	g.alerted("only way to sign in")

	g.click("add")
	g.alerted("already has a passkey")

	g.present(false)
	g.addAuthenticator(webauthn.AuthenticatorTransportUsb)
	g.click("add")
	g.alerted("Added")
	rows(2)

	eval[any](g.tab, first)
	g.do(chromedp.Click(chromedp.ID("cancel")))
	g.until(`!document.querySelector("dialog")`)
	eval[any](g.tab, first)
	if got := g.focused(); got != "new-name" {
		t.Errorf("the focus is on %q, want the new name", got)
	}
	const markup = `<b>Blue</b> key`
	g.do(typeInto("new-name", markup), chromedp.Click(chromedp.ID("sure")))
	g.alerted("Done")
	g.until(fmt.Sprintf(`document.querySelector("li strong").textContent === %q`, markup))

	g.beforeScripts(`window.disowned = []; PublicKeyCredential.signalUnknownCredential = async (o) => { window.disowned.push(o); }`)
	g.do(chromedp.Reload()) // the session survives a reload
	g.shows("account")
	id := eval[string](g.tab, `document.querySelector("[id^=Delete-]").id`)
	g.click(id)
	g.do(chromedp.Click(chromedp.ID("sure")))
	g.alerted("Deleted: " + markup)
	rows(1)
	if got := eval[string](g.tab, `window.disowned.map((o) => o.rpId + " " + o.credentialId).join()`); got != "localhost "+strings.TrimPrefix(id, "Delete-") {
		t.Errorf("the browser was notified of %q, want the passkey %s", got, id)
	}
}

func TestGateEndsSessions(t *testing.T) {
	t.Parallel()
	p := serve(t)
	here, there := openGate(t, p), openGate(t, p)
	for _, g := range []*gateTab{here, there} {
		g.present(false)
		g.open(p.base + "/gate/signin")
		g.click("action-password")
		g.shows("step/who")
		g.enter("username", "admin")
		g.enter("password", adminPassword)
		g.click("action-continue")
		g.shows("account")
	}
	here.do(chromedp.Reload())
	here.shows("account")
	if got := eval[string](here.tab, `document.querySelector("#sessions ~ ul").textContent`); !strings.Contains(got, "Chrome") || !strings.Contains(got, "This browser") {
		t.Errorf("the sessions are listed as %q", got)
	}
	here.click("others")
	here.do(chromedp.Click(chromedp.ID("sure")))
	here.alerted("Done")
	here.until(`!document.getElementById("others")`)

	// A user who was signed out is asked to sign in at the next action.
	there.do(chromedp.Reload())
	there.shows("step/key")
}
