package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// administrator uses the console as a person does. Everything is found by its role and name in the
// accessibility tree, as a screen reader finds it.
type administrator struct {
	*consoleTab
	// hasKeyboardOnly reaches everything with the Tab and arrow keys. Otherwise it is clicked.
	hasKeyboardOnly bool
}

// element is an element of the page, by its object in the browser.
type element = runtime.RemoteObjectID

// ask sends one command to the tab, and returns its result and whether it succeeded. Commands about
// elements that the page has replaced fail.
func ask[P, R any](a *administrator, command cdp.Command[P, R], params P) (R, bool) {
	ctx, cancel := context.WithTimeout(a.ctx, timeout)
	defer cancel()
	var result R
	err := chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) (err error) {
		result, err = cdp.Call(ctx, t, command, params)
		return err
	}))
	return result, err == nil
}

// ofElement calls a function of an element and returns its result: the zero value for an element that the
// page has replaced.
func ofElement[T any](a *administrator, e element, function string, arguments ...any) (result T) {
	ctx, cancel := context.WithTimeout(a.ctx, timeout)
	defer cancel()
	got, err := chromedp.Run(ctx, chromedp.CallFunctionOn[T](function, func(p *runtime.CallFunctionOnParams) { p.ObjectID = e }, arguments...))
	if err == nil {
		result = got
	}
	return result
}

// on calls a function of an element, and reports whether it returned true.
func (a *administrator) on(e element, function string, arguments ...any) bool {
	return ofElement[bool](a, e, function, arguments...)
}

// value returns the text of an accessibility value.
func value(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	var text string
	if json.Unmarshal(v.Value, &text) != nil {
		return string(v.Value) // a number or a bool
	}
	return text
}

// isDisabled reports whether an element cannot be used.
func isDisabled(node *accessibility.Node) bool {
	for _, property := range node.Properties {
		if property.Name == accessibility.PropertyNameDisabled && value(property.Value) == "true" {
			return true
		}
	}
	return false
}

// look returns the first element with one of the roles and the name, or whose name starts with the
// name and a parenthesis, as in "Name (required)".
func (a *administrator) look(roles, name string) (element, bool) {
	root, ok := ask(a, dom.GetDocument, dom.GetDocumentParams{})
	if !ok {
		return "", false
	}
	for role := range strings.SplitSeq(roles, "|") {
		found, _ := ask(a, accessibility.QueryAXTree, accessibility.QueryAXTreeParams{NodeID: root.Root.NodeID, Role: role})
		for _, node := range found.Nodes {
			label := value(node.Name)
			if node.Ignored || isDisabled(node) || label != name && !strings.HasPrefix(label, name+" (") {
				continue
			}
			if resolved, ok := ask(a, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: node.BackendDOMNodeID}); ok {
				return resolved.Object.ObjectID, true
			}
		}
	}
	return "", false
}

// try repeats an attempt on an element until it succeeds, and finds the element again each time.
func (a *administrator) try(roles, name string, attempt func(element) bool) {
	a.t.Helper()
	if !poll(func() bool { e, ok := a.look(roles, name); return ok && attempt(e) }) {
		a.t.Fatalf("waited in vain for the %s %q\n%s", roles, name, a.describe())
	}
}

// Functions of elements.
const (
	// nextKey returns the key that moves the focus towards the element; "focused" if it is there.
	nextKey = `function() {
		const now = document.activeElement;
		const isInSame = (group) => now.closest(group) !== null && now.closest(group) === this.closest(group);
		if ([this, this.closest("[role=row]")].includes(now)) return "focused"; // Enter opens the link of a row
		if (!this.isConnected) return "";
		if (now.role === this.role && isInSame("[role=tablist]")) return "right";
		if (now.role === "row" && isInSame("[role=grid]")) return "down";
		if (this.type === "radio" && now.type === "radio" && now.name === this.name) return "down";
		return now.isContentEditable ? "leave" : "tab"; // in an editor, Tab indents
	}`
	isShown = `function() {
		const shown = this.type === "radio" ? this.closest("label") : this;
		shown.scrollIntoView({block: "center"});
		const {x, y, width, height} = shown.getBoundingClientRect();
		const top = document.elementFromPoint(x + width / 2, y + height / 2);
		return top !== null && (shown.contains(top) || top.contains(shown));
	}`
	clickIt    = `function() { this.click(); return true; }`
	focusIt    = `function() { this.focus(); return document.activeElement === this; }`
	selectText = `function() { this.select?.(); return true; }`
	selectIt   = `function(name) {
		const option = [...this.options].find((o) => o.text === name);
		if (!option) return false;
		Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, "value").set.call(this, option.value);
		this.dispatchEvent(new Event("change", {bubbles: true}));
		return true;
	}`
	isSelected = `function(name) { return this.selectedOptions[0]?.text === name; }`
)

