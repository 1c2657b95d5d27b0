package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
)

// key presses a key in the focused element.
func (c *consoleTab) key(name string) {
	c.t.Helper()
	event := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown, Key: name, Code: name}
	codes := map[string]int64{"Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
	event.WindowsVirtualKeyCode = codes[name]
	call(c.tab, input.DispatchKeyEvent, event)
	event.Type = input.DispatchKeyEventTypeKeyUp
	call(c.tab, input.DispatchKeyEvent, event)
}

// idOf creates a resource and returns its id.
func (p *postern) idOf(t *testing.T, path string, body object) string {
	t.Helper()
	made, err := p.post(path, adminToken(t, p), body)
	var item struct{ ID string }
	if err != nil || made.status != http.StatusCreated || json.Unmarshal(made.body, &item) != nil {
		t.Fatalf("%v %s", err, made.body)
	}
	return item.ID
}

// focusedRow waits for the row of the tree that has the focus.
func (c *consoleTab) focusedRow(name string) {
	c.t.Helper()
	c.until(fmt.Sprintf(`document.activeElement.getAttribute("role") === "row" && document.activeElement.querySelector(".name").textContent.startsWith(%q)`, name))
}

// The organization units are a tree, which the keyboard expands level by level. A unit is created
// below another one, and moved by its form.
func TestConsoleShowsUnitsAsATree(t *testing.T) {
	t.Parallel()
	p := serve(t)
	top := p.idOf(t, "/organization-units", object{"handle": "north", "name": "North"})
	p.idOf(t, "/organization-units", object{"handle": "north-shop", "name": "North shop", "parentId": top})
	south := p.idOf(t, "/organization-units", object{"handle": "south", "name": "South"})
	for i := range 51 {
		p.idOf(t, "/organization-units", object{"handle": fmt.Sprint("south-", i), "name": fmt.Sprint("Part ", i), "parentId": south})
	}
	c := openConsole(t, p, "/organization-units")
	c.heading("Organization units")
	c.sees("North")
	if asked := eval[int](c.tab, `performance.getEntriesByType("resource").filter((r) => r.name.includes("/organization-units?")).length`); asked != 1 {
		t.Errorf("%d requests for the roots", asked)
	}
	c.isAccessible("the roots")
	eval[any](c.tab, `[...document.querySelectorAll("[role=row]")].find((r) => r.textContent.includes("North")).focus()`)
	c.focusedRow("North")
	c.key("ArrowRight")
	c.sees("North shop")
	c.until(`document.activeElement.ariaExpanded === "true"`)
	c.key("ArrowDown")
	c.focusedRow("North shop")
	c.isAccessible("a unit below another")
	c.key("ArrowUp")
	c.focusedRow("North")
	c.key("ArrowLeft")
	c.until(`!document.querySelector("main").innerText.includes("North shop")`)
	c.press("Expand: South")
	c.sees("Part 0")
	c.until(`((r) => r && (r.focus(), true))([...document.querySelectorAll("[role=row]")].find((r) => r.textContent.trim() === "Show more (1)"))`)
	c.key("Enter")
	c.until(`document.querySelectorAll("[role=row][aria-level='2']").length === 51`)
	c.press("Create below: North")
	c.heading("Create organization unit")
	c.fill("Handle", "north-store")
	c.fill("Name", "North store")
	c.until(fmt.Sprintf(`[...document.querySelectorAll("select")].some((s) => s.value === %q)`, top))
	c.press("Create")
	c.heading("North store")
	id := eval[string](c.tab, `location.pathname.split("/").pop()`)
	c.choose("Parent", south)
	c.press("Save")
	c.sees("Saved.")
	var unit struct{ ParentID string }
	p.get(t, "/organization-units/"+id, &unit)
	if unit.ParentID != south {
		t.Errorf("the parent is %q", unit.ParentID)
	}
	c.press("Organization units")
	c.press("Expand: South")
	c.press("Edit: North store")
	c.heading("North store")
	if text := c.console.String(); strings.Contains(text, "Warning") {
		t.Error(text)
	}
	c.expectQuiet()
}
