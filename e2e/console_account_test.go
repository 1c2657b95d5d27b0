package e2e_test

import "testing"

// The console names the signed-in user. A user without permissions learns what to do.
func TestConsoleNamesTheUser(t *testing.T) {
	t.Parallel()
	p := serve(t)
	createUser(t, p, object{"username": "nora", "password": adminPassword})
	c := openConsoleAs(t, p, "nora", "/users")
	c.heading("Your account has no permissions here")
	c.sees("You are signed in as nora.")
	c.until(named("header a", "Your account: nora"))
	if got := eval[int](c.tab, `document.querySelectorAll("nav, [role=alert]").length`); got > 0 {
		t.Error("a user without permissions has a menu or sees an error")
	}
	c.isAccessible("the page of a user without permissions")
	c.press("Your account")
	c.until(`location.pathname === "/gate/account"`)
	c.expectQuiet()

	other := openConsole(t, p, "/users")
	other.until(named("header a", "Your account: admin"))
}
