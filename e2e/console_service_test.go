package e2e_test

import "testing"

// An administrator reads the configuration.
func TestConsoleShowsTheConfiguration(t *testing.T) {
	t.Parallel()
	p := serve(t)
	c := openConsole(t, p, "/configuration")
	c.heading("Configuration")
	c.fill("Find a setting", "key_publish")
	c.until(`document.querySelectorAll("main tbody tr").length === 1`)
	c.press("token.key_publish")
	c.until(`document.querySelector("main tbody tr").textContent.includes("POSTERN_TOKEN_KEY_PUBLISH")`)
	c.isAccessible("the configuration")
}
