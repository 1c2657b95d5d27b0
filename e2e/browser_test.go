package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/postern-id/postern/internal/logtest"
)

var slow = flag.Float64("slow", 1, "how many times slower the browser is; each request also takes 50 ms more per unit, so that tests that rely on a fast browser fail")

// chromium is the shared browser.
type chromium struct {
	ctx   context.Context
	close func()
	err   error
}

// launched is the browser, once it runs.
var launched atomic.Pointer[chromium]

// browser starts Chromium once, if it is installed.
var browser = sync.OnceValue(func() chromium {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return chromium{err: err}
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.WSURLReadTimeout(timeout),
		chromedp.UserDataDir(filepath.Join(scratch(), "profile")),
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.Flag("headless", "new"),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("host-resolver-rules", "MAP "+foreignHost+" 127.0.0.1"),
	)...)
	ctx, cancel := chromedp.NewContext(allocator)
	c := chromium{ctx: ctx, close: func() { cancel(); stop() }}
	launched.Store(&c)
	c.err = chromedp.Do(ctx)
	return c
})

// tab is a page in a profile of its own.
type tab struct {
	t       *testing.T
	ctx     context.Context
	key     webauthn.AuthenticatorID
	console *logtest.Buffer
}

// openTab opens a tab with a built-in authenticator, which supports passkeys, with a user
// who is present and verified. Without Chromium the test is skipped, or fails in CI.
func openTab(t *testing.T) *tab {
	t.Helper()
	p := openBareTab(t)
	p.addAuthenticator(webauthn.AuthenticatorTransportInternal)
	return p
}

// openBareTab opens a tab without an authenticator.
func openBareTab(t *testing.T) *tab {
	t.Helper()
	b := browser()
	if b.err != nil {
		missingFrom(t, "no Chromium to drive: %v", b.err)
	}
	return newTab(t, b.ctx, chromedp.WithNewBrowserContext())
}

// newTab opens a tab. Below the context of another tab it shares that tab's cookies.
func newTab(t *testing.T, parent context.Context, options ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent, options...)
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx, console: &logtest.Buffer{}}
	// Not by p.do: the context of a tab's first call determines the tab's lifetime.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	p.slowDown()
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.Type == chromedp.ConsoleError || m.IsException() {
				fmt.Fprintln(p.console, m.Text)
			}
		}
	}()
	return p
}

// slowDown makes the tab as slow as the flag -slow demands.
func (p *tab) slowDown() {
	p.t.Helper()
	if *slow <= 1 {
		return
	}
	call(p, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: *slow})
	call(p, network.Enable, network.EnableParams{})
	call(p, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Latency: 50 * *slow, DownloadThroughput: -1, UploadThroughput: -1}},
	})
}

// addAuthenticator plugs in an authenticator. present and verified then apply to it.
func (p *tab) addAuthenticator(transport webauthn.AuthenticatorTransport) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, webauthn.Enable, webauthn.EnableParams{}); err != nil {
			return err
		}
		added, err := cdp.Call(ctx, t, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
			Options: &webauthn.VirtualAuthenticatorOptions{
				Protocol:                    webauthn.AuthenticatorProtocolCtap2,
				Transport:                   transport,
				HasResidentKey:              true,
				HasUserVerification:         true,
				IsUserVerified:              true,
				AutomaticPresenceSimulation: true,
			},
		})
		p.key = added.AuthenticatorID
		return err
	}))
}

// present sets whether the authenticator answers at once, as if the user touched it, or
// waits.
func (p *tab) present(yes bool) {
	p.t.Helper()
	call(p, webauthn.SetAutomaticPresenceSimulation, webauthn.SetAutomaticPresenceSimulationParams{AuthenticatorID: p.key, Enabled: yes})
}

// verified sets whether the authenticator verifies its user.
func (p *tab) verified(yes bool) {
	p.t.Helper()
	call(p, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: p.key, IsUserVerified: yes})
}

// call sends one command to the tab.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	}))
}

// do runs steps in the tab. On a failure it reports the content of the page.
func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatalf("in the browser: %v\n%s", err, p.describe())
	}
}

// describe returns the content of the page and of its console.
func (p *tab) describe() string {
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
	if err != nil {
		text = err.Error()
	}
	return fmt.Sprintf("the page: %s\nits console: %s", text, p.console)
}

// eval evaluates an expression in the page.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", expression, err, p.describe())
	}
	return v
}

// evalBool reports whether an expression is true in the page. It is false in a page that is
// loading or being left.
func (p *tab) evalBool(expression string) bool {
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	yes, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
	return err == nil && yes
}

// until waits for an expression to be true in the page.
func (p *tab) until(expression string) {
	p.t.Helper()
	if !poll(func() bool { return p.evalBool(expression) }) {
		p.t.Fatalf("waited %s in vain for %s\n%s", timeout, expression, p.describe())
	}
}

func (p *tab) open(url string) {
	p.t.Helper()
	p.do(chromedp.Navigate(url))
}

// click clicks the element of the id with the mouse. It opens what folds the element.
func (p *tab) click(id string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.getElementById(%q) && !document.querySelector("[aria-busy]")`, id))
	p.evalBool(fmt.Sprintf(`document.getElementById(%q).closest("details:not([open])")?.setAttribute("open", "")`, id))
	p.do(clickNow(id))
}

// beforeScripts runs code in every page before the page's own.
func (p *tab) beforeScripts(code string) {
	p.t.Helper()
	call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: code})
}

// clickNow also clicks while the page is busy.
func clickNow(id string) chromedp.Action[chromedp.Void] { return chromedp.Click(chromedp.ID(id)) }

func typeInto(id, value string) chromedp.Action[chromedp.Void] {
	return chromedp.SendKeys(chromedp.ID(id), value)
}

// enter types into the field of an input.
func (p *tab) enter(identifier, value string) {
	p.t.Helper()
	p.do(typeInto("field-"+identifier, value))
}

// text is the text of the element with the id; "" if there is none.
func (p *tab) text(id string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf(`document.getElementById(%q)?.textContent ?? ""`, id))
}

// sees waits until the page shows the view ("home", "step", "signed-in"), or a step of the
// flow as step/ID, and is not busy.
func (p *tab) sees(view string) {
	p.t.Helper()
	name, step, _ := strings.Cut(view, "/")
	p.until(fmt.Sprintf(`(({view, step}) => view === %q && step === %q && !document.querySelector("[aria-busy]"))(document.getElementById("view").dataset)`, name, step))
}

// expectMessage waits for an error to be shown, and returns it.
func (p *tab) expectMessage() string {
	p.t.Helper()
	p.until(`document.getElementById("alert").textContent !== "" && !document.querySelector("[aria-busy]")`)
	return p.text("alert")
}

// claim is a claim of the assertion that the page shows.
func (p *tab) claim(name string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf(`document.querySelector("#claims [data-claim=%s]")?.textContent ?? ""`, name))
}
