package e2e_test

import "testing"

// A user without the passkey recovers the account with a code by mail, and a mail reports the new
// passkey.
func TestGateReplacesALostPasskey(t *testing.T) {
	t.Parallel()
	p := serve(t)
	const address = "ada@example.org"
	g := openGate(t, p)
	g.visit("signup")
	g.shows("step/who")
	g.enter("username", "ada")
	g.enter("email", address)
	g.click("action-continue")
	g.shows("step/verify")
	g.enter("code", p.mailedCode(address))
	g.click("action-submit")
	g.shows("step/key")
	g.click("action-passkey")
	g.shows("account")

	lost := openGate(t, p) // another authenticator
	lost.present(false)
	lost.visit("signin")
	lost.shows("step/autofill")
	lost.click("to-recover")
	lost.shows("step/who")
	lost.checkAccessibility("a lost passkey")
	lost.enter("username", "ada")
	lost.click("action-continue")
	lost.shows("step/code")
	eventually(t, "a second code arrives", func() bool { return len(p.mails(address)) == 2 })
	lost.enter("code", p.mailedCode(address))
	lost.click("action-submit")
	lost.shows("step/others")
	lost.checkAccessibility("the question about other passkeys")
	lost.click("action-remove")
	lost.shows("step/replace")
	lost.present(true)
	lost.click("action-passkey")
	lost.shows("account")
	if got := lost.signInMethods(); len(got) != 1 {
		t.Errorf("the ways to sign in are %q, want the new passkey", got)
	}
	p.mailed(address, `(?s)^A passkey was added.*(/gate/lock#)`)
	p.mailed(address, `(?s)^A passkey was removed.*(/gate/lock#)`)

	var users struct{ Users []struct{ ID string } }
	p.get(t, `/users?filter=username+eq+%22ada%22`, &users)
	var sessions struct{ Sessions []struct{ ID string } }
	p.get(t, "/users/"+users.Users[0].ID+"/sessions", &sessions)
	if len(sessions.Sessions) != 1 {
		t.Errorf("the user has %d sessions, want that of the new passkey: the lost device is signed out", len(sessions.Sessions))
	}
}

// A user downloads the data of the account and deletes it.
func TestGateDeletesTheAccount(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	g.signUp("ida")
	eval[any](g.tab, `URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return "#"; }`)
	g.click("export")
	g.until(`window.saved?.includes('"username": "ida"')`)
	g.checkAccessibility("an account with its data")
	g.click("leave")
	g.agree()
	g.shows("signedout")
	var found struct{ TotalResults int }
	p.get(t, `/users?filter=username+eq+%22ida%22`, &found)
	if found.TotalResults != 0 {
		t.Errorf("%d users with the name of the deleted account", found.TotalResults)
	}
}
