package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/postern-id/postern/internal/datatest"
)

// An administrator invites a user, who opens the link in the mail, adds a passkey and is then at the
// application. From then on the link does not work.
func TestGateAcceptsAnInvitation(t *testing.T) {
	t.Parallel()
	p := serve(t)
	const address = "ida@example.org"
	made, err := p.post("/users", adminToken(t, p), object{"type": "Person", "attributes": object{"username": "ida", "email": address}})
	if err != nil || made.status != http.StatusCreated {
		t.Fatalf("%v %s", err, made.body)
	}
	var user struct{ ID string }
	datatest.Unmarshal(t, made.body, &user)
	invited, err := p.post("/users/"+user.ID+"/invitation", adminToken(t, p), object{"applicationId": tryID})
	if err != nil || invited.status != http.StatusCreated {
		t.Fatalf("%v %s", err, invited.body)
	}
	link := p.mailed(address, `(https?://\S+/gate/invitation\?applicationId=\S+#\S+)`)

	g := openGate(t, p)
	g.open(link)
	g.shows("step/link")
	const about = "This invitation is for your account at Try it."
	if got := g.text("view"); !strings.Contains(got, about) || strings.Contains(got, "ida") {
		t.Errorf("before the link is used, the page says %q", got)
	}
	g.checkAccessibility("an invitation")
	g.click("action-submit")
	g.shows("step/key")
	if got := g.text("view"); !strings.Contains(got, about) || g.text("invitee") != "ida" {
		t.Errorf("the page of the first passkey says %q", got)
	}
	g.checkAccessibility("the first passkey")
	g.click("action-passkey")
	g.shows("account")
	if got := g.signInMethods(); len(got) != 1 {
		t.Errorf("the ways to sign in are %q, want a passkey", got)
	}

	// The session proves no more than the mail with the link, and so would a password that it sets: the page asks
	// for the passkey first, and goes on.
	g.click("password")
	g.alerted("Sign in again to change this")
	g.click("again")
	g.until(`document.getElementById("new-password")`)
	g.do(typeInto("new-password", adminPassword), chromedp.Click(chromedp.ID("sure")))
	g.alerted("Done")
	if text := g.text("view"); strings.Contains(text, "Proves no more") {
		t.Errorf("the password is limited: %q", text)
	}

	late := openGate(t, p)
	late.open(link)
	late.shows("step/link")
	late.click("action-submit")
	late.alerted("link")
}
