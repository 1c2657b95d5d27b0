package e2e_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// fails signs in to the console and enters a wrong password.
func (p *postern) fails(t *testing.T) {
	t.Helper()
	if err := p.guess("admin", "wrong"); err != nil {
		t.Fatal(err)
	}
}

// guess enters a password for a user.
func (p *postern) guess(username, password string) error {
	step, err := p.execute(object{"applicationId": consoleID, "flowType": "AUTHENTICATION"})
	if err == nil {
		step, err = p.next(step, "password", nil)
	}
	if err == nil {
		_, err = p.next(step, "continue", map[string]string{"username": username, "password": password})
	}
	return err
}

// The overview shows the sign-ins and the failures, each chart also as a table.
func TestConsoleShowsActivity(t *testing.T) {
	t.Parallel()
	p := serve(t)
	p.fails(t)
	c := openConsole(t, p, "")
	c.heading("Overview")
	c.goTo("/groups")
	for counted := false; !counted; { // about a second after the sign-in
		var found struct{ SignIns []struct{ Count int } }
		p.get(t, "/statistics", &found)
		for _, step := range found.SignIns {
			counted = counted || step.Count > 0
		}
	}
	c.goTo("")
	c.sees("With a sign-in: 1")
	c.until(`document.querySelectorAll(".recharts-area-curve").length === 3 && document.querySelectorAll(".recharts-bar-rectangle path").length >= 2`)
	eval[any](c.tab, `[...document.querySelectorAll("figure summary")].forEach((s) => s.click())`)
	c.sees("invalid_credentials")
	c.isAccessible("the charts and their tables")
	c.luminance(false)
	c.isAccessible("the charts in the dark")
	c.luminance(true)
	eval[any](c.tab, `[...document.querySelectorAll("figure details")].forEach((d) => { d.open = false; })`)
	call(c.tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 1280, Height: 1800, DeviceScaleFactor: 1})
	c.picture("console-overview", "body") // in a window of its size: charts take a moment to follow it
	c.expectQuiet()
}

// An administrator follows the audit log, filters it, verifies it and saves it.
func TestConsoleAuditLog(t *testing.T) {
	t.Parallel()
	p := serve(t)
	p.fails(t)
	c := openConsole(t, p, "/audit")
	c.heading("Audit log")
	c.sees("attempt.failed")
	c.press("Live")
	c.sees("New events appear here.")
	if status := send(t, p, http.MethodPost, "/groups", adminToken(t, p), object{"name": "Gardeners"}); status != http.StatusCreated {
		t.Fatalf("POST /groups: %d", status)
	}
	c.sees("group.created")
	c.sees(" new events") // the token for the request is one, too
	c.sees("group Gardeners")
	c.sees("user admin")
	if read := c.readNames(); len(read) == 0 || len(slices.Compact(slices.Sorted(slices.Values(read)))) != len(read) {
		t.Errorf("the names were read with %q, want one request for each", read)
	}
	c.press("group.created")
	c.sees("Trace id")
	c.isAccessible("the audit log as it grows")
	c.press("Live")
	eval[any](c.tab, `document.querySelector("[name=failures]").click()`)
	c.press("Apply")
	c.until(`document.querySelector("main table") && !document.querySelector("main table").innerText.includes("group.created")`)
	c.sees("attempt.failed")
	c.press("Clear")
	c.sees("group.created")
	c.find("Actor", "admi", "admin")
	c.until(`/^\?actor=[-0-9a-f]{36}$/.test(location.search)`)
	c.until(`document.querySelector(".filter [role=group][aria-label=Actor]")?.innerText.includes("admin")`)
	c.sees("group.created")
	c.isAccessible("the audit log of an actor")
	c.press("Remove: Actor")
	c.until(`location.search === ""`)
	c.press("Verify that nothing was changed")
	c.press("Verify")
	c.sees("The audit log is intact")
	end := eval[string](c.tab, `document.querySelector("main details.notice [role=status] code").textContent`)
	if !regexp.MustCompile(`^[1-9]\d*:[0-9a-f]{64}$`).MatchString(end) {
		t.Errorf("the end of the chain is %q", end)
	}
	c.fill("End of an earlier verification", "1:"+end[len(end)-64:])
	c.press("Verify")
	c.sees("The audit log was changed at seal 1.")
	c.isAccessible("a changed audit log")
	c.press("Download")
	c.until(`/\d+ events were saved/.test(document.querySelector("main").innerText)`)
	c.expectQuiet()
}

