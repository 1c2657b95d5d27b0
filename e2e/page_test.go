package e2e_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
)

// signUp signs up through the page and ends at the signed-in view.
func (p *tab) signUp(base, username string) {
	p.t.Helper()
	p.open(base + "/try/")
	p.signUpHere(username)
}

// signUpHere is signUp on the page that is open.
func (p *tab) signUpHere(username string) {
	p.t.Helper()
	p.sees("home")
	p.click("start-sign-up")
	p.sees("step/who")
	p.enter("username", username)
	p.click("action-continue")
	p.sees("step/key")
	p.click("action-passkey")
	p.sees("signed-in")
}

func TestPageSignsUpAndIn(t *testing.T) {
	t.Parallel()
	p, b := serve(t), openTab(t)
	b.open(p.base + "/try/")
	b.sees("home")
	b.click("start-sign-up")
	b.sees("step/who")
	if got := b.text("why-email"); !strings.Contains(got, "cannot recover the account") {
		t.Errorf("the hint about the email address is %q", got)
	}
	b.enter("username", "ada")
	b.enter("email", "ada@example.org")
	b.enter("given_name", "Ada")
	b.click("action-continue")
	b.sees("step/verify")
	if got := eval[string](b, `document.getElementById("mailbox").href`); got != p.base+"/try/mail" {
		t.Errorf("the link to the mailbox is %q", got)
	}
	b.enter("code", p.mailedCode("ada@example.org"))
	b.click("action-submit")
	b.sees("step/key")
	b.click("action-passkey")
	b.sees("signed-in")
	for name, want := range map[string]string{"username": "ada", "email": "ada@example.org", "given_name": "Ada"} {
		if got := b.claim(name); got != want {
			t.Errorf("after sign-up the claim %s is %q, want %q", name, got, want)
		}
	}
	if b.text("reply") == "" {
		t.Error("the page does not show the new passkey")
	}
	user := b.claim("sub")

	// An authenticator that is present at once answers the waiting autofill.
	b.click("sign-out")
	b.sees("home")
	b.click("start-sign-in")
	b.sees("signed-in")
	if got := b.claim("sub"); got != user {
		t.Errorf("autofill signed in %q, want %q", got, user)
	}
	if got := b.claim("amr"); !strings.Contains(got, "pop") {
		t.Errorf("amr is %q, want it to tell of a proof of possession", got)
	}

	// The button ends the waiting autofill; after a canceled dialog the step is shown again
	// and can be answered.
	b.click("sign-out")
	b.present(false)
	b.click("start-sign-in")
	b.sees("step/autofill")
	b.click("action-passkey")
	b.until(`!document.getElementById("cancel").hidden`)
	b.do(clickNow("cancel"))
	b.until(`document.getElementById("cancel").hidden`)
	b.sees("step/autofill")
	// The browser decides whether the waiting autofill notices the touch. The button asks
	// again, unless it is gone because the touch was noticed.
	b.present(true)
	b.until(`(document.getElementById("action-passkey")?.click(), true)`)
	b.sees("signed-in")
	if got := b.claim("sub"); got != user {
		t.Errorf("autofill signed in %q, want %q", got, user)
	}
	if text := b.console.String(); text != "" {
		t.Errorf("the console has errors:\n%s", text)
	}
	p.expectOneNewBrowser(t, user)
}

// expectOneNewBrowser fails the test unless exactly one of the user's sign-ins was in a new browser, which
// causes a mail.
func (p *postern) expectOneNewBrowser(t *testing.T, user string) {
	t.Helper()
	var log struct {
		AuditEvents []struct{ Detail map[string]string }
	}
	p.get(t, "/audit-events?action=user.signed_in&user="+user, &log)
	fresh := 0
	for _, e := range log.AuditEvents {
		if e.Detail["newBrowser"] != "" {
			fresh++
		}
	}
	if len(log.AuditEvents) != 3 || fresh != 1 {
		t.Errorf("%d of %d sign-ins were in a new browser, want one of three", fresh, len(log.AuditEvents))
	}
}

// A user without the passkey gets another one with a code by mail.
func TestPageRecovers(t *testing.T) {
	t.Parallel()
	const address = "ada@example.org"
	p, b := serve(t), openTab(t)
	b.open(p.base + "/try/")
	b.sees("home")
	b.click("start-sign-up")
	b.sees("step/who")
	b.enter("username", "ada")
	b.enter("email", address)
	b.click("action-continue")
	b.sees("step/verify")
	b.enter("code", p.mailedCode(address))
	b.click("action-submit")
	b.sees("step/key")
	b.click("action-passkey")
	b.sees("signed-in")
	user := b.claim("sub")

	lost := openTab(t) // another authenticator
	lost.open(p.base + "/try/")
	lost.sees("home")
	lost.click("start-recovery")
	lost.sees("step/who")
	lost.enter("username", "ada")
	lost.click("action-continue")
	lost.sees("step/code")
	eventually(t, "a second code arrives", func() bool { return len(p.mails(address)) == 2 })
	p.mailed(address, "(a new way to sign in to your existing account at Try it)")
	lost.enter("code", p.mailedCode(address))
	lost.click("action-submit")
	lost.sees("step/others")
	lost.click("action-keep")
	lost.sees("step/key")
	lost.click("action-passkey")
	lost.sees("signed-in")
	if got := lost.claim("sub"); got != user {
		t.Errorf("the recovered account is %q, want %q", got, user)
	}
}

