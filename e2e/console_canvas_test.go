package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/input"
)

// reads waits for the editor to show a text in one line.
func (c *consoleTab) reads(text string) {
	c.t.Helper()
	c.until(fmt.Sprintf(`[...document.querySelectorAll(".cm-line")].some((l) => l.textContent.includes(%q))`, text))
}

// keyOnNode focuses a node of the graph, and presses a key.
func (c *consoleTab) keyOnNode(id, key string) {
	c.t.Helper()
	c.until(fmt.Sprintf(`((n) => { n?.focus(); return n && n === document.activeElement; })(document.querySelector('.react-flow__node[data-id=%q]'))`, id))
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		call(c.tab, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: key, Code: key})
	}
}

// selectNode selects a node of the graph with the keyboard, and waits for its form.
func (c *consoleTab) selectNode(id string) {
	c.t.Helper()
	c.keyOnNode(id, "Enter")
	c.until(fmt.Sprintf(`document.querySelector('.react-flow__node[data-id=%[1]q].selected') && document.querySelector('[role=group][aria-label="Node %[1]s"]')`, id))
}

// drawEdge drags with the mouse from the handle of a node to that of another, until the page asks for the
// outcome: parts of the page that appear above the graph move it.
func (c *consoleTab) drawEdge(source, target string) {
	c.t.Helper()
	const handles = `((graph) => (graph.scrollIntoView({block: "center"}), [%q, %q].flatMap((handle) =>
		((r) => [r.x + r.width / 2, r.y + r.height / 2])(graph.querySelector(handle).getBoundingClientRect()))))(document.querySelector(".graph"))`
	handle := func(id, kind string) string {
		return fmt.Sprintf(".react-flow__node[data-id=%s] .react-flow__handle.%s", id, kind)
	}
	mouse := func(kind input.DispatchMouseEventType, x, y float64) {
		call(c.tab, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: input.MouseButtonLeft, ClickCount: 1})
	}
	eventually(c.t, "the drawn edge has an outcome to choose", func() bool {
		at := eval[[4]float64](c.tab, fmt.Sprintf(handles, handle(source, "source"), handle(target, "target")))
		mouse(input.DispatchMouseEventTypeMousePressed, at[0], at[1])
		for i := range 5 {
			part := float64(i+1) / 5
			mouse(input.DispatchMouseEventTypeMouseMoved, at[0]+(at[2]-at[0])*part, at[1]+(at[3]-at[1])*part)
		}
		mouse(input.DispatchMouseEventTypeMouseReleased, at[2], at[3])
		return c.evalBool(`document.querySelector("[aria-labelledby=pending-outcome]")`)
	})
}

// A flow is changed in the graph, with the keyboard and the mouse. Every change is one of the text:
// it keeps the comments, is checked, and can be taken back.
func TestConsoleChangesTheGraph(t *testing.T) {
	t.Parallel()
	needChecker(t)
	p := serve(t)
	c := openConsole(t, p, "/flows/new")
	c.heading("New flow")
	c.sees("No findings: the flow is safe.")
	c.write("name: My sign-in", "name: My sign-in # for staff")
	c.choose("Kind", "consent")
	c.fill("Id", "agree")
	c.press("Add node")
	c.reads("- id: agree")
	c.choose("granted →", "done")
	c.choose("denied →", "end")
	c.reads("next: {granted: done, denied: end}")
	c.sees("The flow cannot be saved until its errors are fixed.")
	c.selectNode("key")
	c.choose("success →", "agree")
	c.reads("next: {success: agree, failure: key}")
	c.sees("No findings: the flow is safe.")
	c.isAccessible("the changed graph")

	c.selectNode("agree")
	c.fill("New id", "key")
	c.press("Rename")
	c.sees("there is a node key already; choose another id")
	c.fill("New id", "allow")
	c.press("Rename")
	c.reads("next: {success: allow, failure: key}")
	c.sees("Certain at allow")
	c.press("Undo")
	c.reads("next: {success: agree, failure: key}")
	c.press("Redo")
	c.reads("next: {success: allow, failure: key}")

	c.selectNode("allow")
	c.keyOnNode("allow", "Delete")
	c.reads("next: {failure: key}")
	c.press("Undo")
	c.reads("next: {success: allow, failure: key}")

	c.until(`document.querySelector('.react-flow__node[data-id=allow]')`)
	c.selectNode("allow")
	c.picture("console-graph", ".studio")
	c.drawEdge("allow", "key")
	c.press("denied")
	c.reads("next: {granted: done, denied: key}")
	c.sees("No findings: the flow is safe.")
	c.reads("name: My sign-in # for staff")
	c.press("Create")
	c.heading("My sign-in")
	var list struct {
		Flows []struct {
			Handle string
			Nodes  []struct{ ID string }
		}
	}
	p.get(t, "/flows?filter=handle+eq+%22my-sign-in%22", &list)
	if len(list.Flows) != 1 || fmt.Sprint(list.Flows[0].Nodes) != "[{key} {done} {allow}]" {
		t.Errorf("stored: %+v", list)
	}
	c.expectQuiet()
}

