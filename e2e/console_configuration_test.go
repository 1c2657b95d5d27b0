package e2e_test

import (
	"fmt"
	"testing"
)

// chooseIn selects an option of the field with the label, among those that are visible.
func (c *consoleTab) chooseIn(label, value string) {
	c.t.Helper()
	field := fmt.Sprintf(`[...document.querySelectorAll("label")].find((l) => l.checkVisibility() && l.textContent.trim().startsWith(%q))?.control`, label)
	c.until(fmt.Sprintf(`[...(%s)?.options ?? []].some((o) => o.value === %q)`, field, value))
	eval[any](c.tab, fmt.Sprintf(`((list) => {
		Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, "value").set.call(list, %q);
		list.dispatchEvent(new Event("change", {bubbles: true}));
	})(%s)`, value, field))
}

// tick presses the checkbox with the name.
func (c *consoleTab) tick(name string) {
	c.t.Helper()
	c.until(fmt.Sprintf(`((e) => e && (e.click(), true))([...document.querySelectorAll("label")].find((l) => l.textContent.trim() === %q)?.querySelector("input[type=checkbox]"))`, name))
}

// The configuration of a node is edited as a form. Every change is one of the text, which keeps its
// comments, and can be undone. A value that no field shows stays in the text.
func TestConsoleConfiguresNodes(t *testing.T) {
	t.Parallel()
	needChecker(t)
	p := serve(t)
	c := openConsole(t, p, "/flows/new")
	c.heading("New flow")
	c.sees("No findings: the flow is safe.")
	c.write("with: {mode: usernameless}", "with: {mode: usernameless} # without a name")
	c.selectNode("key")
	c.chooseIn("userVerification", "required")
	c.reads("with: {mode: usernameless, userVerification: required} # without a name")
	c.fill("label", "Go: on")
	c.reads(`with: {mode: usernameless, userVerification: required, label: "Go: on"} # without a name`)
	c.sees("No findings: the flow is safe.")
	c.fill("label", "")
	c.reads("with: {mode: usernameless, userVerification: required} # without a name")
	c.press("Undo")
	c.reads(`label: "Go: on"} # without a name`)
	c.isAccessible("the configuration of a passkey")

	c.choose("Kind", "prompt")
	c.fill("Id", "ask")
	c.press("Add node")
	c.reads("- id: ask")
	c.sees("actions (required)")
	c.fill("title", "Who are you?")
	c.press("Add: actions")
	c.fill("ref", "go")
	c.reads(`with: {title: "Who are you?", actions: [{ref: go}]}`)
	c.press("Add: inputs")
	c.fill("identifier", "name")
	c.chooseIn("type", "TEXT_INPUT")
	c.tick("required")
	c.reads("inputs: [{identifier: name, type: TEXT_INPUT, required: true}]")
	c.tick("required") // the default is not written
	c.reads("inputs: [{identifier: name, type: TEXT_INPUT}]")
	c.press("Add: inputs")
	c.fill("identifier", "code")
	c.press("Move up: code")
	c.reads("inputs: [{identifier: code}, {identifier: name, type: TEXT_INPUT}]")
	c.sees("error") // the type of the code is missing
	c.isAccessible("the configuration of a prompt")
	c.press("Remove: code")
	c.reads("inputs: [{identifier: name, type: TEXT_INPUT}]")
	c.picture("console-configuration", ".graph-editor")

	c.choose("Kind", "decision")
	c.fill("Id", "which")
	c.press("Add node")
	c.reads("- id: which")
	c.press("Add: cases")
	c.fill("when", `user.type == "Person"`)
	c.fill("outcome", "person")
	c.reads(`with: {cases: [{when: user.type == "Person", outcome: person}]}`)
	c.sees("person →")

	c.choose("Kind", "flow")
	c.fill("Id", "part")
	c.press("Add node")
	c.reads("- id: part")
	c.until(`[...document.querySelectorAll(".configuration select")].length === 1`)

	c.selectNode("ask")
	c.write("actions: [{ref: go}]", "actions: {ref: go}, other: 1")
	c.sees("Only in the text: other")
	c.until(`document.querySelector(".configuration textarea.code")?.value.includes('"ref": "go"')`)
	c.fill("title", "Your name?")
	c.reads(`title: "Your name?", actions: {ref: go}, other: 1`)
	c.expectQuiet()
}
