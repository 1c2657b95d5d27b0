package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
)

// createUser creates a person and returns the id.
func createUser(t *testing.T, p *postern, attributes object) string {
	t.Helper()
	made, err := p.post("/users", adminToken(t, p), object{"type": "Person", "attributes": attributes})
	var user struct{ ID string }
	if err != nil || made.status != http.StatusCreated || json.Unmarshal(made.body, &user) != nil {
		t.Fatalf("%v %s", err, made.body)
	}
	return user.ID
}

// confirm presses the last button of the open question.
func (c *consoleTab) confirm() {
	c.t.Helper()
	c.until(`((e) => e && (e.click(), true))([...document.querySelectorAll("[role=alertdialog] button")].at(-1))`)
}

// An administrator finds a user by the whole name, address or id.
func TestConsoleFindsUsers(t *testing.T) {
	t.Parallel()
	p := serve(t)
	ida := createUser(t, p, object{"username": "ida", "email": "ida@example.org"})
	createUser(t, p, object{"username": "ida2", "email": "ida2@example.org"})
	c := openConsole(t, p, "/users")
	c.sees("3 in total")
	for _, text := range []string{"ida", "IDA@example.org", ida} {
		c.fill("Username, email address or id", text)
		c.press("Search")
		c.sees("1 in total")
		c.until(fmt.Sprintf(`document.querySelector("main [role=rowheader] a")?.pathname.endsWith(%q)`, ida))
		c.press("Show all")
		c.sees("3 in total")
	}
	c.fill("Username, email address or id", `i"d`)
	c.press("Search")
	c.sees("Nothing matches the filter.")
	c.isAccessible("a search without a result")
	c.expectQuiet()
}

// An administrator withdraws the access of an application to the data of a user.
func TestConsoleWithdrawsConsents(t *testing.T) {
	t.Parallel()
	p := serve(t, "POSTERN_OAUTH_DCR_INSECURE=true")
	rp := newUntrustedClient(t, p, "Photo Book")
	g := &gateTab{tab: openTab(t), base: p.base}
	g.signUp("ada")
	g.open(rp.request())
	g.shows("step/consent")
	g.click("action-allow")
	got := rp.token(url.Values{"grant_type": {"authorization_code"}, "code": {rp.waitForCode(g.tab).Get("code")}, "redirect_uri": {rp.site.URL + "/cb"}, "code_verifier": {codeVerifier}})
	c := openConsole(t, p, "/users?search=ada")
	c.press("ada")
	c.until(`document.querySelector("[aria-labelledby=part-consents]")?.innerText.includes("Photo Book not verified · openid profile")`)
	c.isAccessible("a user with a consent")
	c.until(`((e) => e && (e.click(), true))(document.querySelector("[aria-labelledby=part-consents] button"))`)
	c.until(`document.querySelector("[role=alertdialog]")?.innerText.includes("Withdraw the access of Photo Book?")`)
	c.confirm()
	c.until(`document.querySelector("[aria-labelledby=part-consents]")?.innerText.includes("Nothing here yet.")`)
	if got := rp.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}}); got.Error != "invalid_grant" {
		t.Errorf("after the withdrawal: %+v", got)
	}
	c.expectQuiet()
}
