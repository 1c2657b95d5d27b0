package e2e_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	_ "modernc.org/sqlite" // to change the age of sessions
)

// signInMethods are the account page's names of the sign-in methods, in its order.
func (g *gateTab) signInMethods() []string {
	g.t.Helper()
	return eval[[]string](g.tab, `[...document.querySelectorAll("[aria-labelledby=ways] strong")].map((n) => n.textContent)`)
}

// agree confirms the dialog.
func (g *gateTab) agree() {
	g.t.Helper()
	g.do(chromedp.Click(chromedp.ID("sure")))
}

// A sign-in to another application removes no second factor, and the account page asks for the code after
// the password; a user who used the passkey can remove both.
func TestGateRemovesSecondFactors(t *testing.T) {
	t.Parallel()
	p := serve(t)
	createUser(t, p, object{"username": "ida", "password": adminPassword})
	app := p.storeFlow(t, "code_as_second_factor.yaml")
	g := openGate(t, p)
	// The page would add a passkey that is worth no more than the password, and so removes no factor.
	g.enterPassword(p.storeFlow(t, "passkey_must_be_added.yaml"), "ida")
	g.shows("step/add")
	g.click("action-passkey")
	g.shows("account")
	g.click("sign-out")
	g.shows("signedout")
	g.present(false) // so that the passkey does not sign in before the password

	g.enterPassword(app, "ida")
	g.setUpApp()
	// A sign-in to another application shows the account, and changes nothing.
	if got := g.signInMethods(); len(got) != 4 || !strings.Contains(g.text("view"), "ida") {
		t.Errorf("after a sign-in to another application the page shows %q: %q", got, g.text("view"))
	}
	if text := g.text("view"); !strings.Contains(text, "10 of 10 left") {
		t.Errorf("the page says %q", text)
	}
	g.click("Delete-totp")
	g.agree()
	g.alerted("Sign in again to change this")
	g.click("sign-out")
	g.shows("signedout")

	g.open(p.base + "/gate/signin")
	g.click("action-password")
	g.shows("step/who")
	g.enter("username", "ida")
	g.enter("password", adminPassword)
	g.click("action-continue")
	g.shows("step/second")

	// A passkey is sufficient proof.
	g.present(true)
	g.open(p.base + "/gate/signin")
	g.shows("account")
	for _, factor := range []string{"totp", "recovery-codes"} {
		g.click("Delete-" + factor)
		g.agree()
		g.alerted("Deleted")
		g.until(fmt.Sprintf(`!document.getElementById("Delete-%s")`, factor))
	}
	if got := g.signInMethods(); len(got) != 2 {
		t.Errorf("after all others are deleted the ways to sign in are %q, want the passkey and the password", got)
	}
}

// The page of an account with many entries stays usable.
func TestGateAccountWithEverything(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	const hostileName = "Corp <b>of</b> Examples"
	identity := func(id, provider, name string) object {
		return object{"id": id, "provider": object{"id": "p", "handle": "corp", "name": provider}, "subject": "248289761001", "name": name,
			"createdAt": "2026-03-01T10:00:00Z", "lastUsedAt": "2026-11-02T10:00:00Z"}
	}
	sessions := []object{{"id": "s-0", "client": "Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0", "createdAt": "2026-11-20T08:00:00Z", "current": true}}
	for i := range 7 {
		sessions = append(sessions, object{"id": fmt.Sprintf("s-%d", i+1), "client": "Mozilla/5.0 (iPhone) Safari/604.1", "createdAt": fmt.Sprintf("2026-11-0%dT08:00:00Z", i+1)})
	}
	g.signUp("ida")
	g.answers(object{
		"/users/me/identities":     object{"identities": []object{identity("i-1", hostileName, "ida@corp.example"), identity("i-2", "Example Mail", "")}},
		"/users/me/identities/i-1": object{},
		"/users/me/factors": object{"factors": []object{
			{"type": "totp", "createdAt": "2026-03-01T10:00:00Z", "lastUsedAt": "2026-11-02T10:00:00Z"},
			{"type": "recovery-codes", "createdAt": "2026-03-01T10:00:00Z", "total": 10, "left": 0},
		}},
		"/users/me/sessions": object{"sessions": sessions},
	})
	for _, light := range []bool{true, false} {
		g.luminance(light)
		g.do(chromedp.Reload())
		g.shows("account")
		for _, width := range []int64{phone, 1280} {
			g.setWidth(width)
			g.checkAccessibility(fmt.Sprintf("an account with everything, %d wide, light %v", width, light))
			g.picture("account-ways", light, width)
		}
	}
	g.luminance(true)
	g.setWidth(phone)
	g.open(p.base + "/gate/account?lang=de")
	g.shows("account")
	g.checkAccessibility("an account in German on a phone")
	g.picture("account-de", true, phone)
	g.open(p.base + "/gate/account")
	g.shows("account")
	if got := g.signInMethods(); !slices.Equal(got, []string{"Passkey", hostileName, "Example Mail", "Authenticator app", "Recovery codes"}) {
		t.Errorf("the ways to sign in are %q", got)
	}
	if text := g.text("view"); !strings.Contains(text, "ida@corp.example · Since Mar 1, 2026 · Last used Nov 2, 2026") || !strings.Contains(text, "0 of 10 left") {
		t.Errorf("the page says %q", text)
	}
	shown := `[...document.querySelectorAll("[aria-labelledby=sessions] li")].filter((n) => n.checkVisibility()).length`
	if n := eval[int](g.tab, shown); n != 5 {
		t.Errorf("%d of 8 sessions are shown at once, want 5", n)
	}
	if text := eval[string](g.tab, `document.querySelector("summary").textContent`); text != "3 more" {
		t.Errorf("the others are announced as %q", text)
	}
	eval[any](g.tab, `document.querySelector("summary").click()`)
	if n := eval[int](g.tab, shown); n != 8 {
		t.Errorf("%d of 8 sessions are shown when all are asked for", n)
	}
	for _, width := range []int64{phone, 1280} {
		g.setWidth(width)
		if apart := eval[bool](g.tab, `["Rename", "Delete"].map((id) => document.querySelector(`+"`[id^=${id}-]`"+`).getBoundingClientRect().top).reduce((a, b) => a !== b)`); apart {
			t.Errorf("%d wide, the buttons of a passkey are torn apart", width)
		}
	}

	g.click("Unlink-i-1")
	if text := g.text("asked"); text != "Unlink "+hostileName+"?" {
		t.Errorf("the dialog asks %q", text)
	}
	g.checkAccessibility("the dialog that asks before unlinking")
	g.picture("account-unlink", false, 1280)
	g.agree()
	g.alerted("Unlinked: " + hostileName)
	if paths := eval[[]string](g.tab, `window.sent.map(([path]) => path)`); !slices.Contains(paths, "/users/me/identities/i-1") {
		t.Errorf("the page asked for %q", paths)
	}
}

