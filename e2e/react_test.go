package e2e_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/postern-id/postern/examples/react"
	"github.com/postern-id/postern/internal/datatest"
)

// reactFolder is the folder of the React app's installed packages.
const reactFolder = "../examples/react"

// modules returns the node_modules of a folder, or skips the test.
func modules(t *testing.T, folder, wanted string) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		missingFrom(t, "node is not installed")
	}
	path, err := filepath.Abs(filepath.Join(folder, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(path, wanted)); err != nil {
		missingFrom(t, "%s is not there: run `make npm`", wanted)
	}
	return path
}

// reactApp is a React app made from the snippets of the tools, on an origin of its own.
type reactApp struct {
	t             *testing.T
	p             *postern
	mode          string
	given         *react.Integration
	origin        string
	applicationID string
	script        string // the bundle
}

// newReactApp follows the instructions.
func newReactApp(t *testing.T, p *postern, mode string, change func(application object)) *reactApp {
	t.Helper()
	packages := modules(t, reactFolder, "@thunderid/react")
	given, err := react.Integrate(p.base)
	if err != nil {
		t.Fatal(err)
	}
	a := &reactApp{t: t, p: p, mode: mode, given: given, script: filepath.Join(t.TempDir(), "app.js")}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/app.js" {
			http.ServeFile(w, r, a.script)
			return
		}
		http.ServeFile(w, r, filepath.Join(reactFolder, "www", "index.html"))
	}))
	t.Cleanup(site.Close)
	a.origin = fmt.Sprintf("http://localhost:%d", site.Listener.Addr().(*net.TCPAddr).Port)
	a.build(packages, a.register(change))
	return a
}

// register creates the application of the instructions, and returns its client id.
func (a *reactApp) register(change func(application object)) (clientID string) {
	a.t.Helper()
	block := regexp.MustCompile("(?s)```json\n(.*?)```").FindStringSubmatch(a.given.Instructions)
	if block == nil {
		a.t.Fatal("the instructions show no application")
	}
	var body object
	datatest.Unmarshal(a.t, []byte(strings.ReplaceAll(block[1], "http://localhost:5173", a.origin)), &body)
	if change != nil {
		change(body)
	}
	var made struct{ ID, ClientID string }
	r, err := a.p.post("/applications", adminToken(a.t, a.p), body)
	if err != nil || r.status != http.StatusCreated || json.Unmarshal(r.body, &made) != nil {
		a.t.Fatalf("%v %s", err, r.body)
	}
	a.applicationID = made.ID
	return made.ClientID
}

// build writes the snippets of the mode, fills them in and bundles them.
func (a *reactApp) build(packages, clientID string) {
	a.t.Helper()
	src := a.t.TempDir()
	fill := strings.NewReplacer(react.ClientIDPlaceholder, clientID, react.ApplicationIDPlaceholder, a.applicationID)
	for _, s := range a.given.Snippets {
		if s.Mode != a.mode {
			continue
		}
		datatest.WriteFile(a.t, filepath.Join(src, s.File), fill.Replace(s.Code))
	}
	esbuild := exec.Command(filepath.Join(packages, ".bin", "esbuild"), "main.tsx", "--bundle", "--jsx=automatic", "--log-level=warning",
		`--define:process.env.NODE_ENV="production"`, "--outfile="+a.script)
	esbuild.Dir, esbuild.Env = src, append(os.Environ(), "NODE_PATH="+packages)
	if out, err := esbuild.CombinedOutput(); err != nil {
		a.t.Fatalf("%v\n%s", err, out)
	}
}

// shows waits for the app to show an element.
func (b *tab) shows(id string) {
	b.t.Helper()
	b.until(fmt.Sprintf("document.getElementById(%q)", id))
}

// signedInAs waits for the app to greet a user.
func (b *tab) signedInAs(username string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`document.getElementById("username")?.textContent === %q`, username))
}

