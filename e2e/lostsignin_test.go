package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
)

// A sign-in page that cannot go on in this browser says so when it loads, in the user's language, and leads back to
// the application. The browser in which the sign-in started goes on.
func TestGatePageOfALostSignIn(t *testing.T) {
	t.Parallel()
	p := serve(t)
	rp := newRelyingParty(t, p, "Shop")
	own, other := &gateTab{tab: openTab(t), base: p.base}, &gateTab{tab: openTab(t), base: p.base}
	lost := func(what string, g *gateTab, words string) {
		t.Helper()
		g.until(`location.pathname === "/gate/error"`)
		g.shows("over")
		if text := g.text("view"); !strings.Contains(text, words) || strings.Contains(text, "went wrong") {
			t.Errorf("%s: the page says %q", what, text)
		}
		if to := eval[[]string](g.tab, `[...document.querySelectorAll("#view a")].map((a) => a.textContent + " " + a.href)`); len(to) != 1 || !strings.HasSuffix(to[0], "Shop http://127.0.0.1:8000/") {
			t.Errorf("%s: the page leads to %q", what, to)
		}
		if asked := eval[int](g.tab, `document.querySelectorAll("input").length`); asked > 0 {
			t.Errorf("%s: the page asks for something", what)
		}
	}
	const english, german = "another browser or tab", "in einem anderen Browser oder Tab begonnen"
	own.open(rp.request())
	own.until(`document.querySelector("#view[data-view=step]") && !document.querySelector("[aria-busy]")`)
	link := eval[string](own.tab, `location.href`)
	for _, page := range []string{"signin", "signup"} {
		at := strings.Replace(link, "/gate/signin", "/gate/"+page, 1)
		other.open(at)
		lost("in another browser, "+page, other, english)
		other.open(at + "&lang=de")
		lost("in German, "+page, other, german)
	}
	query, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	other.open(p.base + "/oauth2/auth/callback?authId=" + query.Query().Get("authId"))
	lost("the way back in another browser", other, english)

	blocked := &gateTab{tab: openTab(t), base: p.base}
	blocked.beforeScripts(`Object.defineProperty(Navigator.prototype, "cookieEnabled", { get: () => false })`)
	blocked.open(link)
	lost("with blocked cookies", blocked, "Allow cookies")

	// The page has loaded before the cookies go.
	cleared := &gateTab{tab: openTab(t), base: p.base}
	cleared.open(rp.request())
	cleared.until(`document.querySelector("#view[data-view=step]") && !document.querySelector("[aria-busy]")`)
	call(cleared.tab, network.ClearBrowserCookies, cdp.Empty{})
	eval[any](cleared.tab, `void setTimeout(() => location.reload())`)
	lost("after the cookies were cleared", cleared, english)

	own.signUpInstead("ada")
	if got := rp.redeem(rp.waitForCode(own.tab).Get("code")); got.ID == "" {
		t.Errorf("the right browser got %+v", got)
	}
	own.open(link)
	lost("after completion", own, english)
	own.open(rp.request())
	rp.waitForCode(own.tab)
	own.open(link)
	lost("after another sign-in", own, english)
	if status := send(t, p, http.MethodGet, "/health/readiness", "", nil); status != http.StatusOK {
		t.Errorf("readiness is %d", status)
	}
}
