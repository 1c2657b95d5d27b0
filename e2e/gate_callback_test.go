package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// federatedPages is the real pages in front of a simulated flow with another provider. The
// replies of the flow and the pages of the provider are defined here.
type federatedPages struct {
	*gateTab
	provider *httptest.Server // of another site than the pages

	mu       sync.Mutex
	first    bool             // the flow begins with the provider
	redirect string           // redirect URL of the step, with a placeholder for the state
	declined *object          // the error for a rejected response; nil to continue
	away     bool             // the run waits for the provider
	states   int              // number of requests to the provider
	sent     []map[string]any // the bodies of POST /flow/execute
}

func openFederatedPages(t *testing.T) *federatedPages {
	t.Helper()
	p := serve(t)
	e := &federatedPages{}
	e.provider = httptest.NewServer(http.HandlerFunc(e.provide))
	t.Cleanup(func() { e.provider.CloseClientConnections(); e.provider.Close() })
	e.redirect = e.provider.URL + "/authorize?client_id=postern&state=%s"
	target, err := url.Parse(p.base)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", httputil.NewSingleHostReverseProxy(target))
	mux.HandleFunc("POST /flow/execute", e.execute)
	pages := httptest.NewServer(mux)
	t.Cleanup(func() { pages.CloseClientConnections(); pages.Close() }) // the browser keeps idle connections
	e.gateTab = &gateTab{tab: openTab(t), base: strings.Replace(pages.URL, "127.0.0.1", "localhost", 1)}
	return e
}

// provide shows a user of the provider two ways back: after signing in, and without.
func (e *federatedPages) provide(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/authorize" {
		http.NotFound(w, r)
		return
	}
	back := func(q url.Values) string {
		q.Set("state", r.URL.Query().Get("state"))
		q.Set("iss", e.provider.URL)
		return e.base + "/gate/callback?" + q.Encode()
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, `<title>Provider</title><link rel="icon" href="data:,"><a id="agree" href=%q>Sign in</a> <a id="decline" href=%q>No</a>`,
		back(url.Values{"code": {"c-1"}, "session_state": {"not asked for"}}), back(url.Values{"error": {"access_denied"}}))
}

// execute answers as the flow does: the user chooses another provider, and is identified on
// return.
func (e *federatedPages) execute(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Action      string
		ExecutionID string
		Inputs      map[string]string
	}
	var all map[string]any
	raw := json.NewDecoder(r.Body)
	if err := raw.Decode(&all); err != nil {
		e.t.Error(err)
	}
	text, _ := json.Marshal(all)
	if err := json.Unmarshal(text, &body); err != nil {
		e.t.Error(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sent = append(e.sent, all)
	reply := step(object{"id": "h", "type": "TEXT", "variant": "HEADING_1", "label": "Sign in"},
		object{"id": "form", "type": "BLOCK", "components": []object{{"id": "other", "type": "ACTION", "eventType": "SUBMIT", "label": "Example Corp"}}})
	switch {
	case body.Inputs["state"] != "" && e.declined == nil:
		e.away = false
		reply = step(object{"id": "h", "type": "TEXT", "variant": "HEADING_1", "label": "Welcome"})
		reply["stepId"] = "welcome"
	case body.Inputs["state"] != "" || body.Action != "" || e.away || e.first:
		e.away = true
		reply = e.ask()
		if e.declined != nil && body.Inputs["state"] != "" && len(*e.declined) > 0 {
			reply["error"] = *e.declined
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reply)
}

// ask is the step that redirects to the provider, each time with another state.
func (e *federatedPages) ask() object {
	e.states++
	reply := step(
		object{"id": "h", "type": "TEXT", "variant": "HEADING_1", "label": "Continue to Example Corp"},
		object{"id": "t", "type": "TEXT", "label": "You sign in there, and come back here."},
		object{"id": "form", "type": "BLOCK", "components": []object{{"id": "go", "type": "ACTION", "eventType": "SUBMIT", "variant": "PRIMARY", "label": "Continue to Example Corp"}}})
	reply["type"], reply["stepId"], reply["challengeToken"] = "REDIRECTION", "there", fmt.Sprintf("token-%d", e.states)
	to := e.redirect
	if strings.Contains(to, "%s") {
		to = fmt.Sprintf(to, fmt.Sprintf("state-%d", e.states))
	}
	reply["data"].(object)["redirectURL"] = to
	return reply
}

// bodies are the bodies that the pages have sent.
func (e *federatedPages) bodies() []map[string]any {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]map[string]any(nil), e.sent...)
}

