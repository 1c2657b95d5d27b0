package e2e_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// intercept makes the API answer the page with a script for the body of fetch, for paths that begin
// with a prefix; "" ends it.
func (c *consoleTab) intercept(prefix, body string) {
	c.t.Helper()
	eval[any](c.tab, fmt.Sprintf(`window.realFetch ??= fetch; window.fetch = %q === "" ? realFetch : async (input, init) => {
		if (!new URL(input.url ?? input, location.href).pathname.startsWith(%[1]q)) return realFetch(input, init);
		%s
	}; null`, prefix, body))
}

// failed expects an alert with the text, which fits a phone and is accessible in light and dark.
func (c *consoleTab) failed(text string) {
	c.t.Helper()
	c.until(fmt.Sprintf(`document.querySelector("main [role=alert]")?.innerText.includes(%q)`, text))
	for _, light := range []bool{true, false} {
		c.luminance(light)
		call(c.tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 390, Height: 844, DeviceScaleFactor: 1})
		if over := eval[int](c.tab, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
			c.t.Errorf("the page with %q is %d px wider than a phone", text, over)
		}
		c.isAccessible(fmt.Sprintf("%q, light %v", text, light))
	}
	call(c.tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 1280, Height: 800, DeviceScaleFactor: 1})
}

// A page names a broken connection and the error of a proxy, and offers to try again.
func TestConsoleExplainsFailures(t *testing.T) {
	t.Parallel()
	c := openConsole(t, serve(t), "")
	c.heading("Overview")
	for _, failure := range []struct{ reply, text string }{
		{`throw new TypeError("Failed to fetch");`, "The server cannot be reached."},
		{`return new Response("<h1>Bad gateway</h1>", { status: 502, headers: { "Content-Type": "text/html" } });`, "The server did not answer as expected (HTTP 502)."},
	} {
		c.intercept("/groups", failure.reply)
		c.goTo("/audit")
		eval[any](c.tab, `history.pushState(null, "", "/console/groups?filter=name+eq+%22`+fmt.Sprint(len(failure.text))+`%22"); dispatchEvent(new PopStateEvent("popstate")); null`)
		c.failed(failure.text)
		c.intercept("", "")
		c.press("Try again")
		c.sees("Nothing matches the filter.")
	}
}

// A page names the permission that the user lacks.
func TestConsoleNamesTheLackingPermission(t *testing.T) {
	t.Parallel()
	p := serve(t)
	ida := createUser(t, p, object{"username": "ida", "password": adminPassword})
	made, err := p.post("/roles", adminToken(t, p), object{"name": "Auditors", "permissions": []string{"system:audit:read"}, "assignments": []object{{"type": "user", "id": ida}}})
	if err != nil || made.status != http.StatusCreated {
		t.Fatalf("%v %s", err, made.body)
	}
	c := openConsoleAs(t, p, "ida", "/roles")
	c.failed("You lack the permission system:roles:read.")
	c.sees("An administrator can give it to you with a role.")
}

// refused answers each request for the lack of a permission.
const refused = `window.refusals = (window.refusals ?? 0) + 1;
	return new Response(JSON.stringify({ code: "example", description: { defaultValue: "An example." } }), { status: 403, headers: { "Content-Type": "application/json", "WWW-Authenticate": 'Bearer error="insufficient_scope", scope="system:example:read"' } });`

// A refused page states the reason once, asks the server once, and offers nothing else.
func TestConsoleOffersNothingOnRefusedPages(t *testing.T) {
	t.Parallel()
	c := openConsole(t, serve(t), "/nowhere")
	c.heading("There is no such page.")
	c.intercept("/", refused)
	for path, title := range map[string]string{
		"/users": "Users", "/organization-units": "Organization units", "/identity-providers": "Identity providers",
		"/audit": "Audit log", "/signing-keys": "Signing keys", "/configuration": "Configuration", "": "Overview",
	} {
		eval[any](c.tab, `window.refusals = 0`)
		c.goTo(path)
		c.heading(title)
		c.until(`document.querySelectorAll("main [role=alert]").length === 1`) // the overview asks four times
		eval[any](c.tab, `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))`)
		if offers := eval[string](c.tab, `[...document.querySelectorAll("main :is(button, a, input, select)")].map((e) => e.textContent).join()`); offers != "Sign in" {
			t.Errorf("%q offers %q, want only to sign in", path, offers)
		}
		if n := eval[int](c.tab, `refusals`); n != 1 && path != "" {
			t.Errorf("%q sent %d requests that were refused, want 1", path, n)
		}
	}
}

