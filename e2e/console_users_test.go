package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
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

// An administrator finds users while typing the start of a name or address, or a whole id. The user
// that equals the text comes first.
func TestConsoleFindsUsers(t *testing.T) {
	t.Parallel()
	p := serve(t)
	ida := createUser(t, p, object{"username": "ida", "email": "ida@example.org"})
	createUser(t, p, object{"username": "zoe", "email": "ida2@example.org"})
	createUser(t, p, object{"username": "aida", "email": "id@example.org"})
	c := openConsole(t, p, "/users")
	c.sees("4 in total")
	for _, search := range []struct{ text, total, first string }{
		{"I", "3 in total", ida}, {"ida", "2 in total", ida}, {"IDA@example.org", "1 in total", ida}, {ida, "1 in total", ida}, {"", "4 in total", ""},
	} {
		c.fill("Username, email address or id", search.text)
		c.sees(search.total)
		c.until(fmt.Sprintf(`document.querySelector("main [role=rowheader] a")?.pathname.endsWith(%q)`, search.first))
	}
	c.fill("Username, email address or id", "zo")
	c.sees("1 in total")
	c.press("Show all")
	c.sees("4 in total")
	c.fill("Username, email address or id", `i"d`)
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
	c.until(`((e) => e && (e.click(), true))(document.querySelector("[aria-labelledby=part-passkeys] button"))`)
	c.until(`/^Delete\s+Delete .+ of the user ada\? This cannot be undone\.\s+.*added .+ · (last|never) used[^]+sessions that began with it end\.\s+It is the user’s only way to sign in\./.test(document.querySelector("[role=alertdialog]")?.innerText)`)
	c.press("Cancel")
	c.until(`!document.querySelector("[role=alertdialog]")`)
	c.until(`((e) => e && (e.click(), true))(document.querySelector("[aria-labelledby=part-consents] button"))`)
	c.until(`document.querySelector("[role=alertdialog]")?.innerText.includes("Withdraw the access of Photo Book?")`)
	c.confirm()
	c.until(`document.querySelector("[aria-labelledby=part-consents]")?.innerText.includes("The user has not given an application access.")`)
	if got := rp.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}}); got.Error != "invalid_grant" {
		t.Errorf("after the withdrawal: %+v", got)
	}
	c.expectQuiet()
}

// An administrator chooses the application of an invitation if there are several. Applications to which
// users do not sign in, or that do not admit the user, are not mentioned.
func TestConsoleOffersApplicationsForInvitations(t *testing.T) {
	t.Parallel()
	p := serve(t)
	token := adminToken(t, p)
	p.create(t, "/user-types", token, object{"name": "Partner", "schema": object{"type": "object", "properties": object{"username": object{"type": "string"}}}}, nil)
	p.create(t, "/applications", token, object{"name": "Shop"}, nil)
	p.create(t, "/applications", token, object{"name": "For partners", "allowedUserTypes": []string{"Partner"}}, nil)
	p.create(t, "/applications", token, object{"name": "Stock service", "inboundAuthConfig": []object{{"type": "oauth2", "config": object{"grantTypes": []string{"client_credentials"}}}}}, nil)
	c := openConsole(t, p, "/users/"+createUser(t, p, object{"username": "ida", "email": "ida@example.org"}))
	const part = `document.querySelector("[aria-labelledby=part-invitation]")`
	c.until(part + `?.innerText.includes("These have none:")`)
	if others := eval[string](c.tab, part+`.innerText`); !strings.Contains(others, "Shop") || strings.Contains(others, "Stock service") || strings.Contains(others, "For partners") {
		t.Errorf("the part on invitations is %q", others)
	}
	if got := eval[string](c.tab, part+`.querySelector("select").selectedOptions[0].text`); got != "Not set" || !c.evalBool(part+`.querySelector(".actions button").disabled`) {
		t.Errorf("the application is %q, want that the administrator chooses", got)
	}
	c.chooseIn("Application", tryID)
	c.press("Invite")
	c.sees("The invitation was sent to ida@example.org.")
	c.until(part + `.querySelector("select").value === "` + tryID + `"`) // that of the invitation
	c.expectQuiet()
}

