package e2e_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// gateTab is a tab on the hosted pages.
type gateTab struct {
	*tab
	base    string
	isNoisy bool // the browser logs errors for addresses that it cannot open, at any time

	mu        sync.Mutex
	requested []string
}

// openGate opens a tab with an authenticator, and records its requests. At the end of the
// test the pages must have sent requests to their own server only, with no errors in the
// console.
func openGate(t *testing.T, p *postern) *gateTab {
	t.Helper()
	g := &gateTab{tab: openTab(t), base: p.base}
	g.watchRequests()
	t.Cleanup(func() {
		for line := range strings.Lines(g.console.String()) {
			// The browser logs every error reply; tests check how the page handles them.
			if !g.isNoisy && !strings.HasPrefix(line, "Failed to load resource: the server responded with a status of 4") {
				t.Errorf("the console has an error: %s", line)
			}
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, url := range g.requested {
			if !strings.HasPrefix(url, g.base+"/") && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "com.example.app:") {
				t.Errorf("a page asked for %s", url)
			}
		}
	})
	return g
}

func (g *gateTab) watchRequests() {
	g.t.Helper()
	call(g.tab, network.Enable, network.EnableParams{})
	err := chromedp.Listen(g.ctx, func(event any) {
		if sent, ok := event.(*network.EventRequestWillBeSent); ok {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.requested = append(g.requested, sent.Request.URL)
		}
	})
	if err != nil {
		g.t.Fatal(err)
	}
}

// countRequests counts the pages' requests for a path.
func (g *gateTab) countRequests(path string) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, url := range g.requested {
		if url == g.base+path {
			n++
		}
	}
	return n
}

// visit opens a page of the gate for the application with open sign-up.
func (g *gateTab) visit(page string, query ...string) {
	g.t.Helper()
	g.open(g.base + "/gate/" + page + "?" + strings.Join(append(query, "applicationId="+tryID), "&"))
}

// shows waits until the page shows a view, or a step of the flow as step/ID.
func (g *gateTab) shows(view string) {
	g.t.Helper()
	name, step, _ := strings.Cut(view, "/")
	g.until(fmt.Sprintf(`(({view, step}) => view === %q && (view !== "step" || step === %q) && !document.querySelector("[aria-busy]"))(document.getElementById("view").dataset)`, name, step))
}

// signUp creates an account with a passkey, and ends on its page.
func (g *gateTab) signUp(username string) {
	g.t.Helper()
	g.visit("signup")
	g.enrol(username)
	g.shows("account")
}

// signUpInstead goes from the page of a sign-in to that of a sign-up, and creates an
// account with a passkey.
func (g *gateTab) signUpInstead(username string) {
	g.t.Helper()
	g.until(`document.querySelector(".other a")`)
	eval[any](g.tab, `document.querySelector(".other a").click()`)
	g.enrol(username)
}

// enroll answers the steps of a sign-up with a passkey.
func (g *gateTab) enrol(username string) {
	g.t.Helper()
	g.shows("step/who")
	g.enter("username", username)
	g.click("action-continue")
	g.shows("step/key")
	g.click("action-passkey")
}

// alerted is the alert above the step.
func (g *gateTab) alerted(words string) {
	g.t.Helper()
	g.until(fmt.Sprintf(`document.getElementById("alert").textContent.includes(%q) && !document.querySelector("[aria-busy]")`, words))
}

func (g *gateTab) focused() string {
	g.t.Helper()
	return eval[string](g.tab, `document.activeElement.id`)
}
