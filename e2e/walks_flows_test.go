package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// removeNode removes a node in the graph.
func (a *administrator) removeNode(id string) {
	a.t.Helper()
	a.selectNode(id)
	a.press("Remove node")
	a.until(fmt.Sprintf(`!document.querySelector(".react-flow__node[data-id=%s]")`, id))
}

// addNode adds a node in the graph.
func (a *administrator) addNode(kind, id string) {
	a.t.Helper()
	a.choose("Kind", kind)
	a.fill("Id", id)
	a.press("Add node")
	a.until(fmt.Sprintf(`document.querySelector(".react-flow__node[data-id=%s]")`, id))
}

func drawAFlow(a *administrator) {
	rp := newRelyingParty(a.t, a.p, "Staff portal")
	a.heading("New flow")
	a.write("handle: my-sign-in", "handle: staff-sign-in")
	a.write("name: My sign-in", "name: Staff sign-in")
	a.removeNode("key") // of the example
	a.addNode("passkey-authenticate", "device")
	a.addNode("authorization-code", "finish")
	a.removeNode("done")
	a.drawEdge("device", "finish")
	a.press("success")
	a.selectNode("device")
	a.choose("failure →", "finish")
	a.seesWhyItIsUnsafe()
	a.press("Graph")
	a.selectNode("device")
	a.choose("failure →", "device")
	a.sees("No findings: the flow is safe.")
	a.simulates()
	a.press("Create")
	a.heading("Staff sign-in")
	a.keepsTheScenario()
	a.publishes("name: Staff sign-in", "name: Portal sign-in", "the portal has a new name")
	a.heading("Portal sign-in")
	a.sees("Version 2")
	a.keepsTheScenario()

	a.press("Applications")
	a.press("Staff portal")
	a.heading("Staff portal")
	a.press("Sign-in")
	a.choose("Sign-in flow", "Portal sign-in")
	a.press("Save")
	a.sees("Saved.")
	user := &gateTab{tab: openTab(a.t), base: a.p.base}
	user.signUp("sven")
	user.open(rp.request())
	user.shows("step/device")
	user.click("action-passkey")
	got := rp.redeem(rp.waitForCode(user.tab).Get("code"))
	rp.verify(got.ID, got.Access)

	a.press("Flows")
	a.press("Portal sign-in")
	a.press("Versions")
	a.sees("the portal has a new name")
	a.sees("admin · Open runs: 0")
	a.isAccessible("the versions of a flow")
	a.write("use: authorization-code", "use: authorization-code # the end")
	a.press("Restore")
	a.confirm("Restore")
	a.heading("Staff sign-in")
	a.sees("Version 3")
	a.keepsTheScenario()
	a.sees("Your changes are kept: they are not in version 3.")
	a.reads("use: authorization-code # the end")
	a.press("Publish")
	a.sees("The changes do not conflict.")
	a.press("Merge the changes")
	a.reads("name: Staff sign-in")
	a.duplicates()
}

// duplicates makes a flow with the text of the one that is shown, its comments and its scenarios.
func (a *administrator) duplicates() {
	a.t.Helper()
	a.press("Duplicate")
	a.heading("New flow")
	a.reads("handle: staff-sign-in-copy")
	a.reads("use: authorization-code # the end")
	a.keepsTheScenario()
	a.press("Create")
	a.heading("Staff sign-in (copy)")
	a.keepsTheScenario()
	a.press("Duplicate")
	a.heading("New flow")
	a.reads("handle: staff-sign-in-copy-2")
}

// keepsTheScenario finds the scenario that simulates has written.
func (a *administrator) keepsTheScenario() {
	a.t.Helper()
	a.press("Simulate")
	a.reads("- name: a passkey")
}

// seesWhyItIsUnsafe reads the finding at its line, at its edge and with the run that breaks the rule.
func (a *administrator) seesWhyItIsUnsafe() {
	a.t.Helper()
	a.sees("The flow cannot be saved until its errors are fixed.")
	a.until(`document.querySelector(".cm-lint-marker-error") && document.querySelector('.react-flow__edge.bad[aria-label^="device —success, failure→ finish"]')`)
	if a.evalBool(named("button", "Create")) {
		a.t.Error("an unsafe flow can be saved")
	}
	a.press("Findings")
	a.sees("device —failure→ finish")
	a.isAccessible("a finding")
}

