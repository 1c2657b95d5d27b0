package e2e_test

import "testing"

// The panel of versions shows who stored each version, why, and how many runs are open.
func TestConsoleFlowVersions(t *testing.T) {
	t.Parallel()
	p := serve(t)
	c := openConsole(t, p, "/flows/new")
	c.heading("New flow")
	c.sees("No findings: the flow is safe.")
	c.press("Create")
	c.heading("My sign-in")
	c.write("name: My sign-in", "name: Our sign-in")
	c.fill("Reason", "the name of our team")
	c.isAccessible("the studio with a reason")
	c.press("Publish")
	c.heading("Our sign-in")
	c.press("Versions")
	c.sees("the name of our team")
	c.sees("admin · Open runs: 0")
	c.isAccessible("the versions of a flow")
	c.expectQuiet()
}

// Two administrators change a flow. What only one changed is merged; of what both changed, one version
// is chosen. The merged text is checked, and published as the next version.
func TestConsoleMergesFlows(t *testing.T) {
	t.Parallel()
	needChecker(t)
	p := serve(t)
	c := openConsole(t, p, "/flows/new")
	c.heading("New flow")
	c.sees("No findings: the flow is safe.")
	c.press("Create")
	c.heading("My sign-in")
	c.until(`location.pathname.split("/").pop().length === 36`)
	flow := "/flows/" + eval[string](c.tab, `location.pathname.split("/").pop()`)

	c.write("mode: usernameless", "userVerification: required")
	patch(t, p, flow, object{"name": "Their sign-in"})
	c.sees("No findings: the flow is safe.")
	c.press("Publish")
	c.sees("The changes do not conflict.")
	c.press("Merge the changes")
	c.sees("Merged. Check the text and publish it.")
	c.reads("name: Their sign-in")
	c.reads("userVerification: required")
	c.sees("No findings: the flow is safe.")
	c.press("Publish")
	c.heading("Their sign-in")
	c.sees("Version 3")

	c.write("name: Their sign-in", "name: Our sign-in")
	patch(t, p, flow, object{"name": "Another sign-in"})
	c.sees("No findings: the flow is safe.")
	c.press("Publish")
	c.sees("Both of you changed these passages. Choose one of each.")
	c.sees("name: Another sign-in")
	c.isAccessible("the conflict")
	c.press("Keep mine: 1")
	c.press("Merge the changes")
	c.reads("name: Our sign-in")
	c.press("Publish")
	c.heading("Our sign-in")
	c.sees("Version 5")
	c.expectQuiet()
}
