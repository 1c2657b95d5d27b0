package e2e_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

// needChecker skips a test if the binary has no flow checker for the browser: `make build` builds it.
func needChecker(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("../server/console/wasm/built/checker.wasm.gz"); errors.Is(err, fs.ErrNotExist) {
		missingFrom(t, "the checker is not built: run `make checker`")
	}
}

// The browser checks a flow itself, and shows what is proven of it.
func TestConsoleProvesInTheBrowser(t *testing.T) {
	t.Parallel()
	needChecker(t)
	p := serve(t)
	c := openConsole(t, p, "/flows/new")
	c.heading("New flow")
	c.sees("No findings: the flow is safe.")
	c.sees("phishing-resistant")
	c.until(`document.querySelector(".react-flow__node.authenticated")`)
	c.press("What each edge changes")
	c.press("key —success→ done")
	c.sees("Certain at key → done")
	c.sees("an authenticated user")
	c.isAccessible("the proof")
	c.picture("console-proof", ".studio")
	c.press("Weakest chains of runs")
	c.sees("Try it with the user's mailbox")
	c.isAccessible("the chains")
	c.write("failure: key", "failure: done")
	c.sees("The flow cannot be saved until its errors are fixed.")
	c.until(`document.querySelector(".react-flow__edge.bad")`)
	c.sees("Facts and guarantees are shown for a flow without errors.")
	if asked := eval[int](c.tab, `performance.getEntriesByType("resource").filter((r) => r.name.endsWith("/flows/check")).length`); asked > 0 {
		t.Errorf("the server was asked %d times to check", asked)
	}
	c.expectQuiet()
}

// The editor completes names, fixes what a finding names, and shows how two versions differ.
func TestConsoleHelpsToWriteFlows(t *testing.T) {
	t.Parallel()
	needChecker(t)
	p := serve(t)
	c := openConsole(t, p, "/flows/new")
	c.heading("New flow")
	c.sees("No findings: the flow is safe.")
	c.write("success: done", "success: don")
	c.sees("did you mean")
	c.until(`document.querySelector(".cm-lint-marker-error")`)
	eval[any](c.tab, `document.querySelector(".cm-content").dispatchEvent(new KeyboardEvent("keydown", {key: "M", code: "KeyM", keyCode: 77, ctrlKey: true, shiftKey: true, bubbles: true}))`)
	c.until(`document.querySelector(".cm-panel-lint .cm-diagnosticAction")`)
	eval[any](c.tab, `document.querySelector(".cm-panel-lint .cm-diagnosticAction").click()`)
	c.sees("No findings: the flow is safe.")
	c.write("mode: usernameless", "mode: user")
	c.until(`[...document.querySelectorAll(".cm-tooltip-autocomplete li")].some((li) => li.textContent.includes("usernameless"))`)
	c.isAccessible("the completions")
	c.write("mode: user", "mode: usernameless")
	c.press("Create")
	c.heading("My sign-in")
	c.write("name: My sign-in", "name: Our sign-in")
	c.press("Publish")
	c.heading("Our sign-in")
	c.sees("Version 2")
	c.press("Versions")
	c.sees(`"My sign-in" → "Our sign-in"`)
	c.isAccessible("the versions")
	c.expectQuiet()
}

// The markers of the lines are those of the last check, also if a faulty word is replaced as a whole, and
// the text that had an error and the new one are checked in one go.
func TestConsoleMarkersFollowTheFindings(t *testing.T) {
	t.Parallel()
	needChecker(t)
	p := serve(t)
	c := openConsole(t, p, "/flows/new")
	c.heading("New flow")
	c.sees("No findings: the flow is safe.")
	c.write("authorization-code", "consent")
	c.until(`document.querySelector(".cm-lint-marker-error")`)
	c.write("consent", "authorization-code")
	c.sees("No findings: the flow is safe.")
	c.until(`!document.querySelector(".cm-lint-marker-error")`)
	c.write("failure: key", "failure: done")
	c.press("Findings (1)")
	c.sees(`lead the outcome "failure" to "key" instead of "done"`)
	c.expectQuiet()
}

// The page of a modified built-in flow shows how it differs from that of this release, and offers that one.
func TestConsoleOffersTheBuiltinFlow(t *testing.T) {
	t.Parallel()
	needChecker(t)
	p := serve(t)
	c := openConsole(t, p, "/flows")
	c.press("Sign in with a passkey or a password")
	c.heading("Sign in with a passkey or a password")
	c.sees("No findings: the flow is safe.")
	c.write("name: Sign in with a passkey or a password", "name: Our sign-in")
	c.press("Publish")
	c.heading("Our sign-in")
	c.sees("This flow differs from the built-in flow of this release")
	c.press("View the difference")
	c.sees(`"Our sign-in" → "Sign in with a passkey or a password"`)
	c.isAccessible("the notice")
	c.press("Use the new version")
	c.press("Publish")
	c.heading("Sign in with a passkey or a password")
	c.expectQuiet()
}