// simulates signs in with the software authenticator, and keeps the run as a scenario.
func (a *administrator) simulates() {
	a.t.Helper()
	a.press("Simulate")
	a.press("Start")
	a.sees("The run waits at device.")
	a.press("Answer with the passkey")
	a.sees("The run is complete: ada is signed in.")
	a.fill("Name of the scenario", "a passkey")
	a.press("Save as a scenario")
	a.press("Run the scenarios")
	a.sees("1 of 1 scenarios passed.")
	folder := a.downloads()
	a.press("Download")
	eventually(a.t, "the download", func() bool {
		text, err := os.ReadFile(filepath.Join(folder, "staff-sign-in_test.yaml"))
		return err == nil && strings.Contains(string(text), "- name: a passkey")
	})
}

// downloads returns the folder of the files that the browser saves.
func (a *administrator) downloads() string {
	a.t.Helper()
	folder := a.t.TempDir()
	call(a.tab, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
		Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder, BrowserContextID: chromedp.FromContext(a.ctx).BrowserContextID,
	})
	return folder
}

// publishes changes a part of the text, and publishes it with the reason.
func (a *administrator) publishes(old, text, reason string) {
	a.t.Helper()
	a.write(old, text)
	a.fill("Reason", reason)
	a.press("Publish")
}

func mergeAFlow(a *administrator) {
	a.heading("New flow")
	a.write("handle: my-sign-in", "handle: shared-sign-in")
	a.press("Create")
	a.heading("My sign-in")
	a.until(`location.pathname.split("/").pop().length === 36`)
	b := asAdministrator(a.t, a.p, "admin", eval[string](a.tab, `location.pathname.replace("/console", "")`), false)
	b.heading("My sign-in")
	a.write("mode: usernameless", "userVerification: required")
	b.publishes("name: My sign-in", "name: Their sign-in", "renamed")
	b.sees("Version 2")

	a.press("Publish")
	a.sees("The changes do not conflict.")
	a.press("Merge the changes")
	a.sees("Merged. Check the text and publish it.")
	a.reads("name: Their sign-in")
	a.reads("userVerification: required")
	a.press("Publish")
	a.heading("Their sign-in")
	a.sees("Version 3")

	a.write("name: Their sign-in", "name: Our sign-in")
	b.press("Flows")
	b.press("Their sign-in")
	b.publishes("name: Their sign-in", "name: Another sign-in", "renamed again")
	b.sees("Version 4")
	a.press("Publish")
	a.sees("Both of you changed these passages. Choose one of each.")
	a.sees("name: Another sign-in")
	a.isAccessible("the conflict")
	a.press("Keep mine: 1")
	a.press("Merge the changes")
	a.reads("name: Our sign-in")
	a.press("Publish")
	a.heading("Our sign-in")
	a.sees("Version 5")
	b.expectQuiet()
}

// returnToAFlow leaves the page of a flow in several ways. The text that is not published stays until it is
// published or discarded.
func returnToAFlow(a *administrator) {
	a.heading("New flow")
	a.write("handle: my-sign-in", "handle: unfinished-sign-in")
	a.write("name: My sign-in", "name: Unfinished sign-in")
	a.press("Create")
	a.heading("Unfinished sign-in")
	a.until(`location.pathname.split("/").pop().length === 36`)
	const notice = "The editor has your changes that are not published."
	for _, leave := range []struct {
		by   string
		back func()
	}{
		{"reload", func() { eval[any](a.tab, `location.reload()`) }},
		{"navigation", func() { a.press("Flows"); a.heading("Flows"); a.press("Unfinished sign-in") }},
		{"Back", func() { a.press("Users"); a.heading("Users"); eval[any](a.tab, `history.back()`) }},
	} {
		a.write("name: Unfinished sign-in", "name: Unfinished sign-in, "+leave.by)
		leave.back()
		a.sees(notice)
		a.reads("name: Unfinished sign-in, " + leave.by)
		a.isAccessible("changes that are not published")
		a.press("Discard the changes")
		a.until(`!document.querySelector("main").innerText.includes(` + strconv.Quote(notice) + `)`)
		a.until(`!document.querySelector(".cm-content").innerText.includes(` + strconv.Quote(leave.by) + `)`)
	}
	a.publishes("name: Unfinished sign-in", "name: Finished sign-in", "it is complete")
	a.heading("Finished sign-in")
	a.press("Flows")
	a.heading("Flows")
	a.press("Finished sign-in")
	a.heading("Finished sign-in")
	a.reads("name: Finished sign-in")
	if a.evalBool(`document.querySelector("main").innerText.includes(` + strconv.Quote(notice) + `)`) {
		a.t.Error("a published text is shown as a change")
	}
}
