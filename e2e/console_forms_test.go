package e2e_test

import (
	"fmt"
	"strings"
	"testing"
)

// typeInto types into the field that assistive technology calls by the name.
func (c *consoleTab) typeInto(name, text string) {
	c.t.Helper()
	c.enterText(fmt.Sprintf(`document.querySelector("[aria-label='%s']")`, name), text)
}

// set selects an option of the field that assistive technology calls by the name, or ticks it.
func (c *consoleTab) set(name, value string) {
	c.t.Helper()
	field := fmt.Sprintf(`document.querySelector("[aria-label='%s']")`, name)
	c.until(field)
	if value == "" {
		eval[any](c.tab, field+".click()")
		return
	}
	eval[any](c.tab, fmt.Sprintf(`((list) => {
		Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, "value").set.call(list, %q);
		list.dispatchEvent(new Event("change", {bubbles: true}));
	})(%s)`, value, field))
}

// The server reads the metadata of a new identity provider. What is wrong with its issuer is at the field,
// and the form keeps what was entered.
func TestConsoleShowsAWrongIssuer(t *testing.T) {
	t.Parallel()
	servers := newServers(t)
	c := openConsole(t, servers.postern, "/identity-providers/new")
	c.heading("Create identity provider")
	entered := map[string]string{"Handle": "corp", "Name": "Corp", "Issuer": servers.provider.base + "/", "Client id": "postern", "Client secret": "not a real secret"}
	for name, text := range entered {
		c.fill(name, text)
	}
	c.press("Create")
	const issuer = `[...document.querySelectorAll("main label")].find((l) => l.textContent.startsWith("Issuer")).control`
	c.until(issuer + `.getAttribute("aria-invalid") === "true"`)
	c.until(issuer + ` === document.activeElement`)
	if text := eval[string](c.tab, issuer+`.getAttribute("aria-describedby").split(" ").map((id) => document.getElementById(id)?.textContent).join()`); !strings.Contains(text, "configure exactly that issuer") {
		t.Errorf("the field is described by %q", text)
	}
	c.isAccessible("a wrong issuer")
	for name, want := range entered {
		if got := eval[string](c.tab, fmt.Sprintf(`[...document.querySelectorAll("main label")].find((l) => l.textContent.startsWith(%q)).control.value`, name)); got != want {
			t.Errorf("after the reply the field %s has %q, want %q", name, got, want)
		}
	}
	c.fill("Issuer", servers.provider.base)
	c.press("Create")
	c.heading("Corp")
	c.expectQuiet()
}

// The attributes of a user type are edited in a table, which keeps what it does not show of them.
func TestConsoleEditsTheAttributesOfAUserType(t *testing.T) {
	t.Parallel()
	p := serve(t)
	c := openConsole(t, p, "/user-types")
	c.press("Person")
	c.heading("Person")
	c.press("Add an attribute")
	c.typeInto("Name: attribute_1", "team")
	c.typeInto("Displayed as: team", "Team")
	c.set("Contains: team", "Choice")
	c.enterText(`document.querySelector("tbody textarea")`, "red\nblue")
	c.set("Required: team", "")
	c.press("Move up: team")
	c.isAccessible("the attributes")
	c.press("Save")
	c.until(`document.querySelector("main [role=alert]")`) // the administrator has no team
	c.set("Required: team", "")
	c.press("Save")
	c.sees("Saved.")

	var list struct {
		UserTypes []struct {
			Name   string
			Schema struct {
				Required   []string
				Properties map[string]object
			}
		}
	}
	p.get(t, "/user-types", &list)
	for _, one := range list.UserTypes {
		if one.Name != "Person" {
			continue
		}
		if got := fmt.Sprint(one.Schema.Properties["team"]); got != "map[enum:[red blue] maxLength:200 title:Team type:string]" {
			t.Errorf("the attribute is %s", got)
		}
		if got := one.Schema.Properties["username"]["x-unique"]; got != true {
			t.Errorf("the username has lost its mark: %v", one.Schema.Properties["username"])
		}
	}
	c.press("Remove: team")
	c.press("Save")
	c.until(`!document.querySelector("[aria-label='Name: team']")`)
	c.expectQuiet()
}