func (e *federatedPages) set(change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change()
}

// expectArrival waits until the tab shows the provider's page.
func (e *federatedPages) expectArrival() {
	e.t.Helper()
	e.until(`document.title === "Provider" && document.readyState === "complete"`)
}

// expectStay checks that the page shows its step with the button, and does not navigate: it has
// loaded, has nothing more to do, and has sent no further requests.
func (e *federatedPages) expectStay() {
	e.t.Helper()
	e.shows("step/there")
	e.until(`document.readyState === "complete" && document.getElementById("action-go")`)
	before := len(e.bodies())
	eval[any](e.tab, `new Promise((done) => requestAnimationFrame(() => setTimeout(done)))`)
	if n := len(e.bodies()); n != before || !e.evalBool(`location.pathname.startsWith("/gate/")`) {
		e.t.Errorf("the page went on by itself: %s", e.describe())
	}
}

// choose starts a run and chooses the other provider.
func (e *federatedPages) choose() {
	e.t.Helper()
	e.visit("signin", "lang=en")
	e.shows("step/s")
	e.click("action-other")
	e.expectArrival()
}

func TestGateGoesToAnotherProviderAndBack(t *testing.T) {
	t.Parallel()
	e := openFederatedPages(t)
	e.choose()
	if got := eval[string](e.tab, `document.referrer`); got != "" {
		t.Errorf("the provider learns where people come from: %q", got)
	}
	e.click("agree")
	e.shows("step/welcome")
	bodies := e.bodies()
	want := map[string]any{
		"executionId": "run-1", "challengeToken": "token-1", "verbose": true,
		"inputs": map[string]any{"code": "c-1", "state": "state-1", "iss": e.provider.URL},
	}
	if got := bodies[len(bodies)-1]; !reflect.DeepEqual(got, want) || len(bodies) != 3 {
		t.Errorf("the run was answered with %v as number %d, want %v as the third", got, len(bodies), want)
	}
	if got := eval[string](e.tab, `location.pathname + location.search`); got != "/gate/signin?lang=en&applicationId="+tryID+"&executionId=run-1" {
		t.Errorf("the page is at %s, want where it was before", got)
	}
	for _, address := range e.history() {
		if strings.Contains(address, "code=") {
			t.Errorf("the code is in the history: %s", address)
		}
	}
	if kept := eval[int](e.tab, `sessionStorage.length`); kept != 0 {
		t.Errorf("%d things are still kept", kept)
	}
	e.do(chromedp.Reload())
	e.shows("step/s")
}

// history are the addresses of the tab's history.
func (p *tab) history() (addresses []string) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		h, err := cdp.Call(ctx, t, page.GetNavigationHistory, cdp.Empty{})
		for _, entry := range h.Entries {
			addresses = append(addresses, entry.URL)
		}
		return err
	}))
	return addresses
}

// If a flow begins with the provider, the user need not choose.
func TestGateStartsAtAProvider(t *testing.T) {
	t.Parallel()
	e := openFederatedPages(t)
	e.set(func() { e.first = true })
	e.visit("signin")
	e.expectArrival()
	e.click("agree")
	e.shows("step/welcome")

	// A user from an application has a started run; a second visit may be the return from
	// the provider.
	e.visit("signin", "executionId=run-1", "begun=1")
	e.expectArrival()
	for _, address := range e.history() {
		if strings.Contains(address, "begun") {
			t.Errorf("in the history is %s", address)
		}
	}
	eval[any](e.tab, `void setTimeout(() => history.back())`)
	e.until(`document.title !== "Provider"`)
	e.until(`document.readyState === "complete"`)
	if !e.evalBool(`location.pathname === "/gate/signin"`) {
		e.visit("signin", "executionId=run-1") // the page was left before it entered the history
	}
	e.expectStay()
}