// A user who signed up with another provider sees it among the sign-in methods. It cannot
// be removed while it is the only one.
func TestGateUnlinksAProvider(t *testing.T) {
	t.Parallel()
	f := newFederated(t)
	g := &gateTab{tab: openTab(t), base: f.base}
	f.signsIn(g)
	if text := g.text("view"); !slices.Equal(g.signInMethods(), []string{"Example Corp"}) || !strings.Contains(text, "ada@example.org · Since ") {
		t.Errorf("the page says %q", text)
	}
	unlink := func() {
		t.Helper()
		g.until(`(document.querySelector("[id^=Unlink-]")?.click(), document.getElementById("sure"))`)
		g.agree()
	}
	unlink()
	g.alerted("This is your only way to sign in. Add a passkey first.")
	g.click("add")
	g.alerted("Added")
	unlink()
	g.alerted("Unlinked: Example Corp.")
	if got := g.signInMethods(); len(got) != 1 || got[0] == "Example Corp" {
		t.Errorf("then the ways to sign in are %q", got)
	}
}

// A change that requires a recent sign-in leads to one, and then continues where the user
// pressed the button.
func TestAudit07TheAccountPageAsksForARecentSignIn(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	// The server answers as to an old sign-in; see
	// server.TestAudit07ChangesTakeARecentSignIn.
	g.beforeScripts(`{
		const real = fetch;
		window.fetch = (url, init) => init?.method !== "POST" || !String(url).endsWith("register/passkey/start") || !sessionStorage.getItem("old")
			? real(url, init)
			: Promise.resolve(sessionStorage.removeItem("old")).then(() => new Response(JSON.stringify({ code: "insufficient_user_authentication",
				message: { key: "error.insufficient_user_authentication", defaultValue: "Sign in again to change this." } }), { status: 401 }));
	}`)
	g.signInAsAdmin(p.base + "/gate/signin")
	g.shows("account")
	eval[any](g.tab, `sessionStorage.setItem("old", "1")`)
	g.click("add")
	g.alerted("Sign in again")
	g.checkAccessibility("the account page that asks for a sign-in")
	g.click("again")
	g.shows("step/key")
	g.click("action-password")
	g.shows("step/who")
	g.enter("username", "admin")
	g.enter("password", adminPassword)
	g.click("action-continue")
	g.shows("account")
	g.alerted("Added")
	if got := g.signInMethods(); len(got) != 2 {
		t.Errorf("after the sign-in the ways to sign in are %q, want the new passkey and the password", got)
	}
}