// An administrator reads why a user could not sign in, and opens the node in the version of the run.
func TestConsoleExplainsRefusals(t *testing.T) {
	t.Parallel()
	p := serve(t)
	p.fails(t)
	var app struct{ AuthFlowID string }
	p.get(t, "/applications/"+consoleID, &app)
	var before struct{ ActiveVersion int }
	p.get(t, "/flows/"+app.AuthFlowID, &before)
	patch(t, p, "/flows/"+app.AuthFlowID, object{"name": "Renamed"})
	c := openConsole(t, p, "/users?search=admin")
	c.press("admin")
	c.sees("The account is active: neither disabled nor locked.")
	c.sees("The password was wrong.")
	c.sees("Nothing more is recorded")
	c.sees("The user signed in.")
	c.sees("wrong_password")
	c.isAccessible("a user who could not sign in")
	c.until(fmt.Sprintf(`((e) => e && (e.click(), true))([...document.querySelectorAll("[aria-labelledby=part-sign-ins] a")].find((a) => a.textContent.includes(", version %d, node ")))`, before.ActiveVersion))
	c.sees(fmt.Sprintf("This is version %d. New runs use version %d.", before.ActiveVersion, before.ActiveVersion+1))
	c.until(`document.querySelector(".react-flow__node.chosen")?.dataset.id === new URLSearchParams(location.search).get("node")`)
	c.isAccessible("the studio with an older version")
	c.expectQuiet()
}

// The page of a user explains a disabled, a locked and a formerly locked account.
func TestConsoleExplainsTheStateOfAnAccount(t *testing.T) {
	t.Parallel()
	p := serve(t)
	ida := createUser(t, p, object{"username": "ida"})
	c := openConsole(t, p, "/users/"+ida)
	c.sees("The account is active")
	c.sees("The account has no password, no passkey and no linked identity")
	c.sees("The audit log has no sign-ins and no refusals of this user.")
	for _, state := range []struct {
		patch object
		want  string
	}{
		{object{"status": "disabled"}, "The account is disabled"},
		{object{"status": "active", "lockedUntil": "2999-01-01T00:00:00Z"}, "The account is locked until "},
		{object{"lockedUntil": "2020-01-01T00:00:00Z"}, "The lock of the account ended at "},
	} {
		patch(t, p, "/users/"+ida, state.patch)
		c.goTo("/users")
		c.goTo("/users/" + ida)
		c.sees(state.want)
	}
	c.expectQuiet()
}

// The page of a user has the true reason of each refusal, although all replies are the same.
func TestConsoleExplainsConcealedReasons(t *testing.T) {
	t.Parallel()
	p := serve(t)
	ida, bob := createUser(t, p, object{"username": "ida", "password": adminPassword}), createUser(t, p, object{"username": "bob"})
	c := openConsole(t, p, "/users")
	for _, attempt := range []struct {
		id, username, password string
		state                  object
		want                   string
	}{
		{ida, "ida", "wrong", nil, "The password was wrong."},
		{bob, "bob", adminPassword, nil, "A password was entered, but the account has none."},
		{ida, "ida", adminPassword, object{"lockedUntil": "2999-01-01T00:00:00Z"}, "The account was locked when the user authenticated."},
		{ida, "ida", adminPassword, object{"lockedUntil": "2020-01-01T00:00:00Z", "status": "disabled"}, "The account was disabled when the user authenticated."},
	} {
		if attempt.state != nil {
			patch(t, p, "/users/"+attempt.id, attempt.state)
		}
		if err := p.guess(attempt.username, attempt.password); err != nil {
			t.Fatal(err)
		}
		c.goTo("/users")
		c.goTo("/users/" + attempt.id)
		c.until(fmt.Sprintf(`((latest) => latest?.innerText.includes(%q) && latest.querySelectorAll("li").length === 2)(document.querySelector("article.attempt"))`, attempt.want))
	}
	c.expectQuiet()
}

// An administrator of users who may not read the audit log reads which permission is missing.
func TestConsoleHidesSignInsWithoutPermission(t *testing.T) {
	t.Parallel()
	p := serve(t)
	var users struct{ Users []struct{ ID string } }
	p.get(t, "/users?filter="+url.QueryEscape(`username eq "admin"`), &users)
	ida := createUser(t, p, object{"username": "ida", "password": adminPassword})
	made, err := p.post("/roles", adminToken(t, p), object{"name": "Help desk", "permissions": []string{"system:users:read"}, "assignments": []object{{"type": "user", "id": ida}}})
	if err != nil || made.status != http.StatusCreated {
		t.Fatalf("%v %s", err, made.body)
	}
	c := openConsoleAs(t, p, "ida", "/users/"+users.Users[0].ID)
	c.sees("you need the permission system:audit:read")
	if text := eval[string](c.tab, `document.querySelector("[aria-labelledby=part-sign-ins]").innerText`); strings.Contains(text, "signed in") {
		t.Errorf("the page shows sign-ins: %q", text)
	}
	c.isAccessible("a user, as an administrator without the audit log")
	c.expectQuiet()
}

// fromAddress sends requests as a proxy does for a client with the address.
type fromAddress string

func (f fromAddress) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Forwarded-For", string(f))
	return http.DefaultTransport.RoundTrip(r)
}