// A user who returns without a response, or with a bad one, sees the step and decides.
func TestGateDoesNotLoop(t *testing.T) {
	t.Parallel()
	e := openFederatedPages(t)
	e.choose()

	eval[any](e.tab, `void setTimeout(() => history.back())`)
	e.until(`location.pathname === "/gate/signin"`)
	e.expectStay()
	for _, width := range []int64{phone, 1280} {
		e.setWidth(width)
		e.checkAccessibility(fmt.Sprintf("the way to another provider, %d wide", width))
		e.picture("away", true, width)
	}
	e.do(chromedp.Reload())
	e.expectStay()
	e.click("action-go")
	e.expectArrival()

	e.set(func() { e.declined = &object{} })
	e.click("decline")
	e.expectStay()
	bodies := e.bodies()
	if got := bodies[len(bodies)-1]["inputs"]; !reflect.DeepEqual(got, map[string]any{"error": "access_denied", "state": "state-4", "iss": e.provider.URL}) {
		t.Errorf("a user who declines gets %v", got)
	}
	e.click("action-go")
	e.expectArrival()
	e.set(func() {
		e.declined = &object{"code": "declined", "message": object{"defaultValue": "You did not sign in there."}}
	})
	e.click("agree")
	e.alerted("You did not sign in there.")
	e.expectStay()
}

// The page does not send a response that this tab did not request, or has sent already: an
// attacker's code would sign the user in as the attacker.
func TestGateIgnoresForeignCodes(t *testing.T) {
	t.Parallel()
	e := openFederatedPages(t)
	e.choose()
	e.click("agree")
	e.shows("step/welcome")
	used := len(e.bodies())
	for _, query := range []string{"code=c-1&state=state-1", "code=foreign&state=unknown", "code=foreign", "state=unknown", "", "error=access_denied&state=unknown&executionId=run-1&authId=a"} {
		e.open(e.base + "/gate/callback?" + query)
		e.shows("over")
		if text := e.text("view"); !strings.Contains(text, "another browser or tab") || !strings.Contains(text, "sign in again") {
			t.Errorf("%s: the page says %q", query, text)
		}
		if at := eval[string](e.tab, `location.pathname + location.search`); strings.ContainsAny(at, "=&") {
			t.Errorf("%s: the page is at %s", query, at)
		}
		if text := e.text("main"); strings.Contains(text, "Back to") {
			t.Errorf("%s: the page leads to an application that it cannot know: %q", query, text)
		}
		e.checkAccessibility("a foreign answer")
	}
	e.picture("callback", true, 1280)
	if n := len(e.bodies()); n != used {
		t.Errorf("the run was answered: %v", e.bodies()[used:])
	}
	e.open(e.base + "/gate/callback?lang=de&code=1")
	e.shows("over")
	if text, at := e.text("view"), eval[string](e.tab, `location.search`); !strings.Contains(text, "Browser oder Tab") || at != "?lang=de" {
		t.Errorf("in German the page says %q at %s", text, at)
	}
}

// The page does not navigate to an address that is not http or https, or has no state to
// return with.
func TestGateRejectsUnsafeAddresses(t *testing.T) {
	t.Parallel()
	e := openFederatedPages(t)
	for _, address := range []string{
		"javascript:document.title='owned'//?state=%s", "data:text/html,owned?state=%s", "com.example.app:/callback?state=%s", "http://[", e.provider.URL + "/authorize", "/health/liveness",
	} {
		e.set(func() { e.redirect, e.away = address, false })
		e.visit("signin")
		e.shows("step/s")
		e.click("action-other")
		e.alerted("Something went wrong")
		if title := eval[string](e.tab, `document.title`); title == "owned" || !e.evalBool(`sessionStorage.length === 0`) {
			t.Errorf("%s: %s", address, e.describe())
		}
	}
}
