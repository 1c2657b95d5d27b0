package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/postern-id/postern/internal/site"
)

// siteFolder is a folder with the website of the documentation. It is written once.
var siteFolder = sync.OnceValues(func() (dir string, err error) {
	files, err := site.Build(os.DirFS(".."), func(string, string) (string, error) { return "", nil })
	dir = filepath.Join(scratch(), "site")
	if err == nil {
		err = files.Write(dir)
	}
	return filepath.ToSlash(dir), err
})

func writeSite(t *testing.T) (dir string) {
	t.Helper()
	dir, err := siteFolder()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// siteQueries maps queries to the pages that answer them.
func siteQueries() map[string]string {
	return map[string]string{
		"quickstart":              "quickstart.html",
		"first flow":              "first-flow.html",
		"recipes":                 "recipes.html",
		"terms of service":        "recipes.html#terms-of-service",
		"postgresql":              "postgresql.html",
		"pgbouncer":               "postgresql.html",
		"key-encryption key leak": "operating.html#if-the-key-may-have-leaked",
		"metrics":                 "observability.html#metrics",
		"keycloak":                "migration.html",
		"back-channel logout":     "oauth.html#back-channel-logout",
		"error code":              "errors.html",
		"postern flow diff":       "cli.html#postern-flow-diff",
		"pkce":                    "oauth.html#pkce",
		"spring":                  "connect/java.html",
		"branding":                "branding.html",
		"hardware passkeys":       "second-factors.html#hardware-passkeys",
		"server.public_url":       "configuration.html#server",
		"unauthenticated":         "rules.html#unauthenticated",
		"verifying the audit log": "operating.html#verifying-it",
	}
}

// The search answers queries with the page about them, from files without a server.
func TestSiteSearchRanking(t *testing.T) {
	t.Parallel()
	p := openBareTab(t)
	p.open("file://" + writeSite(t) + "/search.html")
	p.until(`document.getElementById("results-status").textContent.startsWith("Type")`)
	for query, want := range siteQueries() {
		got := eval[[]string](p, fmt.Sprintf(`search(%q).slice(0, 5).map((section) => section.url)`, query))
		if len(got) == 0 || got[0] != want && !strings.HasPrefix(got[0], want+"#") {
			t.Errorf("%q is answered by %v, want %s first", query, got, want)
		}
	}
	for _, query := range []string{"", "  ", "xyzzy", "quickstart xyzzy", "<b>", "(", `\`} {
		if got := eval[int](p, fmt.Sprintf(`search(%q).length`, query)); got != 0 && query != "<b>" {
			t.Errorf("%q has %d results", query, got)
		}
	}
}

// The keyboard is enough to search: "/" leads to the field, and arrows to the results. The number of
// results is announced, results are text, and the address keeps the query.
func TestSiteSearchByKeyboard(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.StripPrefix("/docs/v1", http.FileServer(http.Dir(writeSite(t)))))
	t.Cleanup(server.Close)
	p := openBareTab(t)
	p.beforeScripts(markupWatch)
	p.open(server.URL + "/docs/v1/connect/go.html")
	call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown, Key: "/"})
	p.until(`document.activeElement.id === "q"`)
	p.do(chromedp.KeyEvent("back-channel"))
	p.do(chromedp.KeyEvent(kb.Enter))
	p.until(`location.pathname === "/docs/v1/search.html" && document.querySelectorAll("#results li").length > 1`)
	if status := p.text("results-status"); !strings.Contains(status, "results for “back-channel”") {
		t.Errorf("announced %q", status)
	}
	p.do(chromedp.KeyEvent(" logout"))
	p.until(`document.getElementById("results-status").textContent.includes("back-channel logout") && location.search.includes("logout")`)
	p.do(chromedp.KeyEvent(kb.ArrowDown))
	p.do(chromedp.KeyEvent(kb.ArrowDown))
	p.do(chromedp.KeyEvent(kb.ArrowUp))
	p.until(`document.activeElement === document.querySelector("#results a")`)
	p.do(chromedp.KeyEvent(kb.Enter))
	p.until(`location.pathname === "/docs/v1/oauth.html" && location.hash === "#back-channel-logout"`)
	p.open(server.URL + "/docs/v1/search.html?q=" + url.QueryEscape("<img src=x onerror=owned()>"))
	p.until(`document.getElementById("results-status").textContent.includes("<img")`)
	if found := eval[int](p, `document.querySelectorAll("main img").length + violations.length`); found != 0 {
		t.Errorf("the page of a query with markup has %d images and violations", found)
	}
	if p.console.String() != "" {
		t.Error(p.console)
	}
}

// Pages with wide content are no wider than their window, and all resources of a page load under its
// policy.
func TestSiteFitsWindows(t *testing.T) {
	t.Parallel()
	dir, p := writeSite(t), openBareTab(t)
	p.beforeScripts(markupWatch)
	for _, page := range []string{"index", "search", "flows", "recipes", "kinds", "configuration", "cli", "security", "accidents", "performance", "connect/mobile", "project/readme"} {
		p.open("file://" + dir + "/" + page + ".html")
		for _, width := range []int64{390, 1280} {
			call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1})
			if got := eval[int64](p, `document.documentElement.scrollWidth`); got > width {
				t.Errorf("%s is %d pixels wide in a window of %d", page, got, width)
			}
		}
		if problems := eval[[]string](p, `[...violations, ...[...document.images].filter((i) => i.complete && !i.naturalWidth).map((i) => i.src), ...(getComputedStyle(document.querySelector("header")).position === "sticky" ? [] : ["no style"])]`); len(problems) > 0 {
			t.Errorf("%s: %v", page, problems)
		}
	}
}