// parts returns the names of the nodes and edges of the graph in the accessibility tree, in its order.
func (a *administrator) parts() (names []string) {
	a.t.Helper()
	tree, ok := ask(a, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if !ok {
		a.t.Fatal("the browser does not return its accessibility tree")
	}
	for _, node := range tree.Nodes {
		if !node.Ignored && value(node.Role) == "group" && strings.HasPrefix(value(node.Description), "Press Enter to select") {
			names = append(names, value(node.Name))
		}
	}
	return names
}

// A screen reader hears the nodes in the order of the text, each with its kind and its targets, the
// edges, what each proves, and where an error is.
func TestConsoleGraphHasNames(t *testing.T) {
	t.Parallel()
	needChecker(t)
	a := asAdministrator(t, serve(t), "admin", "/flows/new", false)
	a.sees("No findings: the flow is safe.")
	a.until(`document.querySelector(".react-flow__node.authenticated")`)
	a.until(`document.querySelectorAll(".react-flow__edge").length === 2`)
	want := []string{"key, passkey-authenticate; success → done; failure → key", "done, authorization-code", "key —success→ done: authenticated", "key —failure→ key"}
	if got := a.parts(); !slices.Equal(got, want) {
		t.Errorf("the graph is read as %q, want %q", got, want)
	}
	a.write("failure: key", "failure: done")
	a.until(`document.querySelector('.react-flow__edge.bad[aria-label^="key —success, failure→ done"]')`)
	got := a.parts()
	if !slices.Contains(got, "key —success, failure→ done; leads to an error") || !slices.ContainsFunc(got, func(name string) bool { return strings.HasSuffix(name, "; has an error") }) {
		t.Errorf("the graph with an error is read as %q", got)
	}
	a.expectQuiet()
}

// A screen reader reads the verdict about a flow when it changes, and not after each keystroke.
func TestConsoleAnnouncesFindings(t *testing.T) {
	t.Parallel()
	needChecker(t)
	a := asAdministrator(t, serve(t), "admin", "/flows/new", false)
	a.sees("No findings: the flow is safe.")
	const verdict = `document.querySelector("main > [role=status][aria-busy]")`
	eval[any](a.tab, `window.read = []; new MutationObserver(() => read.push(`+verdict+`.textContent)).observe(`+verdict+`, {subtree: true, childList: true, characterData: true}); null`)
	idle := func() { a.until(verdict + `.getAttribute("aria-busy") === "false"`) }
	for _, change := range [][2]string{{"name: My sign-in", "name: My sign-ins"}, {"name: My sign-ins", "name: My sign-in"}, {"failure: key", "failure: done"}} {
		a.write(change[0], change[1])
		idle()
	}
	a.sees("The flow cannot be saved until its errors are fixed.")
	a.write("failure: done", "failure: key")
	a.sees("No findings: the flow is safe.")
	read := eval[[]string](a.tab, `read`)
	if len(read) != 2 || !strings.HasSuffix(read[0], "until its errors are fixed.") || read[1] != "No findings: the flow is safe." {
		t.Errorf("the verdicts are read as %q, want an error and then none", read)
	}
	a.expectQuiet()
}