// readNames returns the addresses of the resources that the page has read.
func (c *consoleTab) readNames() []string {
	return eval[[]string](c.tab, `performance.getEntriesByType("resource").map((r) => r.name).filter((name) => /\/(users|applications|groups)\/[-0-9a-f]+$/.test(name))`)
}

// An administrator who may read only the audit log sees the ids of users and applications.
func TestConsoleAuditLogWithoutNames(t *testing.T) {
	t.Parallel()
	p := serve(t)
	ida := createUser(t, p, object{"username": "ida", "password": adminPassword})
	made, err := p.post("/roles", adminToken(t, p), object{"name": "Auditors", "permissions": []string{"system:audit:read"}, "assignments": []object{{"type": "user", "id": ida}}})
	if err != nil || made.status != http.StatusCreated {
		t.Fatalf("%v %s", err, made.body)
	}
	c := openConsoleAs(t, p, "ida", "/audit")
	c.sees("user " + ida)
	if read := c.readNames(); len(read) > 0 {
		t.Errorf("the page asked for %q without the permission", read)
	}
	c.expectQuiet()
}

// goTo shows a page of the console without a new sign-in. The address changes at once and the page later: then
// the focus moves from the link before it to the page.
func (c *consoleTab) goTo(path string) {
	c.t.Helper()
	if eval[bool](c.tab, fmt.Sprintf(`location.pathname !== "/console%s"`, path)) {
		eval[any](c.tab, fmt.Sprintf(`document.querySelector("a.skip").focus(); history.pushState(null, "", "/console%s"); dispatchEvent(new PopStateEvent("popstate")); null`, path))
		c.until(`document.activeElement.closest("main")`)
	}
	c.until(`document.querySelector("main h1") && ![...document.querySelectorAll("main [role=status]")].some((s) => s.textContent === "Loading …")`)
}

// cutElements are the elements of a page whose content is wider than they are: it is cut, lies over other
// elements or must be scrolled to. Editors, graphs and inputs scroll, charts follow the window later,
// names in tables end with an ellipsis and have the whole id as title, and the heads of tables that became
// cards are only read.
const cutElements = `[...document.querySelectorAll("body *")].filter((e) => e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1 && !e.closest("input, .cm-editor, .react-flow, .chart, .subject[title]") && getComputedStyle(e.closest("thead") ?? e).position !== "absolute")
	.map((e) => e.tagName + "." + e.className + " " + e.textContent.slice(0, 40) + " " + e.scrollWidth + " > " + e.clientWidth)`

// No page is wider than the window and none cuts a text, even of long words, and all are accessible, in
// light and dark.
func TestConsoleFitsEveryWindow(t *testing.T) {
	t.Parallel()
	p := serve(t)
	long := fillWithLongNames(t, p)
	c := openConsole(t, p, "")
	c.heading("Overview")
	rules := map[bool][]string{false: {"color-contrast"}} // the others do not depend on the colors
	for _, path := range append(consolePages, long...) {
		c.goTo(path)
		for _, light := range []bool{true, false} {
			c.luminance(light)
			for _, width := range sheetWidths {
				call(c.tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1})
				if over := eval[int](c.tab, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
					t.Errorf("%q is %d px wider than a window of %d px", path, over, width)
				}
				for _, cut := range eval[[]string](c.tab, cutElements) {
					t.Errorf("%q in a window of %d px: %s", path, width, cut)
				}
				if width == 390 || width == 1920 {
					c.isAccessible(fmt.Sprintf("%q with %d px, light %v", path, width, light), rules[light]...)
				}
			}
		}
	}
	c.expectQuiet()
}