// key presses and releases keys.
func (a *administrator) key(keys string, options ...chromedp.KeyOption) {
	a.t.Helper()
	a.do(chromedp.KeyEvent(keys, options...))
}

// mostStops is more than the stops of the Tab key on any page.
const mostStops = 400

// reach moves the focus to an element with the Tab key, and within a group of tabs or choices with the
// arrow keys.
func (a *administrator) reach(e element) bool {
	a.t.Helper()
	for range mostStops {
		switch ofElement[string](a, e, nextKey) {
		case "focused":
			return true
		case "":
			return false
		case "right":
			a.key(kb.ArrowRight)
		case "down":
			a.key(kb.ArrowDown)
		case "leave":
			a.key(kb.Escape)
			a.key(kb.Tab)
		default:
			a.key(kb.Tab)
		}
	}
	a.t.Fatalf("the Tab key does not reach an element\n%s", a.describe())
	return false
}

// press presses a button, link, tab or summary.
func (a *administrator) press(name string) {
	a.t.Helper()
	a.use("button|link|tab|DisclosureTriangle", name, kb.Enter)
}

// tick selects a choice or ticks a box.
func (a *administrator) tick(name string) {
	a.t.Helper()
	a.use("radio|checkbox|switch", name, " ")
}

// use clicks an element, or reaches it and presses the key.
func (a *administrator) use(roles, name, key string) {
	a.t.Helper()
	a.try(roles, name, func(e element) bool {
		if !a.hasKeyboardOnly {
			return a.on(e, isShown) && a.on(e, clickIt)
		}
		if !a.reach(e) {
			return false
		}
		if roles == "radio|checkbox|switch" && a.on(e, `function() { return this.type === "radio" && this.checked; }`) {
			return true // the arrow keys select
		}
		a.key(key)
		return true
	})
}

// fill replaces the text of a field.
func (a *administrator) fill(name, text string) {
	a.t.Helper()
	a.try("textbox|searchbox", name, func(e element) bool {
		if a.hasKeyboardOnly && !a.reach(e) || !a.on(e, focusIt) || !a.on(e, selectText) {
			return false
		}
		return a.insert(e, text)
	})
}

// insert types a text into a field that has the focus, and reports whether the field has it then.
func (a *administrator) insert(e element, text string) bool {
	_, ok := ask(a, input.InsertText, input.InsertTextParams{Text: text})
	return ok && a.on(e, `function(text) { return this.value === text; }`, text)
}

// choose selects an option of a list.
func (a *administrator) choose(name, option string) {
	a.t.Helper()
	a.try("combobox", name, func(e element) bool {
		if !a.hasKeyboardOnly {
			return a.on(e, selectIt, option)
		}
		if !a.reach(e) || !a.on(e, `function(name) { return [...this.options].some((o) => o.text === name); }`, option) {
			return false
		}
		a.key(option)
		return a.on(e, isSelected, option)
	})
}

// find types into a search, and chooses the first result, which must start with the text, with the keys.
func (a *administrator) find(name, text string) {
	a.t.Helper()
	a.try("combobox", name, func(e element) bool {
		if a.hasKeyboardOnly && !a.reach(e) || !a.on(e, focusIt) || !a.on(e, selectText) {
			return false
		}
		return a.insert(e, text)
	})
	found := func(option string) bool {
		return a.evalBool(fmt.Sprintf(`document.querySelector(%q)?.textContent.startsWith(%q)`, option, text))
	}
	eventually(a.t, "the first result starts with "+text, func() bool {
		if found("[role=option][data-focused]") {
			return true
		}
		if found("[role=option]") || !a.evalBool(`document.querySelector("[role=listbox]")`) { // a scroll of the page closes it
			a.key(kb.ArrowDown)
		}
		return false
	})
	a.key(kb.Enter)
	a.until(isSearched(name))
}

// confirm answers the question that is open with the button of the name.
func (a *administrator) confirm(name string) {
	a.t.Helper()
	a.until(`document.querySelector("[role=alertdialog]")`) // which hides the rest of the page from assistive technology
	a.press(name)
	a.until(`!document.querySelector("[role=alertdialog]")`)
}

// readsIn waits for a section with the heading to contain the text.
func (a *administrator) readsIn(heading, text string) {
	a.t.Helper()
	a.until(fmt.Sprintf(`[...document.querySelectorAll("main section")].some((s) => s.querySelector("h2")?.textContent === %q && s.innerText.includes(%q))`, heading, text))
}

// asAdministrator signs in to the console with the password, at a page below /console.
func asAdministrator(t *testing.T, p *postern, username, path string, hasKeyboardOnly bool) *administrator {
	t.Helper()
	return &administrator{openConsoleAs(t, p, username, path), hasKeyboardOnly}
}
