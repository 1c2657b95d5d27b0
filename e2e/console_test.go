package e2e_test

import (
	"context"
	"fmt"
	"image"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/postern-id/postern/internal/datatest"
)

// consoleTab is the console in a browser, with an administrator who has signed in.
type consoleTab struct {
	*tab
	p *postern
}

// openConsole opens the console at a path below /console, and signs in with the password.
func openConsole(t *testing.T, p *postern, path string) *consoleTab {
	t.Helper()
	return openConsoleAs(t, p, "admin", path)
}

// openConsoleAs opens the console for a user with the password of the administrator.
func openConsoleAs(t *testing.T, p *postern, username, path string) *consoleTab {
	t.Helper()
	c := &consoleTab{openTab(t), p}
	c.signIn(username, path)
	return c
}

// signIn opens the console, and signs in with the password of the administrator.
func (c *consoleTab) signIn(username, path string) {
	c.t.Helper()
	call(c.tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 1280, Height: 800, DeviceScaleFactor: 1})
	c.open(c.p.base + "/console" + path)
	c.until(`document.getElementById("action-password")`)
	c.click("action-password")
	c.until(`document.getElementById("action-continue")`)
	c.enter("username", username)
	c.enter("password", adminPassword)
	c.click("action-continue")
	c.until(`location.pathname.startsWith("/console") && document.querySelector("main h1")`) // the sign-in page has a heading too
}

// named is a script for the first visible element with the text or label, among the selected ones.
func named(selector, name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(%q)].find((e) => e.checkVisibility() && !e.disabled && (e.ariaLabel ?? e.textContent).trim() === %q)`, selector, name)
}

// press presses a button, link or tab by its name.
func (c *consoleTab) press(name string) {
	c.t.Helper()
	c.until("((e) => e && (e.click(), true))(" + named("button, a, [role=tab], summary", name) + ")")
}

// heading waits for a page with the title.
func (c *consoleTab) heading(title string) {
	c.t.Helper()
	c.until(fmt.Sprintf(`document.querySelector("main h1")?.textContent === %q`, title))
}

// fill replaces the text of the field whose label begins with the name, as typing does.
func (c *consoleTab) fill(label, text string) {
	c.t.Helper()
	c.enterText(fieldOf(label), text)
}

// fieldOf is a script for the field whose label begins with the text.
func fieldOf(label string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("label")].find((l) => l.textContent.trim().startsWith(%q))?.control`, label)
}

// enterText replaces the text of the field that a script finds, again until the field keeps it: a page that is
// drawn in the same moment replaces the field.
func (c *consoleTab) enterText(field, text string) {
	c.t.Helper()
	c.until(fmt.Sprintf(`((f) => f && (f.focus(), f.select(), document.execCommand("insertText", false, %[1]q), f.value === %[1]q))(%[2]s)`, text, field))
}

// write replaces a part of the text in the editor of a flow. The editor redraws itself when findings
// arrive and may lose the selection; then the part is selected again.
func (c *consoleTab) write(old, text string) {
	c.t.Helper()
	replace := fmt.Sprintf(`(async () => {
		const content = document.querySelector(".cm-content");
		const line = [...(content?.querySelectorAll(".cm-line") ?? [])].find((l) => l.textContent.includes(%[1]q));
		if (!line) return false;
		const place = (offset) => {
			const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
			for (let n = walker.nextNode(); n; n = walker.nextNode()) {
				if (offset <= n.length) return [n, offset];
				offset -= n.length;
			}
		};
		const at = line.textContent.indexOf(%[1]q);
		content.focus();
		getSelection().setBaseAndExtent(...place(at), ...place(at + %[1]q.length));
		await new Promise((done) => setTimeout(done, 50)); // the editor takes the selection over
		return getSelection().toString() === %[1]q && document.execCommand("insertText", false, %[2]q);
	})()`, old, text)
	for deadline := time.Now().Add(timeout); !eval[bool](c.tab, replace); {
		if time.Now().After(deadline) {
			c.t.Fatalf("the editor does not let %q be selected\n%s", old, c.describe())
		}
	}
}

// picture writes a screenshot of an element to docs/screenshots, if the flag is set.
func (c *consoleTab) picture(name, selector string) {
	c.t.Helper()
	if !*screenshots {
		return
	}
	eval[any](c.tab, `scrollTo(0, 0)`)
	time.Sleep(time.Second) // the graph moves into view
	ctx, cancel := context.WithTimeout(c.ctx, timeout)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		c.t.Fatal(err)
	}
	box := eval[[4]int](c.tab, fmt.Sprintf(`((r) => [r.left, r.top, r.right, r.bottom].map(Math.round))(document.querySelector(%q).getBoundingClientRect())`, selector))
	savePicture(c.t, name, picture, image.Rect(box[0], box[1], box[2], box[3]).Inset(-pictureMargin))
}

