package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// openUser finds a user in the list, and opens the page of the user.
func (a *administrator) openUser(username string) {
	a.t.Helper()
	a.fill("Username, email address or id", username)
	a.until(`/\b1 in total/.test(document.querySelector("main").innerText)`) // rows no longer move
	a.press(username)
	a.heading(username)
}

func inviteAUser(a *administrator) {
	a.press("Create")
	a.heading("Create user")
	a.fill("Username", "nora")
	a.fill("Email address", "nora@example.org")
	a.press("Create")
	a.heading("nora")
	a.choose("Application", "Try it")
	a.press("Invite")
	a.readsIn("Invitation", "The invitation was sent to nora@example.org.")
	link := a.p.mailed("nora@example.org", `(https?://\S+/gate/invitation\?applicationId=\S+#\S+)`)

	nora := openGate(a.t, a.p)
	nora.open(link)
	nora.shows("step/link")
	nora.click("action-submit")
	nora.shows("step/key")
	nora.click("action-passkey")
	nora.shows("account")

	a.press("Users")
	a.heading("Users")
	a.openUser("nora")
	a.readsIn("Passkeys", "Delete")
	a.readsIn("Why could this user not sign in?", "The user signed in.")
	a.isAccessible("a user who has enrolled")

	createUser(a.t, a.p, object{"username": "nils", "email": "nils@example.org"})
	a.press("Users")
	a.openUser("nils")
	a.choose("Application", "Try it")
	a.press("Invite")
	a.readsIn("Invitation", "The invitation was sent to nils@example.org.")
	a.press("Withdraw the invitation")
	a.confirm("Withdraw the invitation")
	a.readsIn("Invitation", "The invitation was withdrawn.")
}

func giveARole(a *administrator) {
	createUser(a.t, a.p, object{"username": "vera", "password": adminPassword})
	a.p.create(a.t, "/roles", adminToken(a.t, a.p), object{"name": "Librarians"}, nil)
	a.openUser("vera")
	a.readsIn("Password", "The user has a password.")
	a.readsIn("Invitation", "An invitation is for users who cannot sign in yet.")
	a.readsIn("Groups", "The user is in no group.")
	a.find("Assign a role", "Librarians")
	a.press("Remove: Librarians")
	a.readsIn("Roles", "The user has no role.")
	a.isAccessible("a user with a role")
}

// exhaustGuesses enters wrong passwords until the server blocks guesses at the account. Each comes
// from another network, as one network gets only a few.
func (a *administrator) exhaustGuesses(username string) {
	guesser := *a.p
	for n := range 250 {
		guesser.client = &http.Client{Transport: fromAddress(fmt.Sprintf("198.18.%d.1", n))}
		if err := guesser.guess(username, "wrong"); err != nil {
			if !strings.Contains(err.Error(), "too_many_requests") {
				a.t.Fatal(err)
			}
			return
		}
	}
	a.t.Fatal("the server does not block guesses")
}

func explainASignIn(a *administrator) {
	createUser(a.t, a.p, object{"username": "ulla", "password": adminPassword})
	a.exhaustGuesses("ulla")
	a.openUser("ulla")
	a.sees("The account is active: neither disabled nor locked.")
	a.sees("The password was wrong.")
	a.sees("Too many guesses had failed at ")
	a.isAccessible("a user with too many failed guesses")
	a.press("Forget the failed guesses")
	a.confirm("Forget the failed guesses")
	a.until(`!document.querySelector("[aria-labelledby=part-sign-ins]").innerText.includes("Too many guesses had failed")`)

	ulla := openGate(a.t, a.p)
	ulla.open(a.p.base + "/gate/signin?applicationId=" + consoleID)
	ulla.click("action-password")
	ulla.shows("step/who")
	ulla.enter("username", "ulla")
	ulla.enter("password", adminPassword)
	ulla.click("action-continue")
	ulla.shows("account")
}

func disableAUser(a *administrator) {
	otto := openGate(a.t, a.p)
	otto.signUp("otto")
	a.openUser("otto")
	a.readsIn("Sessions", "End")
	a.press("Disable")
	a.confirm("Disable")
	a.sees("Saved.")
	a.sees("The account is disabled: the user cannot sign in by any means until you enable it.")
	a.readsIn("Sessions", "The user is not signed in.")

	// The page asks for a sign-in, and the browser may answer at once with the passkey.
	otto.open(a.p.base + "/gate/account")
	otto.until(`document.querySelector("#view[data-view=step], #view[data-view=over]") && !document.querySelector("[aria-busy]")`)
	if view := otto.text("view"); !strings.Contains(view, "Sign in") && !strings.Contains(view, "This account is disabled.") {
		a.t.Errorf("a disabled user sees %q", view)
	}
}

// destinations returns the names of the pages in the main navigation.
func (a *administrator) destinations() []string {
	return eval[[]string](a.tab, `[...document.querySelectorAll("nav a")].map((a) => a.textContent)`)
}

func appointAnAuditor(a *administrator) {
	createUser(a.t, a.p, object{"username": "rita", "password": adminPassword})
	a.press("Create")
	a.heading("Create role")
	a.fill("Name", "Auditor")
	a.fill("Permissions", "system:audit:read")
	a.find("Add: Assignments", "rita")
	a.sees("rita User")
	a.press("Create")
	a.heading("Auditor")

	r := asAdministrator(a.t, a.p, "rita", "", false)
	r.heading("Overview")
	r.sees("Recent events")
	r.isAccessible("the overview of an auditor")
	if got := r.destinations(); !slices.Equal(got, []string{"Overview", "Audit log"}) {
		a.t.Errorf("an auditor is offered %q", got)
	}
	r.press("Audit log")
	r.heading("Audit log")
	r.fill("Action", "role.created") // other walks fill the first page
	r.press("Apply")
	r.sees("role.created")
	r.goTo("/users")
	r.sees("system:users:read") // which the request lacked
	r.expectQuiet()
}