// In a browser without autofill for passkeys the button works.
func TestPageSignsInByButton(t *testing.T) {
	t.Parallel()
	p, b := serve(t), openTab(t)
	b.beforeScripts(`PublicKeyCredential.isConditionalMediationAvailable = undefined`)
	b.signUp(p.base, "mary")
	b.click("sign-out")
	b.click("start-sign-in")
	b.sees("step/autofill")
	if n := eval[int](b, `document.querySelectorAll("#view input").length`); n != 0 {
		t.Errorf("there are %d fields, though nothing can be offered in them", n)
	}
	b.click("action-passkey")
	b.sees("signed-in")
	if got := b.claim("username"); got != "mary" {
		t.Errorf("signed in %q, want mary", got)
	}
}

func TestPageSignsInByUsername(t *testing.T) {
	t.Parallel()
	p, b := serve(t), openTab(t)
	b.signUp(p.base, "grace")
	b.click("sign-out")
	b.present(false)
	b.click("start-sign-in")
	b.sees("step/autofill")
	b.enter("username", "grace")
	b.click("action-username")
	b.sees("step/who")
	if got := eval[string](b, `document.getElementById("field-username").value`); got != "grace" {
		t.Errorf("the name typed before is %q in the next step, want it carried over", got)
	}
	b.click("action-continue")
	b.sees("step/key")
	b.present(true)
	b.click("action-passkey")
	b.sees("signed-in")
	if got := b.claim("username"); got != "grace" {
		t.Errorf("signed in %q, want grace", got)
	}
}

func TestPageUsesTheAtomicAPI(t *testing.T) {
	t.Parallel()
	p, b := serve(t), openTab(t)
	b.signUp(p.base, "lin")
	user := b.claim("sub")

	b.click("add-passkey")
	if text := b.expectMessage(); !strings.Contains(text, "already has a passkey") {
		t.Errorf("a second passkey on the same device: the page says %q", text)
	}

	b.present(false)
	b.addAuthenticator(webauthn.AuthenticatorTransportUsb)
	b.do(typeInto("passkey-name", "Blue key"))
	b.click("add-passkey")
	b.until(`document.getElementById("status").textContent.includes("Blue key")`)

	b.click("sign-out")
	b.sees("home")
	b.click("start-atomic")
	b.sees("signed-in")
	if got := b.claim("sub"); got != user {
		t.Errorf("the atomic API signed in %q, want %q", got, user)
	}
}

func TestPageExplainsFailuresAndRecovers(t *testing.T) {
	t.Parallel()
	p, b := serve(t), openTab(t)
	b.open(p.base + "/try/")
	b.click("start-sign-up")
	b.sees("step/who")

	b.click("action-continue")
	b.until(`document.activeElement.id === "field-username"`)
	b.sees("step/who")
	if got := eval[string](b, `document.getElementById(document.activeElement.getAttribute("aria-describedby")).textContent`); got == "" {
		t.Error("the invalid field is not described by what is wrong with it")
	}

	b.enter("username", "noor")
	b.click("action-continue")
	b.sees("step/key")
	if got := eval[string](b, `document.activeElement.id`); got != "heading" {
		t.Errorf("the focus is on %q at a new step, want its heading", got)
	}

	b.verified(false)
	b.click("action-passkey")
	if text := b.expectMessage(); !strings.Contains(text, "could not verify you") || strings.Contains(text, "NotAllowedError") {
		t.Errorf("an unverified user sees %q", text)
	}
	if got := eval[string](b, `document.activeElement.id`); got != "alert" {
		t.Errorf("the focus is on %q after an error, want the error", got)
	}

	b.verified(true)
	b.present(false)
	b.click("action-passkey")
	b.until(`!document.getElementById("cancel").hidden`)
	b.do(clickNow("cancel"))
	if text := b.expectMessage(); !strings.Contains(text, "Canceled") {
		t.Errorf("a user who cancels sees %q", text)
	}

	b.present(true)
	b.until(`(document.getElementById("action-passkey")?.click(), true)`) // gone if a waiting autofill noticed
	b.sees("signed-in")
	if got := b.claim("username"); got != "noor" {
		t.Errorf("signed in %q, want noor", got)
	}
}

// The server's text is never interpreted as markup.
func TestPageEscapesText(t *testing.T) {
	t.Parallel()
	p, b := serve(t), openTab(t)
	b.open(p.base + "/try/")
	b.click("start-sign-up")
	b.sees("step/who")
	const markup = `<img src=x onerror="document.title='owned'">`
	b.enter("username", "mallory")
	b.enter("given_name", markup)
	b.click("action-continue")
	b.sees("step/key")
	b.click("action-passkey")
	b.sees("signed-in")
	if got := b.claim("given_name"); got != markup {
		t.Errorf("the name is shown as %q, want it as it is", got)
	}
	if n := eval[int](b, `document.querySelectorAll("img:not(header img)").length`); n != 0 {
		t.Errorf("there are %d images on the page, want none", n)
	}
}
