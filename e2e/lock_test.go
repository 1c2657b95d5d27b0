package e2e_test

import (
	"net/http"
	"testing"
)

// A sign-in from a new browser causes a mail with a link that locks the account. Opening the link
// changes nothing, because mail scanners do that; the button ends all sessions, once.
func TestGateLocksTheAccountOfANotice(t *testing.T) {
	t.Parallel()
	p := serve(t)
	const password = "Tarn-ferry-slate-41-owl"
	p.create(t, "/users", adminToken(t, p), object{"type": "Person", "attributes": object{
		"username": "ada", "email": "ada@example.org", "email_verified": true, "password": password,
	}}, nil)
	g := openGate(t, p)
	signIn := func() {
		g.open(p.base + "/gate/signin")
		g.click("action-password")
		g.shows("step/who")
		g.enter("username", "ada")
		g.enter("password", password)
		g.click("action-continue")
	}
	signIn()
	g.shows("account")
	address := p.mailed("ada@example.org", `(?s)^Sign-in from a new browser.*(http\S+/gate/lock#\S+)`)

	reply, err := p.client.Get(address)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatal(reply, err)
	}
	reply.Body.Close()
	reader := openGate(t, p)
	reader.open(address)
	reader.shows("lock")
	reader.checkAccessibility("locking an account")
	g.open(p.base + "/gate/account")
	g.shows("account")
	if n := len(p.mails("ada@example.org")); n != 1 {
		t.Errorf("%d mails, want one for the first sign-in", n)
	}

	reader.click("lock")
	reader.shows("locked")
	g.open(p.base + "/gate/account")
	g.until(`location.pathname.endsWith("/signin")`)
	signIn()
	g.until(`document.querySelector("#alert .fault")`)
	g.shows("step/who")

	again := openGate(t, p)
	again.open(address)
	again.shows("lock")
	again.click("lock")
	again.alerted("This link does not work")
}

// Recovery does not give access to an account that its user locked: an attacker may have the
// mailbox.
func TestGateRecoveryLeavesAnAccountLocked(t *testing.T) {
	t.Parallel()
	p := serve(t)
	const address, password = "ada@example.org", "Tarn-ferry-slate-41-owl"
	var user struct{ ID, Status string }
	p.create(t, "/users", adminToken(t, p), object{"type": "Person", "attributes": object{
		"username": "ada", "email": address, "email_verified": true, "password": password,
	}}, &user)
	g := openGate(t, p)
	g.open(p.base + "/gate/signin")
	g.click("action-password")
	g.shows("step/who")
	g.enter("username", "ada")
	g.enter("password", password)
	g.click("action-continue")
	g.shows("account")
	link := p.mailed(address, `(?s)^Sign-in from a new browser.*(http\S+/gate/lock#\S+)`)
	g.open(link)
	g.shows("lock")
	g.click("lock")
	g.shows("locked")

	r := openGate(t, p)
	r.visit("signin")
	r.shows("step/autofill")
	r.click("to-recover")
	r.shows("step/who")
	r.enter("username", "ada")
	r.click("action-continue")
	r.shows("step/code")
	r.enter("code", p.mailedCode(address))
	r.click("action-submit")
	r.until(`document.getElementById("view").textContent.includes("This account is disabled.")`)
	p.get(t, "/users/"+user.ID, &user)
	if user.Status != "disabled" {
		t.Errorf("the status is %q after recovery, want disabled", user.Status)
	}
}
