package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp/kb"
)

// readPage returns the accessibility tree without the nodes that a screen reader skips.
func (a *administrator) readPage() (nodes []*accessibility.Node) {
	a.t.Helper()
	tree, ok := ask(a, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if !ok {
		a.t.Fatal("the browser does not return its accessibility tree")
	}
	for _, node := range tree.Nodes {
		if !node.Ignored {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// property returns a property of a node, "" if it has none of that name.
func property(node *accessibility.Node, name accessibility.PropertyName) string {
	for _, p := range node.Properties {
		if p.Name == name {
			return value(p.Value)
		}
	}
	return ""
}

// isReadable checks what a screen reader reads of a page: its one title, headings without a gap, the
// main part with the title as its name, and a name for everything that can be used.
func (a *administrator) isReadable(page string) {
	a.t.Helper()
	used := []string{"button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "switch", "tab", "tabpanel", "listbox", "spinbutton", "dialog", "alertdialog", "table", "grid", "treegrid", "navigation", "main"}
	level, titles := "0", 0
	for _, node := range a.readPage() {
		role, name := value(node.Role), value(node.Name)
		if slices.Contains(used, role) && strings.TrimSpace(name) == "" {
			a.t.Errorf("%s: a %s has no name: %v", page, role, node.Properties)
		}
		if role == "main" && name != page {
			a.t.Errorf("%s: the main part is called %q", page, name)
		}
		if role != "heading" {
			continue
		}
		next := property(node, accessibility.PropertyNameLevel)
		if next == "1" {
			titles++
		}
		if next[0] > level[0]+1 {
			a.t.Errorf("%s: the heading %q of level %s follows one of level %s", page, name, next, level)
		}
		level = next
	}
	if titles != 1 {
		a.t.Errorf("%s has %d titles", page, titles)
	}
}

const hasFocus = `document.activeElement === document.querySelector("main")`

// A screen reader can read each page, hears of a new page, returns to the button of a dialog that it
// closes, and hears the verdict about a flow only when it changes.
func TestConsoleCanBeRead(t *testing.T) {
	t.Parallel()
	needChecker(t)
	a := asAdministrator(t, serve(t), "admin", "", false)
	a.heading("Overview")
	a.sees("Recent events")
	a.isReadable("Overview")
	for _, page := range []string{"Users", "Applications", "Organization units", "Identity providers", "Signing keys", "Configuration", "Audit log"} {
		a.press(page)
		a.heading(page)
		a.until(hasFocus)
		a.until(`!document.querySelector("main").innerText.includes("Loading")`)
		a.isReadable(page)
	}
	a.press("Groups")
	a.heading("Groups")
	a.press("Create")
	a.heading("Create group")
	a.until(hasFocus)
	a.isReadable("Create group")
	a.fill("Name", "Readers")
	a.press("Create")
	a.heading("Readers")
	a.until(hasFocus) // the button is gone
	a.isReadable("Readers")
	a.press("Delete")
	a.until(`document.querySelector("[role=alertdialog]")?.contains(document.activeElement)`)
	a.key(kb.Escape)
	a.until(`!document.querySelector("[role=alertdialog]") && document.activeElement.textContent === "Delete"`)

	a.press("Flows")
	a.heading("Flows")
	a.press("Create")
	a.heading("New flow")
	a.sees("No findings: the flow is safe.")
	a.until(`document.querySelector(".react-flow__node.authenticated")`)
	a.isReadable("New flow")
	eval[any](a.tab, `window.said = []; new MutationObserver(() => said.push(document.querySelector("main > [role=status]").textContent)).observe(document.querySelector("main > [role=status]"), {subtree: true, childList: true, characterData: true}); null`)
	for range 3 {
		a.write("name: My sign-in", "name: My sign-ins")
		a.write("name: My sign-ins", "name: My sign-in")
	}
	a.write("failure: key", "failure: done")
	a.sees("The flow cannot be saved until its errors are fixed.")
	if said := eval[[]string](a.tab, `said`); len(said) != 1 {
		t.Errorf("the verdict is read %d times, want once: %q", len(said), said)
	}
	a.expectQuiet()
}