// refusesChanges lets the console believe that a change at a path needs a sign-in of the last five minutes.
func (c *consoleTab) refusesChanges(path string) {
	c.t.Helper()
	c.intercept(path, `return new Response(JSON.stringify({ code: "insufficient_user_authentication", description: { defaultValue: "max_age=300" } }),
		{ status: 401, headers: { "Content-Type": "application/json", "WWW-Authenticate": 'Bearer error="insufficient_user_authentication", max_age=300' } });`)
}

// A change that needs a new sign-in goes on by itself after it, for the user who wanted it. Another user, and
// one who gave the sign-in up, make no change.
func TestConsoleContinuesAChangeAfterASignIn(t *testing.T) {
	t.Parallel()
	p := serve(t)
	token := adminToken(t, p)
	other := createUser(t, p, object{"username": "olga", "password": adminPassword})
	p.create(t, "/roles", token, object{"name": "Second", "permissions": []string{"system"}, "assignments": []object{{"type": "user", "id": other}}}, nil)
	for _, test := range []struct {
		name    string
		signIn  string // the user who signs in then; "" if none does
		deleted bool
	}{
		{"the same user", "admin", true},
		{"another user", "olga", false},
		{"no one", "", false},
	} {
		var group struct{ ID string }
		p.create(t, "/groups", token, object{"name": "Crew"}, &group)
		c := openConsole(t, p, "/groups/"+group.ID)
		c.heading("Crew")
		c.refusesChanges("/groups")
		c.press("Delete")
		c.confirm()
		c.failed("To change your account, you must have signed in within the last 5 minutes.")
		if c.evalBool(`document.querySelector("main [role=alert]").innerText.includes("max_age")`) {
			t.Error("the page shows the description for programs")
		}
		c.press("Sign in")
		c.until(`document.getElementById("action-password")`)
		if test.signIn == "" {
			c.open(p.base + "/console/groups/" + group.ID)
		} else {
			c.click("action-password")
			c.until(`document.getElementById("action-continue")`)
			c.enter("username", test.signIn)
			c.enter("password", adminPassword)
			c.click("action-continue")
		}
		if test.deleted {
			c.until(`location.pathname.endsWith("/console/groups")`)
		} else {
			c.until(`location.pathname.endsWith("` + group.ID + `")`)
			c.heading("Crew")
			c.until(named("button", "Delete"))
		}
		want := map[bool]int{true: http.StatusNotFound, false: http.StatusOK}[test.deleted]
		if status := send(t, p, http.MethodGet, "/groups/"+group.ID, token, nil); status != want {
			t.Errorf("%s: the group answers %d, want %d", test.name, status, want)
		}
		if !test.deleted {
			send(t, p, http.MethodDelete, "/groups/"+group.ID, token, nil)
		}
		c.expectQuiet()
	}
}

// A change whose sign-in the user gave up is not made at a later visit of its page.
func TestConsoleForgetsAnAbandonedChange(t *testing.T) {
	t.Parallel()
	p := serve(t)
	const administrators = "/groups/01900000-0000-7000-8000-000000000040"
	c := openConsole(t, p, administrators)
	c.heading("Administrators")
	c.refusesChanges("/groups")
	c.fill("Description", "abandoned")
	c.press("Save")
	c.failed("To change your account, you must have signed in within the last 5 minutes.")
	c.press("Sign in")
	c.until(`document.getElementById("action-password")`)
	c.open(p.base + "/console/roles")
	c.heading("Roles")
	c.goTo(administrators)
	c.until(`[...document.querySelectorAll("[role=status]")].some((s) => s.innerText === "You are signed in. Press the button again to make the change.")`)
}
