package e2e_test

import (
	"fmt"
	"testing"
)

// find types into a search, and chooses what it finds. The list closes when the page scrolls, as it does to show
// the field; find then opens it again.
func (c *consoleTab) find(label, text, choice string) {
	c.t.Helper()
	c.fill(label, text)
	c.until(fmt.Sprintf(`((option) => option ? (option.click(), true) : (document.querySelector("[role=listbox]") ?? %s.closest(".choose").querySelector("button").click(), false))([...document.querySelectorAll("[role=option]")].find((o) => o.textContent.startsWith(%q)))`, fieldOf(label), choice))
	c.until(isSearched(label))
}

// isSearched is a script that reports whether the choice of a search was taken: then another empty field has
// replaced the field and has the focus, or there is none.
func isSearched(label string) string {
	return fmt.Sprintf(`!document.querySelector("[role=listbox]") && ((f) => !f || f.value === "" && f === document.activeElement)(%s)`, fieldOf(label))
}

// An administrator finds the members of a group, the assignments of a role and its permissions by a
// search.
func TestConsoleChoosesPrincipals(t *testing.T) {
	t.Parallel()
	p := serve(t)
	ida := createUser(t, p, object{"username": "ida"})
	team := p.idOf(t, "/groups", object{"name": "Team"})
	c := openConsole(t, p, "/groups/new")
	c.heading("Create group")
	c.fill("Name", "Helpers")
	c.find("Add: Members", "id", "ida")
	c.sees("ida User")
	c.find("Add: Members", "Te", "Team")
	c.sees("Team Group")
	c.isAccessible("a group with members")
	c.press("Create")
	c.heading("Helpers")
	helpers := eval[string](c.tab, `location.pathname.split("/").pop()`)
	var group struct {
		Members []struct{ Type, ID string }
	}
	p.get(t, "/groups/"+helpers, &group)
	if got := fmt.Sprint(group.Members); got != fmt.Sprintf("[{group %s} {user %s}]", team, ida) {
		t.Errorf("the members are %s", got)
	}
	c.press("Remove: ida")
	c.press("Save")
	c.sees("Saved.")
	p.get(t, "/groups/"+helpers, &group)
	if len(group.Members) != 1 || group.Members[0].ID != team {
		t.Errorf("the members are %v", group.Members)
	}

	c.goTo("/roles/new")
	c.heading("Create role")
	c.fill("Name", "Help desk")
	c.sees("This role has no permissions")
	c.find("Find a permission", "users:read", "system:users:read")
	c.until(`!document.querySelector("main").innerText.includes("This role has no permissions")`)
	c.find("Add: Assignments", "Help", "Helpers")
	c.isAccessible("a role with assignments")
	c.press("Create")
	c.heading("Help desk")
	var role struct {
		Permissions []string
		Assignments []struct{ Type, ID string }
	}
	p.get(t, "/roles/"+eval[string](c.tab, `location.pathname.split("/").pop()`), &role)
	if got := fmt.Sprint(role); got != fmt.Sprintf("{[system:users:read] [{group %s}]}", helpers) {
		t.Errorf("the role is %s", got)
	}
	c.expectQuiet()
}

// The permissions of a resource server are a tree of resources with actions, in forms.
func TestConsoleEditsResources(t *testing.T) {
	t.Parallel()
	p := serve(t)
	c := openConsole(t, p, "/resource-servers/new")
	c.heading("Create resource server")
	c.fill("Handle", "shop")
	c.fill("Name", "Shop")
	c.press("Add: Resources")
	c.enterText(`[...document.querySelectorAll(".items label")].find((l) => l.textContent.trim().startsWith("Handle"))?.control`, "orders")
	c.press("Add: Actions")
	c.enterText(`[...document.querySelectorAll(".items .items label")].find((l) => l.textContent.trim().startsWith("Handle"))?.control`, "read")
	c.isAccessible("the resources")
	c.press("Create")
	c.heading("Shop")
	var server struct{ Permissions []string }
	p.get(t, "/resource-servers/"+eval[string](c.tab, `location.pathname.split("/").pop()`), &server)
	if got := fmt.Sprint(server.Permissions); got != "[shop shop:orders shop:orders:read]" {
		t.Errorf("the permissions are %s", got)
	}
	c.expectQuiet()
}

// A user is created with fields for the attributes of its type, and disabled, enabled, locked and
// unlocked with buttons, also after a change of another administrator.
func TestConsoleChangesTheStateOfAUser(t *testing.T) {
	t.Parallel()
	p := serve(t)
	c := openConsole(t, p, "/users/new")
	c.heading("Create user")
	c.until(`[...document.querySelectorAll("legend")].some((l) => l.textContent.startsWith("Attributes"))`)
	c.fill("Username", "ida")
	c.isAccessible("the form of a user")
	c.press("Create")
	c.heading("ida")
	id := eval[string](c.tab, `location.pathname.split("/").pop()`)
	var user struct{ Status, LockedUntil string }
	state := func(wantStatus string, wantLocked bool) {
		t.Helper()
		user.LockedUntil = ""
		p.get(t, "/users/"+id, &user)
		if user.Status != wantStatus || (user.LockedUntil != "") != wantLocked {
			t.Errorf("the user is %+v", user)
		}
	}
	c.press("Disable")
	c.until(`document.querySelector("[role=alertdialog]")`)
	c.isAccessible("the question before a user is disabled")
	c.confirm()
	c.until(named("button", "Enable"))
	state("disabled", false)
	c.press("Enable")
	c.until(named("button", "Disable"))
	state("active", false)
	patch(t, p, "/users/"+id, object{"attributes": object{"email": "ida@example.org"}})
	lock := func() {
		c.press("Lock")
		c.until(`document.querySelector("[role=alertdialog] select")`)
		c.confirm()
	}
	lock()
	c.sees("Someone else has changed this user in the meantime. Nothing was changed.")
	state("active", false)
	lock()
	c.sees("locked until ")
	c.sees("The account is locked until ")
	state("active", true)
	c.isAccessible("a locked user")
	c.press("Unlock")
	c.until(named("button", "Lock"))
	state("active", false)
	c.fill("Username", "ida2")
	c.press("Save")
	c.sees("The changes do not conflict.")
	eval[any](c.tab, `document.querySelector("[role=alert] button.primary").click()`)
	c.heading("ida2")
	var stored struct{ Attributes object }
	p.get(t, "/users/"+id, &stored)
	if stored.Attributes["email"] != "ida@example.org" || stored.Attributes["username"] != "ida2" {
		t.Errorf("the attributes are %v", stored.Attributes)
	}
	c.expectQuiet()
}