// The account page with the browser's session: seeing it takes no proof, a change of a credential
// does, and then goes on where the user began.
func TestGateAccountBySession(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	g.present(false)
	g.signInAsAdmin(p.base + "/gate/signin")
	g.shows("account")
	if eval[bool](g.tab, `sessionStorage.length + localStorage.length > 0 || document.cookie !== ""`) {
		t.Error("the page stores something")
	}

	// A second tab of the browser needs no sign-in.
	other := &gateTab{tab: newTab(t, g.ctx), base: p.base}
	other.open(p.base + "/gate/account")
	other.shows("account")

	// The profile.
	g.click("edit")
	g.checkAccessibility("editing the profile")
	g.picture("account-profile", true, 1280)
	g.do(typeInto("profile-given_name", "Ada"), chromedp.Click(chromedp.ID("sure")))
	g.alerted("Done")
	if text := eval[string](g.tab, `document.querySelector("dl").textContent`); !strings.Contains(text, "Given nameAda") {
		t.Errorf("the profile is %q", text)
	}
	if got := g.focused(); got != "edit" {
		t.Errorf("the focus is on %q, want the button of the change", got)
	}

	// A password: what is wrong with it is said in the dialog.
	g.click("Change-password")
	g.do(typeInto("new-password", "short"), chromedp.Click(chromedp.ID("sure")))
	g.until(`document.getElementById("fault").textContent && !document.querySelector("[aria-busy]")`)
	g.checkAccessibility("a password that is refused")
	const chosen = "short-Quiet-harbour-lantern-7"
	g.do(typeInto("new-password", strings.TrimPrefix(chosen, "short")), chromedp.Click(chromedp.ID("sure")))
	g.alerted("Done")

	// After a while the page still works, and a credential takes a new sign-in.
	p.ageSessions(t)
	g.do(chromedp.Reload())
	g.shows("account")
	g.click("export")
	g.alerted("Sign in again")
	g.present(true)
	g.click("add")
	g.alerted("Sign in again")
	g.checkAccessibility("a change that needs a sign-in")
	g.click("again")
	g.shows("step/key")
	g.click("action-password")
	g.shows("step/who")
	g.enter("username", "admin")
	g.enter("password", chosen)
	g.click("action-continue")
	g.shows("account")
	g.alerted("Added")
	if got := g.signInMethods(); len(got) != 2 || !slices.Contains(got, "Password") {
		t.Errorf("the ways to sign in are %q", got)
	}
	if n := eval[int](g.tab, `document.querySelectorAll("[aria-labelledby=sessions] li").length`); n != 1 {
		t.Errorf("the browser with two sessions has %d lines, want one", n)
	}
	if text := g.text("view"); !strings.Contains(text, "Last seen") || !strings.Contains(text, "Proves no more than a password") {
		t.Errorf("the page does not say what the passkey is worth: %q", text)
	}

	// The session ends in one tab; the other says so.
	other.do(chromedp.Reload())
	other.shows("account")
	g.click("sign-out")
	g.shows("signedout")
	other.click("edit")
	other.do(typeInto("profile-given_name", "Eve"), chromedp.Click(chromedp.ID("sure")))
	other.until(`document.getElementById("view").dataset.view === "over" && document.getElementById("view").textContent.includes("Your session has ended")`)
	other.checkAccessibility("a page whose session has ended")
}

// ageSessions makes the sign-ins of all sessions ten minutes older.
func (p *postern) ageSessions(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(p.dir, "data", "database", "*.db"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	db, err := sql.Open("sqlite", files[0]+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE sessions SET created_at = created_at - 600000000"); err != nil {
		t.Fatal(err)
	}
}

// After a change of the password the page shows what the former one alone has added, and asks for a stronger
// sign-in before the user keeps or removes it.
func TestGateShowsWhatAFormerPasswordAdded(t *testing.T) {
	t.Parallel()
	p := serve(t)
	createUser(t, p, object{"username": "ida", "password": adminPassword})
	g := openGate(t, p)
	g.enterPassword(p.storeFlow(t, "passkey_must_be_added.yaml"), "ida")
	g.shows("step/add")
	g.click("action-passkey")
	g.shows("account")
	g.click("sign-out")
	g.shows("signedout")
	g.present(false)
	g.open(p.base + "/gate/signin")
	g.click("action-password")
	g.shows("step/who")
	g.enter("username", "ida")
	g.enter("password", adminPassword)
	g.click("action-continue")
	g.shows("account")
	g.click("Change-password")
	g.do(typeInto("new-password", adminPassword), chromedp.Click(chromedp.ID("sure")))
	g.until(`document.getElementById("fault").textContent.includes("This is your current password.")`)
	g.do(typeInto("new-password", " and more"), chromedp.Click(chromedp.ID("sure")))
	g.until(`document.getElementById("former") && !document.querySelector("dialog")`)
	if text := g.text("view"); !strings.Contains(text, "Added with your former password") || !strings.Contains(text, "Keep what is yours") {
		t.Errorf("the page says %q", text)
	}
	g.checkAccessibility("what a former password added")
	for _, label := range []string{"Keep", "Delete"} {
		g.click(eval[string](g.tab, `document.querySelector("[id^=`+label+`-former-]").id`))
		g.agree()
		g.alerted("that the former password did not add")
	}
	g.until(`document.querySelector("[id^=Keep-former-]")`)
}
