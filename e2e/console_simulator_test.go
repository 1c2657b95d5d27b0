package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// choose selects an option of the list whose label is given, as a user does.
func (c *consoleTab) choose(label, value string) {
	c.t.Helper()
	list := fmt.Sprintf(`[...document.querySelectorAll("label")].find((l) => l.textContent.trim() === %q)?.control`, label)
	c.until(fmt.Sprintf(`[...(%s)?.options ?? []].some((o) => o.value === %q)`, list, value))
	eval[any](c.tab, fmt.Sprintf(`((list) => {
		Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, "value").set.call(list, %q);
		list.dispatchEvent(new Event("change", {bubbles: true}));
	})(%s)`, value, list))
}

// An administrator simulates the built-in sign-in, saves the walk as a scenario, runs it, and drafts
// scenarios for what it does not reach. Nothing of it is sent to the server.
func TestConsoleSimulates(t *testing.T) {
	t.Parallel()
	needChecker(t)
	p := serve(t)
	c := openConsole(t, p, "/flows")
	c.heading("Flows")
	c.press("Sign in with a passkey or a password")
	c.heading("Sign in with a passkey or a password")
	c.press("Simulate")
	c.sees("Scenario file")
	c.press("Start")
	c.sees("The run waits at key.")
	c.choose("Fault", "bad-signature")
	c.press("Answer with the passkey")
	c.sees("The run waits at who.")
	c.sees("passkey_verification_failed")
	c.sees("key —failure→ who")
	c.until(`document.querySelector(".react-flow__node.waits[data-id=who]") && document.querySelector(".react-flow__edge.walked")`)
	c.press("Back")
	c.sees("The run waits at key.")
	c.choose("Fault", "bad-signature")
	c.press("Answer with the passkey")
	c.press("Send usernameless")
	c.sees("The run waits at key.")
	c.press("Answer with the passkey")
	c.sees("The run is complete: ada is signed in.")
	c.isAccessible("a simulated run")

	c.fill("Name of the scenario", "a passkey after a forged one")
	c.press("Save as a scenario")
	c.sees("The walk is a scenario of the file now.")
	c.press("Run the scenarios")
	c.sees("1 of 1 scenarios passed.")
	c.sees("Outcomes that no scenario reaches")
	c.until(`document.querySelector(".react-flow__edge.missed")`)
	c.isAccessible("the results")
	eval[any](c.tab, `document.querySelector(".preview").closest("details").open = false`)
	c.picture("console-simulator", ".studio")

	c.press("Draft scenarios for them")
	c.sees("of them reach their outcome.")
	c.press("Run the scenarios")
	c.until(`/(\d+) of \1 scenarios passed\./.test(document.querySelector("main").innerText) && !document.querySelector("main").innerText.includes("1 of 1 scenarios")`)
	if sent := eval[[]string](c.tab, `[window, ...Array.from(window)].flatMap((w) => w.performance.getEntriesByType("resource")).map((r) => r.name).filter((name) => /\/flow\/(execute|check)|\/flows\/check/.test(name))`); len(sent) > 0 {
		t.Errorf("the simulation sent %q", sent)
	}
	c.do(chromedp.Reload()) // as signing in again does
	c.heading("Sign in with a passkey or a password")
	c.press("Simulate")
	c.reads("- name: a passkey after a forged one")
	c.expectQuiet()
}

// The simulator shows the hosted page of each step, in each language, with light and dark colors. Its
// buttons answer the step.
func TestConsoleShowsThePageOfAStep(t *testing.T) {
	t.Parallel()
	needChecker(t)
	p := serve(t)
	c := openConsole(t, p, "/flows/new")
	c.sees("No findings: the flow is safe.")
	c.press("Simulate")
	c.press("Start")
	c.sees("The run waits at key.")
	const page = `document.querySelector("iframe")?.contentDocument`
	heading := func(text string) {
		c.until(page + fmt.Sprintf(`?.getElementById("heading")?.textContent === %q`, text))
	}
	background := func(color string) {
		c.until(page + fmt.Sprintf(`?.body && document.querySelector("iframe").contentWindow.getComputedStyle(document.querySelector("iframe").contentDocument.body).backgroundColor === %q`, color))
	}
	heading("Sign in")
	c.choose("Language", "de")
	heading("Anmelden")
	c.choose("Colors", "dark")
	background("rgb(16, 20, 18)") // of the paper in internal/design
	c.choose("Colors", "light")
	background("rgb(250, 249, 246)")
	c.choose("Application", bootstrapApplication(t, p, "Try it"))
	heading("Bei Try it anmelden")
	c.isAccessible("the preview")
	c.picture("console-preview", ".preview")
	c.until(`((b) => b && (b.click(), true))(` + page + `?.querySelector("button.primary, button[id^=action-]"))`)
	c.sees("The run is complete: ada is signed in.")
	c.until(page + `?.getElementById("view")?.dataset.view === "done"`)
	c.expectQuiet()
}

// bootstrapApplication returns the id of an application of the seeded store.
func bootstrapApplication(t *testing.T, p *postern, name string) string {
	t.Helper()
	var list struct{ Applications []struct{ ID, Name string } }
	p.get(t, "/applications", &list)
	for _, app := range list.Applications {
		if app.Name == name {
			return app.ID
		}
	}
	t.Fatalf("there is no application %q", name)
	return ""
}

// The simulator is usable on a phone, and reports what is wrong in the scenario file.
func TestConsoleSimulatorOnAPhone(t *testing.T) {
	t.Parallel()
	needChecker(t)
	c := openConsole(t, serve(t), "/flows/new")
	call(c.tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 390, Height: 844, DeviceScaleFactor: 1})
	c.sees("No findings: the flow is safe.")
	c.press("Simulate")
	c.press("Start")
	c.sees("The run waits at key.")
	c.choose("Fault", "cancelled")
	c.press("Answer with the passkey")
	c.sees("The device did not answer: cancelled.")
	if wide := eval[int](c.tab, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d pixels wide", wide)
	}
	c.isAccessible("the simulator on a phone")
	eval[any](c.tab, `(() => {
		const content = document.querySelectorAll(".cm-content")[1];
		content.focus();
		document.execCommand("selectAll");
		document.execCommand("insertText", false, "users: {ada: {password: x}}");
	})()`)
	c.press("Restart")
	c.until(`[...document.querySelectorAll("[role=alert]")].some((e) => e.textContent.includes("attributes"))`)
	if text := eval[string](c.tab, `document.querySelector(".simulator").innerText`); strings.Contains(text, "is signed in") {
		t.Error("the run goes on")
	}
	c.expectQuiet()
}