// pictureMargin is the space around a pictured element, in pixels.
const pictureMargin = 12

func (c *consoleTab) sees(text string) {
	c.t.Helper()
	c.until(fmt.Sprintf(`document.querySelector("main").innerText.includes(%q)`, text))
}

// isAccessible runs axe on the page, with the rules or with all.
func (c *consoleTab) isAccessible(page string, rules ...string) {
	c.t.Helper()
	if !c.evalBool("window.axe") {
		script := datatest.ReadFile(c.t, filepath.Join(modules(c.t, "../server/console/web", "axe-core"), "axe-core", "axe.min.js"))
		eval[any](c.tab, string(script)+"; null")
	}
	only := ""
	if len(rules) > 0 {
		only = fmt.Sprintf(`, runOnly: ["%s"]`, strings.Join(rules, `", "`))
	}
	found := eval[string](c.tab, `axe.run(document, {resultTypes: ["violations"]`+only+`}).then(({violations}) =>
		violations.map((v) => v.id + ": " + v.help + " " + v.nodes.map((n) => n.target.join(" ")).join(", ")).join("\n"))`)
	if found != "" {
		c.t.Errorf("%s: axe reports\n%s", page, found)
	}
}

// expectQuiet fails if the browser complained, for example that a policy blocked something. It also
// reports each request that the API rejected, as these tests intend.
func (c *consoleTab) expectQuiet() {
	c.t.Helper()
	for line := range strings.Lines(c.console.String()) {
		if !strings.Contains(line, "responded with a status of 4") {
			c.t.Errorf("the browser complains: %s", line)
		}
	}
}

// An administrator creates, finds, changes and deletes an application, and merges a change that
// another administrator made at the same time.
func TestConsoleManagesApplications(t *testing.T) {
	t.Parallel()
	p := serve(t)
	twin := largeFlow(3)
	twin["name"] = "Sign in with a passkey or a password"
	p.idOf(t, "/flows", twin)
	c := openConsole(t, p, "")
	c.heading("Overview")
	c.sees("Recent events")
	c.isAccessible("the overview")
	c.press("Applications")
	c.heading("Applications")
	c.sees("Try it")
	c.isAccessible("the list")
	c.press("Create")
	c.press("Fill in all fields")
	c.heading("Create application")
	c.press("Create")
	c.sees("required") // the form says what is missing
	c.offers("Sign-in flow", "Default", "Sign in with a passkey or a password (large)")
	c.offers("Invitation flow", "None", "Accept an invitation")
	c.offers("Organization unit", "Default", "Default")
	c.fill("Name", "Shop")
	c.fill("Description", "Sells lanterns")
	c.isAccessible("the form")
	c.press("Create")
	c.heading("Shop")
	id := eval[string](c.tab, `location.pathname.split("/").pop()`)

	var app object
	c.p.get(t, "/applications/"+id, &app)
	if app["description"] != "Sells lanterns" {
		t.Errorf("the application is %v", app)
	}
	c.fill("Description", "Sells candles")
	patch(t, p, "/applications/"+id, object{"url": "https://shop.example", "description": "Sells lamps"})
	c.press("Save")
	c.sees("Someone else has changed this in the meantime.")
	c.isAccessible("the conflict")
	c.until(named("button", "Take theirs: description"))
	if both := eval[int](c.tab, `document.querySelectorAll("[role=alert] tbody tr").length`); both != 1 {
		t.Errorf("%d members are said to conflict, expected the description", both)
	}
	eval[any](c.tab, `document.querySelector("[role=alert] button.primary").click()`)
	c.sees("Saved.")
	c.p.get(t, "/applications/"+id, &app)
	if app["description"] != "Sells candles" || app["url"] != "https://shop.example" {
		t.Errorf("the merged application is %v", app)
	}
	c.press("Applications")
	c.fill("Value", "Shop")
	c.press("Apply")
	c.sees("1 in total")
	c.press("Shop")
	c.heading("Shop")
	c.press("Danger")
	c.press("Delete")
	c.until(`document.querySelector("[role=alertdialog]")`)
	c.isAccessible("the question")
	eval[any](c.tab, `document.querySelector("[role=alertdialog] button.danger").click()`)
	c.heading("Applications")
	if status := send(t, p, http.MethodGet, "/applications/"+id, adminToken(t, p), nil); status != http.StatusNotFound {
		t.Errorf("the deleted application: %d", status)
	}
	c.press("Audit log")
	c.sees("application.deleted")
	c.isAccessible("the audit log")
	c.expectQuiet()
}