// The snippets are valid TypeScript for the types of the published SDK.
func TestReactSnippetsTypeCheck(t *testing.T) {
	t.Parallel()
	tsc := exec.Command(filepath.Join(modules(t, reactFolder, "typescript"), ".bin", "tsc"), "--noEmit")
	tsc.Dir = reactFolder
	if out, err := tsc.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestReactRedirectMode(t *testing.T) {
	t.Parallel()
	p := serve(t)
	a := newReactApp(t, p, react.Redirect, func(application object) {
		// The SDK refreshes ten seconds before a token expires: two seconds after it was
		// issued.
		config := application["inboundAuthConfig"].([]any)[0].(object)["config"].(object)
		config["token"] = object{"accessToken": object{"validityPeriod": 12}}
	})
	b := openTab(t)
	g := &gateTab{tab: b, base: p.base}
	b.open(a.origin)
	b.click("sign-in")
	b.until(`document.querySelector(".other a")`)
	eval[any](b, `document.querySelector(".other a").click()`)
	g.shows("step/who")
	g.enter("username", "ada")
	g.enter("email", "ada@example.org")
	g.enter("given_name", "Ada")
	g.click("action-continue")
	g.shows("step/verify")
	g.enter("code", p.mailedCode("ada@example.org"))
	g.click("action-submit")
	g.shows("step/key")
	g.click("action-passkey")
	b.signedInAs("ada")
	if at := eval[string](b, `location.origin`); at != a.origin {
		t.Fatalf("came back to %s, want %s", at, a.origin)
	}
	if got := b.text("email"); got != "ada@example.org" {
		t.Errorf("the e-mail address is %q", got)
	}
	if got := eval[string](b, `document.querySelector("h1").textContent`); got != "Hello, Ada" {
		t.Errorf("the greeting is %q", got)
	}

	id := b.subject()

	const access = `Object.values(sessionStorage).map((v) => v.match(/"access_token":"([^"]*)"/)?.[1]).find(Boolean)`
	first := eval[string](b, access)
	b.until(fmt.Sprintf("%s !== %q", access, first))
	b.do(chromedp.Reload())
	b.signedInAs("ada")
	if got := b.subject(); got != id {
		t.Errorf("after a reload the app shows the id %s, want %s", got, id)
	}

	b.click("sign-out")
	b.shows("sign-in")
	if at := eval[string](b, `location.origin`); at != a.origin {
		t.Errorf("after signing out the browser is at %s, want %s", at, a.origin)
	}
	b.present(false)
	b.click("sign-in")
	g.shows("step/key") // and asks again
	b.present(true)
	b.until(`(document.getElementById("action-passkey")?.click(), document.getElementById("username")?.textContent === "ada")`)
}

// subject waits for the app to show the user's id, and returns it.
func (b *tab) subject() string {
	b.t.Helper()
	b.until(`/^[0-9a-f-]{36}$/.test(document.getElementById("sub")?.textContent)`)
	return b.text("sub")
}

// passkeySignIn is the built-in flow of that handle, which also asks for names.
const passkeySignIn = "01900000-0000-7000-8000-000000000061"

// cancelableScript lets the test cancel the browser's passkey prompts, by setting
// window.cancels, and counts how often the app requested the state of its run.
const cancelableScript = `{
	window.resumed = 0;
	for (const name of ["create", "get"]) {
		const real = navigator.credentials[name].bind(navigator.credentials);
		navigator.credentials[name] = (options) => window.cancels ? Promise.reject(new DOMException("cancelled", "NotAllowedError")) : real(options);
	}
	const real = window.fetch;
	window.fetch = async (url, init) => {
		const reply = await real(url, init);
		const body = String(init?.body);
		if (body.includes('"executionId"') && !body.includes('"inputs"')) window.resumed++;
		return reply;
	};
}`

// fill enters a value in a field of the SDK's form.
func (b *tab) fill(identifier, value string) {
	b.t.Helper()
	b.shows("input_" + identifier)
	b.do(typeInto("input_"+identifier, value))
}

// clickRetry clicks a button that leads to a failing passkey prompt, and waits for the app to
// offer the passkey again.
func (b *tab) clickRetry(button, why string) {
	b.t.Helper()
	before := eval[int](b, `window.resumed`)
	b.click(button)
	b.until(fmt.Sprintf(`window.resumed > %d && document.querySelector("[role=alert]")?.textContent.includes(%q) && document.getElementById("passkey")`, before, why))
}

// clickCancel is retries with a prompt that the user cancels.
func (b *tab) clickCancel(button string) {
	b.t.Helper()
	eval[any](b, `window.cancels = true`)
	b.clickRetry(button, "try again")
	eval[any](b, `window.cancels = false`)
}

// signOutAndReload clicks the button and waits for the app to load again: until
// then, the page shows the form already and loses what a test sets in it.
func (b *tab) signOutAndReload() {
	b.t.Helper()
	eval[any](b, `window.signedOut = false`)
	b.click("sign-out")
	b.until(`window.signedOut === undefined && window.resumed !== undefined`)
}

func TestReactSelfHostedMode(t *testing.T) {
	t.Parallel()
	p := serve(t)
	a := newReactApp(t, p, react.SelfHosted, func(application object) { application["authFlowId"] = passkeySignIn })
	b := openTab(t)
	b.beforeScripts(cancelableScript)
	b.open(a.origin)
	b.shows("passkey")
	b.click("other") // the form to sign up
	b.fill("username", "ada")
	b.fill("given_name", "Ada")
	b.clickCancel("continue")
	b.clickCancel("passkey")
	b.click("passkey")
	b.signedInAs("ada")
	b.do(chromedp.Reload())
	b.signedInAs("ada")
	if got := eval[string](b, `document.querySelector("h1").textContent`); got != "Hello, Ada" {
		t.Errorf("the greeting is %q", got)
	}
	id := b.subject()

	// By the browser's own picker, at the first step of the flow.
	b.signOutAndReload()
	b.clickCancel("passkey")
	b.click("passkey")
	b.signedInAs("ada")

	// By name: the prompt arrives with the reply to a form, which is then outdated.
	b.signOutAndReload()
	b.click("username")
	b.fill("username", "ada")
	b.clickCancel("continue")
	b.click("passkey")
	b.signedInAs("ada")
	if got := b.subject(); got != id {
		t.Errorf("signed in as %s, want %s", got, id)
	}
}

// After a rejected passkey the app shows the reason and lets the user continue.
func TestReactSelfHostedModeRefused(t *testing.T) {
	t.Parallel()
	p := serve(t)
	a := newReactApp(t, p, react.SelfHosted, func(application object) { delete(application, "passkeyAllowedOrigins") })
	b := openTab(t)
	b.beforeScripts(cancelableScript)
	b.open(a.origin)
	b.shows("passkey")
	b.click("other")
	b.fill("username", "ada")
	b.clickRetry("continue", "passkey.allowed_origins")
	b.clickRetry("passkey", a.origin)

	// The same holds for a run that no longer exists.
	eval[any](b, `window.history.replaceState(null, "", "?executionId=01900000-0000-7000-8000-0000000000ff")`)
	b.do(chromedp.Reload())
	b.until(`document.querySelector("[role=alert]")?.textContent.includes("expired")`)
	b.click("start-again")
	b.shows("passkey")
}
