package e2e_test

import (
	"encoding/json"
	"fmt"
	"image"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/postern-id/postern/internal/datatest"
)

// These tests give the page simulated replies: texts and kinds of steps that no built-in
// flow has.

// answers gives the page these replies, by request path, in place of the server's own.
func (g *gateTab) answers(replies object) {
	g.t.Helper()
	text := datatest.Marshal(g.t, replies)
	g.beforeScripts(fmt.Sprintf(`{
		const replies = %s, real = fetch;
		window.sent = [];
		window.fetch = async (url, init) => {
			const path = new URL(url, location.href).pathname;
			if (!(path in replies)) return real(url, init);
			window.sent.push([path, init?.body]);
			return new Response(JSON.stringify(replies[path]), { headers: { "Content-Type": "application/json" } });
		};
	}`, text))
}

// step is a reply of a run that waits, with components.
func step(components ...object) object {
	return object{"executionId": "run-1", "flowStatus": "INCOMPLETE", "type": "VIEW", "stepId": "s", "challengeToken": "c",
		"data": object{"meta": object{"components": components}}}
}

const hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`

func TestGateShowsAnyStep(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	fields := map[string][3]string{ // type of component: type of input, autocomplete, inputmode
		"TEXT_INPUT": {"text", "", ""}, "EMAIL_INPUT": {"email", "", ""}, "PASSWORD_INPUT": {"password", "current-password", ""},
		"OTP_INPUT": {"text", "one-time-code", "numeric"}, "PHONE_INPUT": {"tel", "", ""}, "NUMBER_INPUT": {"text", "", "decimal"},
		"DATE_INPUT": {"date", "", ""}, "SELECT": {"select-one", "", ""},
	}
	var inputs []object
	for name := range fields {
		inputs = append(inputs, object{"id": "input_" + name, "type": name, "ref": name, "label": hostile, "placeholder": hostile, "options": []string{hostile, "b"}})
	}
	g.answers(object{"/flow/execute": step(
		object{"id": "t", "type": "TEXT", "variant": "HEADING_1", "label": hostile},
		object{"id": "r", "type": "RICH_TEXT", "label": hostile},
		object{"id": "i", "type": "IMAGE", "label": "a picture", "src": "javascript:alert(1)"},
		object{"id": "j", "type": "IMAGE", "label": "a picture", "src": "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="},
		object{"id": "d", "type": "DIVIDER"},
		object{"id": "n", "type": "SOMETHING_NEW", "label": hostile, "components": []object{{"id": "m", "type": "TEXT", "label": "inside"}}},
		object{"id": "form", "type": "BLOCK", "components": []object{
			{"id": "s", "type": "STACK", "components": inputs},
			{"id": "go", "type": "ACTION", "eventType": "SUBMIT", "label": hostile, "variant": "PRIMARY"},
		}},
	)})
	g.visit("signin")
	g.shows("step/s")
	if n := eval[int](g.tab, `document.querySelectorAll("#view script, #view img").length`); n != 1 {
		t.Errorf("there are %d scripts and pictures, want the one picture", n)
	}
	if title := eval[string](g.tab, `document.title`); !strings.HasPrefix(title, hostile) {
		t.Errorf("the title is %q, want the heading", title)
	}
	if text := eval[string](g.tab, `document.getElementById("view").textContent`); !strings.Contains(text, "inside") {
		t.Errorf("what is inside a component of an unknown type is not shown: %q", text)
	}
	for name, want := range fields {
		at := fmt.Sprintf(`document.getElementById("field-%s")`, name)
		got := [3]string{eval[string](g.tab, at+`.type`), eval[string](g.tab, at+`.autocomplete ?? ""`), eval[string](g.tab, at+`.inputMode ?? ""`)}
		if got != want {
			t.Errorf("%s: type, autocomplete and inputmode are %q, want %q", name, got, want)
		}
	}
	eval[any](g.tab, `document.getElementById("field-SELECT").value = "b"`)
	g.click("action-go")
	g.until(`window.sent.length > 1`)
	if body := eval[string](g.tab, `window.sent.at(-1)[1]`); !strings.Contains(body, `"SELECT":"b"`) || !strings.Contains(body, `"challengeToken":"c"`) {
		t.Errorf("sent %s", body)
	}
}

func TestGateRedirectsToSafeAddressesOnly(t *testing.T) {
	t.Parallel()
	p := serve(t)
	done := func(url string) object {
		return object{"executionId": "run-1", "flowStatus": "COMPLETE", "assertion": "a.e30.c", "data": object{"redirectURL": url}}
	}
	for _, test := range []struct{ url, view, at string }{
		{p.base + "/health/liveness?code=1", "", "/health/liveness"},
		{"com.example.app:/callback?code=1", "leaving", "/gate/signin"},
		{"javascript:document.title='owned'", "over", "/gate/signin"},
		{"JaVaScRiPt:document.title='owned'", "over", "/gate/signin"},
		{"data:text/html,owned", "over", "/gate/signin"},
		{"http://[", "over", "/gate/signin"},
	} {
		g := openGate(t, p)
		g.isNoisy = true
		g.answers(object{"/flow/execute": done(test.url)})
		g.visit("signin")
		g.until(fmt.Sprintf(`location.pathname === %q`, test.at))
		if test.view != "" {
			g.shows(test.view)
		}
		if eval[string](g.tab, `document.title`) == "owned" {
			t.Errorf("%s was run", test.url)
		}
	}
}

// The assertion of a run without a redirect URL is exchanged for one.
func TestGateAnswersAnAuthorizationRequest(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	g.isNoisy = true // no program opens com.example.app here
	g.answers(object{
		"/flow/execute":         object{"executionId": "run-1", "flowStatus": "COMPLETE", "assertion": "a.e30.c", "data": object{}},
		"/oauth2/auth/callback": object{"redirect_uri": "com.example.app:/callback?code=1"},
	})
	g.visit("signin", "authId=auth-1")
	g.shows("leaving")
	if got := eval[string](g.tab, `document.querySelector("a.button").href`); got != "com.example.app:/callback?code=1" {
		t.Errorf("the way back is %q", got)
	}
	var body map[string]string
	if err := json.Unmarshal([]byte(eval[string](g.tab, `window.sent.at(-1)[1]`)), &body); err != nil || body["authId"] != "auth-1" || body["assertion"] != "a.e30.c" {
		t.Errorf("sent %v, %v", body, err)
	}
	if eval[bool](g.tab, `sessionStorage.length > 0`) {
		t.Error("the assertion is stored without a request for the account")
	}
}

func TestGateExplainsFailures(t *testing.T) {
	t.Parallel()
	g := openGate(t, serve(t))
	for _, test := range []struct{ page, script, words, details string }{
		{"signin", `throw new DOMException("", "NotAllowedError")`, "No passkey was used", ""},
		{"signin", `throw new DOMException("", "AbortError")`, "Canceled", ""},
		{"signin", `throw new DOMException("", "SecurityError")`, "its passkeys belong to localhost", "passkey.relying_party_id"},
		{"signin", `throw new DOMException("", "UnknownError")`, "did not respond", "UnknownError"},
		{"signin", `throw new DOMException("WebAuthn is not supported on sites with TLS certificate errors.", "NotAllowedError")`, "certificate", "NotAllowedError"},
		{"signup", `throw new DOMException("", "NotAllowedError")`, "No passkey was created", ""},
		{"signup", `throw new DOMException("", "InvalidStateError")`, "already has a passkey", ""},
		{"signup", `throw new DOMException("", "ConstraintError")`, "Set up a screen lock", "ConstraintError"},
		{"signup", `throw new DOMException("", "NotSupportedError")`, "cannot create this passkey", "NotSupportedError"},
		{"signin&lang=de", `throw new DOMException("", "NotAllowedError")`, "kein Passkey verwendet", ""},
	} {
		g.beforeScripts(fmt.Sprintf(`
			sessionStorage.clear(); // starts a new run
			PublicKeyCredential.isConditionalMediationAvailable = undefined;
			navigator.credentials.get = navigator.credentials.create = async () => { %s };`, test.script))
		page, query, _ := strings.Cut(test.page, "&")
		g.visit(page, query)
		if page == "signup" {
			g.shows("step/who")
			g.enter("username", "someone")
			g.click("action-continue")
			g.shows("step/key")
		}
		g.click("action-passkey")
		g.alerted(test.words)
		if text := g.text("alert"); !strings.Contains(text, test.details) || test.details == "" && strings.Contains(text, "Error") {
			t.Errorf("%s: the page says %q, want details with %q", test.script, text, test.details)
		}
	}
}

func TestGateExplainsMissingPasskeySupport(t *testing.T) {
	t.Parallel()
	p := serve(t)
	for script, words := range map[string]string{
		`Object.defineProperty(window, "isSecureContext", { value: false })`:         "need a secure connection",
		`Object.defineProperty(window, "PublicKeyCredential", { value: undefined })`: "does not support passkeys",
	} {
		g := openGate(t, p)
		g.beforeScripts(script)
		g.visit("signin")
		g.shows("step/autofill")
		g.click("action-passkey")
		g.alerted(words)
	}
}

// The browser no longer offers a passkey that the server has deleted. On localhost it still does: the
// passkey may be that of another server.
func TestGateSignalsUnknownPasskeys(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{"localhost": "", "gate.localhost": "gate.localhost"} {
		p := serveAt(t, "http", host, "POSTERN_SERVER_HOSTNAME="+host)
		g := openGate(t, p)
		g.beforeScripts(`
			window.disowned = {rpId: ""};
			PublicKeyCredential.isConditionalMediationAvailable = undefined;
			PublicKeyCredential.signalUnknownCredential = async (o) => { window.disowned = o; };`)
		g.signUp("eve")
		user := eval[string](g.tab, `fetch("../users/me", {headers: {"Postern-Session": "1"}}).then((r) => r.json()).then((u) => u.id)`)
		p.deleteUser(t, user)
		g.visit("signin")
		g.click("action-passkey")
		g.alerted("no longer known")
		if got := eval[string](g.tab, `window.disowned.rpId`); got != want {
			t.Errorf("on %s, the browser was notified of a passkey of %q, want %q", host, got, want)
		}
	}
}

// deleteUser deletes a user as the administrator.
func (p *postern) deleteUser(t *testing.T, id string) {
	t.Helper()
	step := p.step(t, object{"applicationId": "01900000-0000-7000-8000-000000000001", "flowType": "AUTHENTICATION"})
	for _, answer := range []object{
		{"action": "password", "inputs": object{}},
		{"action": "continue", "inputs": object{"username": "admin", "password": adminPassword}},
	} {
		answer["executionId"] = step.ExecutionID
		step = p.step(t, answer)
	}
	if r := p.send(http.MethodDelete, "/users/"+id, "", bearer(step.Assertion)); r.status != http.StatusNoContent {
		t.Fatalf("delete the user: status %d", r.status)
	}
}

func TestGateLanguages(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	g.present(false)
	for query, want := range map[string][2]string{
		"lang=de":                {"de", "Bei Try it anmelden"},
		"lang=fr":                {"fr", "Se connecter à Try it"},
		"ui_locales=fi%20fr-CA":  {"fr", "Se connecter à Try it"},
		"lang=de&ui_locales=fr":  {"de", "Bei Try it anmelden"},
		"lang=constructor":       {"en", "Sign in to Try it"},
		"lang=../../x":           {"en", "Sign in to Try it"},
		"ui_locales=tlh%20de-AT": {"de", "Bei Try it anmelden"},
	} {
		g.visit("signin", query)
		g.shows("step/autofill")
		got := [2]string{eval[string](g.tab, `document.documentElement.lang`), g.text("heading")}
		if got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	g.open(p.base + "/gate/signedout?lang=de&applicationId=01900000-0000-7000-8000-0000000000ff")
	g.until(`document.getElementById("heading")?.textContent === "Sie sind abgemeldet"`)
	g.answers(object{"/flow/execute": step(object{"id": "t", "type": "TEXT", "label": "Incorrect code. You have 4 attempts left."})})
	g.visit("signin", "lang=de")
	g.shows("step/s")
	if text := g.text("view"); !strings.Contains(text, "Sie haben noch 4 Versuche.") {
		t.Errorf("in German the text of a built-in kind is %q", text)
	}
	eval[any](g.tab, `{ const choice = document.getElementById("language"); choice.value = "fr"; choice.dispatchEvent(new Event("change")) }`)
	g.until(`document.documentElement.lang === "fr"`)
	g.shows("step/s")
}

// luminance selects the light or the dark color scheme.
func (p *tab) luminance(yes bool) {
	p.t.Helper()
	value := map[bool]string{true: "light", false: "dark"}[yes]
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}}})
}

func TestGateUsesTheApplicationsColors(t *testing.T) {
	t.Parallel()
	g := openGate(t, serve(t))
	g.present(false)
	for _, primary := range []string{"#ffe600", "#111111", "white", "oklch(0.7 0.2 30)", "rgb(0 90 200)", "url(x)", "#12345678", "rebeccapurple; --x: y"} {
		g.answers(object{"/flow/meta": object{
			"application": object{"id": "a", "name": "Shop", "tosUri": "https://shop.example/terms", "policyUri": "javascript:alert(1)"},
			"design":      object{"theme": object{"colors": object{"primary": primary, "background": primary}, "radius": "2px"}},
		}})
		for _, light := range []bool{true, false} {
			g.luminance(light)
			g.visit("signin")
			g.shows("step/autofill")
			g.checkAccessibility(fmt.Sprintf("in %s, light %v", primary, light))
		}
		if got := eval[string](g.tab, `getComputedStyle(document.getElementById("action-passkey")).borderRadius`); got != "2px" {
			t.Errorf("corners are %s, want those of the theme", got)
		}
		if n := eval[int](g.tab, `document.querySelectorAll("#foot a").length`); n != 1 {
			t.Errorf("%d links at the foot, want that to the terms alone", n)
		}
	}
}

// checkAccessibility finds accessibility faults.
func (g *gateTab) checkAccessibility(where string) {
	g.t.Helper()
	g.until(`document.getAnimations().every((a) => a.playState === "finished")`)
	faults := eval[[]string](g.tab, checkAccess)
	for _, fault := range faults {
		g.t.Errorf("%s: %s", where, fault)
	}
}

// checkAccess returns what is wrong with the page: WCAG 2.2 as far as it can be computed in
// a few lines.
const checkAccess = `(() => {
	const faults = [];
	const all = (selector) => [...document.querySelectorAll(selector)].filter((n) => n.checkVisibility());
	const tell = (node, what) => faults.push(what + ": " + node.outerHTML.slice(0, 200));
	if (!document.documentElement.lang) faults.push("no language");
	if (!document.title) faults.push("no title");
	const levels = all("h1, h2, h3").map((h) => Number(h.tagName[1]));
	if (levels.filter((l) => l === 1).length !== 1 || levels.some((l, i) => l > (levels[i - 1] ?? 0) + 1)) faults.push("headings " + levels);
	const ids = [...document.querySelectorAll("[id]")].map((n) => n.id);
	if (new Set(ids).size !== ids.length) faults.push("an id twice: " + ids);
	for (const n of all("input, select")) if (!n.labels.length && !n.ariaLabel) tell(n, "no label");
	for (const n of all("button, a")) if (!(n.ariaLabel ?? n.textContent).trim()) tell(n, "no name");
	for (const n of all("img")) if (!n.hasAttribute("alt")) tell(n, "no alternative");
	for (const n of all("[aria-labelledby], [aria-describedby]")) {
		for (const id of [n.getAttribute("aria-labelledby"), n.getAttribute("aria-describedby")]) if (id && !document.getElementById(id)) tell(n, "refers to nothing");
	}
	for (const n of all("button, .button, input, select")) if (n.getBoundingClientRect().height < 43.5) tell(n, "too small to touch, " + n.getBoundingClientRect().height);
	if (document.documentElement.scrollWidth > innerWidth) faults.push("wider than the screen");
	const parse = (c) => c.match(/[\d.]+/g).map(Number);
	const shade = (c) => {
		const [r, g, b] = c.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const ground = (n) => {
		for (; n; n = n.parentElement) {
			const c = parse(getComputedStyle(n).backgroundColor);
			if (c.length === 3) return c;
		}
		return [255, 255, 255];
	};
	for (const n of all("body *")) {
		if (![...n.childNodes].some((c) => c.nodeType === 3 && c.data.trim()) || n.closest(".unseen")) continue;
		const [x, y] = [shade(parse(getComputedStyle(n).color)), shade(ground(n))].sort((a, b) => b - a);
		if ((x + 0.05) / (y + 0.05) < 4.49) tell(n, "hard to read, " + ((x + 0.05) / (y + 0.05)).toFixed(2));
	}
	return faults;
})()`

func TestGateIsAccessible(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	g.signUp("ida")
	g.looksRight("account")
	eval[any](g.tab, `document.querySelector("[id^=Delete-]").click()`)
	g.looksRight("account-delete")
	g.present(false)
	for _, page := range []struct{ path, view string }{
		{"signin", "step/autofill"}, {"signup", "step/who"}, {"consent", "over"}, {"error", "over"}, {"signout", "signout"}, {"signedout", "signedout"}, {"nothing", "absent"}, {"nothing/at/all", "absent"},
	} {
		g.visit(page.path)
		g.shows(page.view)
		g.looksRight(page.path)
	}
	g.visit("signup", "lang=de")
	g.shows("step/who")
	g.click("action-continue")
	g.until(`document.querySelector("[aria-invalid]")`)
	g.looksRight("fault")
}

// looksRight checks the page on a phone and in a large window, in light and dark colors, without loading
// it again.
func (g *gateTab) looksRight(page string) {
	g.t.Helper()
	for _, light := range []bool{true, false} {
		g.luminance(light)
		for _, width := range []int64{phone, 1280} {
			g.setWidth(width)
			eval[any](g.tab, `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(null))))`)
			g.checkAccessibility(fmt.Sprintf("%s, %d wide, light %v", page, width, light))
			g.picture(page, light, width)
		}
	}
}

// phone is the width of a phone in CSS pixels.
const phone = 390

func (g *gateTab) setWidth(pixels int64) {
	call(g.tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: pixels, Height: 800, DeviceScaleFactor: 1})
}

// picture writes a screenshot of the tab to docs/screenshots, if the flag is set. Without a
// run the consent page has nothing to show.
func (g *gateTab) picture(page string, light bool, width int64) {
	g.t.Helper()
	if !*screenshots || page == "consent" || strings.HasPrefix(page, "nothing") {
		return
	}
	name := "gate-" + page
	if !light {
		name += "-dark"
	}
	if width == phone {
		name += "-phone"
	}
	picture, err := chromedp.Run(g.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		g.t.Fatal(err)
	}
	savePicture(g.t, name, picture, image.Rectangle{})
}
