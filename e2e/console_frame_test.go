package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// pressCtrl presses a key together with Ctrl.
func (c *consoleTab) pressCtrl(key string) {
	c.t.Helper()
	c.do(chromedp.KeyEvent(key, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
}

// findsFirst opens the search with the keyboard, types a text and waits until an entry is the first one.
func (c *consoleTab) findsFirst(text, first string) {
	c.t.Helper()
	c.pressCtrl("k")
	c.until(`document.activeElement.role === "combobox"`)
	if text != "" {
		c.do(chromedp.KeyEvent(text))
	}
	c.until(fmt.Sprintf(`document.querySelector("[role=option][aria-selected=true] .name")?.textContent === %q && document.getElementById(document.activeElement.getAttribute("aria-activedescendant"))?.ariaSelected === "true"`, first))
}

// The search finds users, other resources, pages and actions with the keyboard alone, shows what was opened last
// first, and keeps no names in the browser.
func TestConsoleFindsAnything(t *testing.T) {
	t.Parallel()
	p := serve(t)
	ida := createUser(t, p, object{"username": "ida", "password": adminPassword})
	p.create(t, "/roles", adminToken(t, p), object{"name": "Desk", "permissions": []string{"system:users:read"}, "assignments": []object{{"type": "user", "id": ida}}}, nil)
	c := openConsole(t, p, "")
	c.heading("Overview")
	for _, test := range []struct{ text, first, heading string }{
		{"ida", "ida", "ida"},
		{"Try", "Try it", "Try it"},
		{"Desk", "Desk", "Desk"},
		{"Accept an inv", "Accept an invitation", "Accept an invitation"},
		{"signing k", "Signing keys", "Signing keys"},
		{"create gr", "Create group", "Create group"},
		{"", "Accept an invitation", "Accept an invitation"}, // the newest of those that were opened
	} {
		c.findsFirst(test.text, test.first)
		c.isAccessible("the search for " + test.text)
		c.do(chromedp.KeyEvent(kb.Enter))
		c.heading(test.heading)
	}
	if kept := eval[string](c.tab, `JSON.stringify([{ ...localStorage }, { ...sessionStorage }])`); strings.Contains(kept, "ida") || !strings.Contains(kept, `/users`) {
		t.Errorf("the browser keeps %s", kept)
	}
	c.pressCtrl("k")
	c.until(`document.querySelector("[role=listbox]")`)
	c.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.Escape))
	c.until(`!document.querySelector("[role=listbox]")`)
	c.expectQuiet()

	reader := openConsoleAs(t, p, "ida", "/users")
	reader.heading("Users")
	reader.findsFirst("admin", "admin")
	if names := eval[string](reader.tab, `[...document.querySelectorAll("[role=option] .name")].map((e) => e.textContent).join()`); strings.Contains(names, "Administrators") || strings.Contains(names, "Create") {
		t.Errorf("a user who reads only users finds %s", names)
	}
}

// Single keys open pages, until they are switched off in their sheet.
func TestConsoleShortcuts(t *testing.T) {
	t.Parallel()
	p := serve(t)
	c := openConsole(t, p, "")
	c.heading("Overview")
	c.do(chromedp.KeyEvent("g"), chromedp.KeyEvent("u"))
	c.heading("Users")
	c.do(chromedp.KeyEvent("c"))
	c.heading("Create user")
	c.do(chromedp.KeyEvent("?"))
	c.until(`document.querySelector("[role=dialog]")`)
	c.isAccessible("the sheet of shortcuts")
	eval[any](c.tab, `document.querySelector("[role=dialog] [type=checkbox]").click()`)
	c.do(chromedp.KeyEvent(kb.Escape))
	c.until(`!document.querySelector("[role=dialog]")`)
	c.do(chromedp.KeyEvent("g"), chromedp.KeyEvent("a"))
	c.pressCtrl("k")
	c.until(`document.querySelector("[role=listbox]")`)
	c.do(chromedp.KeyEvent(kb.Escape))
	c.heading("Create user")
	c.expectQuiet()
}

// A form states its changes before they are stored, takes them back, and stores them with Ctrl-S.
func TestConsoleStatesChanges(t *testing.T) {
	t.Parallel()
	p := serve(t)
	var group struct{ ID string }
	p.create(t, "/groups", adminToken(t, p), object{"name": "Crew", "description": "Sails"}, &group)
	c := openConsole(t, p, "/groups/"+group.ID)
	c.heading("Crew")
	c.fill("Name", "Staff")
	c.fill("Description", "Works")
	c.sees("2 changes")
	c.sees("Name: Crew → Staff · Description: Sails → Works")
	c.isAccessible("the changes")
	c.press("Discard")
	c.sees("The changes are discarded.")
	c.until(fmt.Sprintf(`%s.value === "Sails"`, fieldOf("Description")))
	c.fill("Description", "Rows")
	c.sees("1 change")
	c.pressCtrl("s")
	c.sees("Saved.")
	var stored object
	p.get(t, "/groups/"+group.ID, &stored)
	if stored["name"] != "Crew" || stored["description"] != "Rows" {
		t.Errorf("the group is %v", stored)
	}
	c.expectQuiet()
}

// What was entered is there again when the form is opened again in the tab, without secrets.
func TestConsoleKeepsDrafts(t *testing.T) {
	t.Parallel()
	p := serve(t)
	c := openConsole(t, p, "")
	c.heading("Overview")
	for _, test := range []struct{ path, title, kept, secret string }{
		{"/users/new", "Create user", "Username", "Password"},
		{"/identity-providers/new", "Create identity provider", "Name", "Client secret"},
		{"/applications/new", "Create application", "Name", "Client secret"},
	} {
		c.goTo(test.path)
		c.heading(test.title)
		c.fill(test.kept, "kept text")
		c.fill(test.secret, "secret text")
		c.press("Groups")
		c.heading("Groups")
		if kept := eval[string](c.tab, `JSON.stringify([{ ...sessionStorage }, { ...localStorage }])`); strings.Contains(kept, "secret text") || !strings.Contains(kept, "kept text") {
			t.Errorf("%s: the browser keeps %s", test.path, kept)
		}
		c.goTo(test.path)
		c.sees("What you had entered is here again.")
		for label, want := range map[string]string{test.kept: "kept text", test.secret: ""} {
			if got := eval[string](c.tab, fieldOf(label)+".value"); got != want {
				t.Errorf("%s: %s is %q, want %q", test.path, label, got, want)
			}
		}
	}
	c.expectQuiet()
}
