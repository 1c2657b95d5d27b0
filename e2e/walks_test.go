package e2e_test

import "testing"

// TestWalks performs the tasks of administrators in the console, as docs/console.md describes them.
// Administrators see only the pages: everything is found by its role and name. Some walks use the
// keyboard alone. Other people, such as users who sign in, have browsers of their own. All walks share
// a server, so each one has users, applications and flows of its own.
func TestWalks(t *testing.T) {
	t.Parallel()
	needChecker(t)
	p := serve(t, "POSTERN_SERVER_TRUSTED_PROXIES=127.0.0.1/32,::1/128")
	for _, walk := range []struct {
		task            string
		start           string // below /console
		hasKeyboardOnly bool
		steps           func(*administrator)
	}{
		{"create an application, copy its code and test its sign-in", "/applications", false, createAnApplication},
		{"draw a flow, repair it, simulate it, use it and roll it back", "/flows/new", false, drawAFlow},
		{"invite a user", "/users", true, inviteAUser},
		{"give a user a role and take it back", "/users", false, giveARole},
		{"find out why a user cannot sign in", "/users", false, explainASignIn},
		{"disable a user", "/users", false, disableAUser},
		{"appoint an administrator who only reads the audit log", "/roles", false, appointAnAuditor},
		{"merge the changes of two administrators in a flow", "/flows/new", false, mergeAFlow},
		{"leave a flow with changes, and return", "/flows/new", false, returnToAFlow},
		{"add an identity provider", "/identity-providers", true, addAnIdentityProvider},
		{"brand an application", "", false, brandAnApplication},
		{"rotate the signing keys", "", true, rotateTheKeys},
		{"search, verify and download the audit log", "/groups", false, searchTheAuditLog},
		{"replace a client secret", "/applications", true, replaceASecret},
	} {
		t.Run(walk.task, func(t *testing.T) {
			t.Parallel()
			a := asAdministrator(t, p, "admin", walk.start, walk.hasKeyboardOnly)
			walk.steps(a)
			a.expectQuiet()
		})
	}
}

// The first administrator of a new server signs in with the printed password, adds a passkey in the
// console, and from then on makes sensitive changes after using it. What was entered is saved after
// the sign-in.
func TestWalkOfTheFirstSignIn(t *testing.T) {
	t.Parallel()
	a := asAdministrator(t, serve(t), "admin", "", false)
	a.heading("Overview")
	a.sees("Protect your account with a passkey")
	a.isAccessible("the overview of an administrator without a passkey")
	a.press("Add a passkey")
	a.sees("Your passkey is set up.")
	a.press("Roles")
	a.heading("Roles")
	a.press("Create")
	a.heading("Create role")
	a.fill("Name", "Helper")
	a.fill("Permissions", "system:users:read")
	a.press("Create")
	a.sees("This change (Create role) affects administrators of this service. For that, you must have signed in with your passkey within the last 15 minutes.")
	a.isAccessible("the request for a passkey")
	a.press("Sign in")
	a.signInAgain()
	a.heading("Helper") // what was entered is saved after the sign-in
	a.press("Overview")
	a.heading("Overview")
	a.sees("Recent events")
	if a.evalBool(`document.querySelector("main").innerText.includes("Protect your account")`) {
		t.Error("an administrator with a passkey is asked to add one")
	}
	a.expectQuiet()
}