// An administrator opens a flow, breaks it, sees why, fixes it, publishes it, and goes back to the
// first version. An unsafe flow cannot be saved.
func TestConsoleFlowStudio(t *testing.T) {
	t.Parallel()
	p := serve(t)
	c := openConsole(t, p, "/flows/new")
	c.heading("New flow")
	c.sees("No findings: the flow is safe.")
	c.until(`document.querySelectorAll(".react-flow__node").length === 2`)
	c.isAccessible("the studio")
	c.write("failure: key", "failure: done")
	c.sees("The flow cannot be saved until its errors are fixed.")
	c.until(`document.querySelector(".cm-lint-marker-error")`)
	c.do(chromedp.KeyEvent(kb.Escape)) // closes the completions
	c.picture("console-flow", "body")
	if c.evalBool(named("button", "Create")) {
		t.Error("an unsafe flow can be saved")
	}
	c.write("failure: done", "failure: key")
	c.sees("No findings: the flow is safe.")
	c.press("Create")
	c.heading("My sign-in")
	c.write("name: My sign-in", "name: Our sign-in")
	c.press("Publish")
	c.heading("Our sign-in")
	c.sees("Version 2")
	c.press("Versions")
	c.press("Restore")
	c.until(`document.querySelector("[role=alertdialog]")`)
	eval[any](c.tab, `document.querySelector("[role=alertdialog] button.danger").click()`)
	c.heading("My sign-in")
	c.sees("Version 3")

	c.press("Flows")
	c.press("Accept an invitation")
	c.heading("Accept an invitation")
	c.sees("No errors; 2 waived findings.")
	c.press("Findings (2)")
	if waived := eval[int](c.tab, `[...document.querySelectorAll(".findings strong")].filter((s) => s.textContent === "waived").length`); waived != 2 {
		t.Errorf("%d findings are listed as waived, expected 2", waived)
	}
	c.expectQuiet()
}

// offers waits for a list with an option, and fails unless its first option is as wanted and no two are equal.
func (c *consoleTab) offers(label, first, option string) {
	c.t.Helper()
	options := fmt.Sprintf(`[...([...document.querySelectorAll("label")].find((l) => l.textContent.trim().startsWith(%q))?.control?.options ?? [])].map((o) => o.text)`, label)
	c.until(fmt.Sprintf(`(%s).includes(%q)`, options, option))
	got := eval[[]string](c.tab, options)
	if got[0] != first || len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(got) {
		c.t.Errorf("%s offers %q, expected different options and first %q", label, got, first)
	}
}

// Each kind of resource has its list and its form.
func TestConsoleListsEverything(t *testing.T) {
	t.Parallel()
	p := serve(t)
	c := openConsole(t, p, "/users")
	c.heading("Users")
	c.press("admin")
	c.heading("admin")
	c.sees("Sessions")
	c.isAccessible("a user")
	for _, title := range []string{"User types", "Organization units", "Groups", "Roles", "Resource servers", "Identity providers", "Flows"} {
		c.press(title)
		c.heading(title)
		c.isAccessible(title)
		if title != "Flows" {
			form := "Create " + strings.ToLower(strings.TrimSuffix(title, "s"))
			if title == "Identity providers" {
				c.isEmptyList(form)
				c.press(form)
			} else {
				c.press("Create")
			}
			c.heading(form)
			c.isAccessible("the form of " + title)
		}
	}
	c.expectQuiet()
}

// isEmptyList expects the explanation of an empty list with one link, which creates the first resource.
func (c *consoleTab) isEmptyList(link string) {
	c.t.Helper()
	c.sees("Nothing here yet.")
	if got := eval[string](c.tab, `[...document.querySelectorAll("main :is(a, button, input, th)")].map((e) => e.textContent).join()`); got != link {
		c.t.Errorf("an empty list offers %q, want only %q", got, link)
	}
}

// patch changes a resource as another administrator, later than what was read before.
func patch(t *testing.T, p *postern, path string, body object) {
	t.Helper()
	time.Sleep(5 * time.Millisecond)
	if status := send(t, p, http.MethodPatch, path, adminToken(t, p), body); status != http.StatusOK {
		t.Fatalf("PATCH %s: %d", path, status)
	}
}

// signInAgain uses the passkey on the sign-in page, which may do so by itself.
func (c *consoleTab) signInAgain() {
	c.t.Helper()
	c.until(`document.getElementById("action-passkey") ||
		location.pathname.startsWith("/console") && document.querySelector("main h1") && !document.querySelector("main [role=alert]")`)
	c.evalBool(`document.getElementById("action-passkey")?.click()`)
}
