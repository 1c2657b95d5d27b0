package e2e_test

import "testing"

// A user changes the mail address from the account page. The former address gets a mail.
func TestGateChangesTheAddress(t *testing.T) {
	t.Parallel()
	p := serve(t)
	const former, address = "ada@example.org", "ada@example.net"
	g := openGate(t, p)
	g.visit("signup")
	g.shows("step/who")
	g.enter("username", "ada")
	g.enter("email", former)
	g.click("action-continue")
	g.shows("step/verify")
	g.enter("code", p.mailedCode(former))
	g.click("action-submit")
	g.shows("step/key")
	g.click("action-passkey")
	g.shows("account")
	g.click("change-email") // the browser offers the passkey, and the authenticator answers at once
	g.shows("step/address")
	g.checkAccessibility("a new address")
	g.enter("newEmail", address)
	g.click("action-submit")
	g.until(`document.querySelector("[name=code]")`)
	g.enter("code", p.mailedCode(address))
	g.click("action-submit")
	g.shows("account")
	g.until(`document.querySelector("[aria-labelledby=profile]").textContent.includes("` + address + `")`)
	p.mailed(former, `(?s)^The email address was changed.*(/gate/lock#)`)
}
