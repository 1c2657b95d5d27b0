package e2e_test

import (
	"net/http"
	"testing"
)

// An administrator publishes the next signing keys and reads the configuration.
func TestConsoleShowsTheService(t *testing.T) {
	t.Parallel()
	p := serve(t)
	c := openConsole(t, p, "/signing-keys")
	c.heading("Signing keys")
	c.until(`document.querySelectorAll("main tbody tr").length > 0`)
	c.press("Publish the next keys")
	c.until(`((e) => e && (e.click(), true))([...document.querySelectorAll("[role=alertdialog] button")].at(-1))`)
	c.until(`document.querySelectorAll("main tbody tr").length === 4 && document.querySelector("main").textContent.includes("The next keys are published.")`)
	c.isAccessible("the signing keys")

	c.press("Configuration")
	c.heading("Configuration")
	c.fill("Find a setting", "key_publish")
	c.until(`document.querySelectorAll("main tbody tr").length === 1`)
	c.press("token.key_publish")
	c.until(`document.querySelector("main tbody tr").textContent.includes("POSTERN_TOKEN_KEY_PUBLISH")`)
	c.isAccessible("the configuration")
}

// An administrator invites a user from the page of the user, and withdraws the invitation.
func TestConsoleInvites(t *testing.T) {
	t.Parallel()
	p := serve(t)
	made, err := p.post("/users", adminToken(t, p), object{"type": "Person", "attributes": object{"username": "ida", "email": "ida@example.org"}})
	if err != nil || made.status != http.StatusCreated {
		t.Fatalf("%v %s", err, made.body)
	}
	c := openConsole(t, p, "/users")
	c.until(`((e) => e && (e.click(), true))([...document.querySelectorAll("main [role=row]")].find((row) => row.textContent.includes("ida")))`)
	c.until(`document.getElementById("part-invitation")`)
	c.press("Invite")
	c.until(`document.querySelector("[aria-labelledby=part-invitation]").textContent.includes("The invitation was sent to ida@example.org.")`)
	p.mailed("ida@example.org", `(/gate/invitation\?applicationId=\S+#)`)
	c.isAccessible("an invited user")
	c.press("Withdraw the invitation")
	c.until(`((e) => e && (e.click(), true))([...document.querySelectorAll("[role=alertdialog] button")].at(-1))`)
	c.until(`document.querySelector("[aria-labelledby=part-invitation]").textContent.includes("The invitation was withdrawn.")`)
}
