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
