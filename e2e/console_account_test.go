package e2e_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The console names the signed-in user. A user without permissions learns what to do.
func TestConsoleNamesTheUser(t *testing.T) {
	t.Parallel()
	p := serve(t)
	createUser(t, p, object{"username": "nora", "password": adminPassword})
	c := openConsoleAs(t, p, "nora", "/users")
	c.heading("Your account has no permissions here")
	c.sees("You are signed in as nora.")
	c.until(named("header a", "Your account: nora"))
	if got := eval[int](c.tab, `document.querySelectorAll("nav, [role=alert]").length`); got > 0 {
		t.Error("a user without permissions has a menu or sees an error")
	}
	c.isAccessible("the page of a user without permissions")
	c.press("Your account")
	c.until(`location.pathname === "/gate/account"`)
	c.expectQuiet()

	other := openConsole(t, p, "/users")
	other.until(named("header a", "Your account: admin"))
}

// Users who may only read see all pages, without a button or link that the server would refuse.
func TestConsoleOffersOnlyWhatIsAllowed(t *testing.T) {
	t.Parallel()
	p := serve(t)
	token := adminToken(t, p)
	ida := createUser(t, p, object{"username": "ida", "password": adminPassword})
	var permissions []string
	for _, noun := range []string{"applications", "flows", "users", "user-types", "organization-units", "groups", "roles", "resource-servers", "identity-providers"} {
		permissions = append(permissions, "system:"+noun+":read")
	}
	p.create(t, "/roles", token, object{"name": "Readers", "permissions": permissions, "assignments": []object{{"type": "user", "id": ida}}}, nil)
	c := openConsoleAs(t, p, "ida", "")
	c.heading("Overview")
	changes := regexp.MustCompile(`^(Create|Save|Delete|End|Withdraw|Publish|Duplicate|Restore|Edit|Lock|Disable|Invite|Rotate|Revoke|Forget|Remove|Add: )`)
	for _, path := range append(slices.Clone(consolePages), "/applications/new/template", "/users/"+ida, "/groups/01900000-0000-7000-8000-000000000040", "/flows/01900000-0000-7000-8000-000000000061") {
		c.goTo(path)
		for _, name := range eval[[]string](c.tab, `[...document.querySelectorAll("main button:enabled, main a")].map((e) => (e.ariaLabel ?? e.textContent).trim())`) {
			if changes.MatchString(name) {
				t.Errorf("%s offers %q", path, name)
			}
		}
	}
	for _, path := range []string{"/users/new", "/applications/new", "/applications/new/template", "/flows/new", "/roles/new"} {
		c.goTo(path)
		c.until(fmt.Sprintf(`document.querySelector("main [role=alert]")?.innerText.includes("You lack the permission system:%s:write.")`, strings.Split(path, "/")[1]))
		if c.evalBool(`Boolean(document.querySelector("main :is(form, input, .studio)"))`) {
			t.Errorf("%s shows a form to a user who may not create", path)
		}
	}
	c.isAccessible("the creation of a role without the permission")
	c.goTo("/users/" + ida)
	c.sees("You can read this, but not change it: you lack the permission system:users:write.")
	if c.evalBool(`/token|Invitation/.test(document.querySelector("main").innerText.replaceAll(/Its tokens/g, ""))`) {
		t.Error("the page of a user shows an invitation, or an error for programs")
	}
}
