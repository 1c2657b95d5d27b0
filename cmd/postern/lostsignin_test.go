package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// hostedPage sends a request of a hosted page and returns the reply.
func (p *party) hostedPage(body map[string]any) (status int, said string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.at("/flow/execute"), bytes.NewReader(datatest.Marshal(p.t, body)))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Postern-Session", "1")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	reply, said := p.do(r, nil)
	return reply.StatusCode, said
}

// A hosted page learns when it loads that its sign-in cannot go on in this browser, and not after the password. The
// reply is that for a run which does not exist, and the run of the right browser goes on.
func TestHostedPageOfAnotherBrowser(t *testing.T) {
	newParty := newParties(t, "query")
	unknown := schemas.NewID()
	for name, change := range map[string]func(p *party, gate url.Values){
		"another browser": func(p *party, _ url.Values) {
			p.http = newBrowser(t, p.testApp.http)
			p.begin() // sets a cookie, of a request of its own
		},
		"a browser without cookies": func(p *party, _ url.Values) { p.http = newBrowser(t, p.testApp.http) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newParty(t)
			p.t = t
			gate := p.begin()
			run := gate.Get("executionId")
			own := p.http
			change(p, gate)
			for _, body := range []map[string]any{
				{"executionId": run}, {"executionId": run, "action": "password"},
				{"executionId": run, "action": "continue", "inputs": map[string]string{"username": "pat", "password": rpPassword}},
			} {
				status, said := p.hostedPage(body)
				body["executionId"] = unknown
				otherStatus, other := p.hostedPage(body)
				if status != http.StatusBadRequest || status != otherStatus || withoutIDs(said, run) != withoutIDs(other, unknown) {
					t.Errorf("%v: %d %s, for an unknown run %d %s", body, status, said, otherStatus, other)
				}
			}
			status, said := p.hostedPage(map[string]any{"applicationId": gate.Get("applicationId"), "authId": gate.Get("authId"), "flowType": "AUTHENTICATION"})
			if status != http.StatusBadRequest || !strings.Contains(said, schemas.CodeAuthRequest) {
				t.Errorf("a new run: %d %s", status, said)
			}
			p.http = own
			if status, said := p.hostedPage(map[string]any{"executionId": run}); status != http.StatusOK || !strings.Contains(said, run) {
				t.Errorf("the right browser: %d %s", status, said)
			}
			if _, status := p.redeem(p.code(p.follow(p.visit(p.signIn(gate))))); status != http.StatusOK {
				t.Errorf("the code gives %d", status)
			}
		})
	}
}

// A page whose request another run has answered, such as a sign-up that began from the page, learns it when it loads.
func TestHostedPageOfAnAnsweredRequest(t *testing.T) {
	p := newParties(t, "query")(t)
	gate := p.begin()
	run := gate.Get("executionId")
	other := p.step(map[string]any{"applicationId": gate.Get("applicationId"), "flowType": "AUTHENTICATION", "authId": gate.Get("authId")})
	if status, said := p.hostedPage(map[string]any{"executionId": run}); status != http.StatusOK {
		t.Fatalf("before: %d %s", status, said)
	}
	p.redeem(p.code(p.follow(p.visit(p.signIn(url.Values{"executionId": {other.ExecutionID}})))))
	if status, said := p.hostedPage(map[string]any{"executionId": run}); status != http.StatusBadRequest || !strings.Contains(said, schemas.CodeExecutionNotFound) {
		t.Errorf("after: %d %s", status, said)
	}
}

// withoutIDs is a reply without what is new in each.
func withoutIDs(said, run string) string {
	var e struct{ Code, TraceID string }
	_ = json.Unmarshal([]byte(said), &e)
	return strings.ReplaceAll(strings.ReplaceAll(said, run, ""), e.TraceID, "")
}

// The error page for a sign-in of another browser, or one that is over, leads back to the application.
func TestLostSignInLeadsBackToTheApplication(t *testing.T) {
	p := newParties(t, "query")(t)
	gate := p.begin()
	own := p.http
	p.http = newBrowser(t, p.testApp.http)
	lost := func(name string) {
		t.Helper()
		to, err := url.Parse(p.returnToClient(gate.Get("authId")))
		if err != nil || to.Path != "/gate/error" || to.Query().Get("error") != "lost" || to.Query().Get("applicationId") != gate.Get("applicationId") {
			t.Errorf("%s: led to %s", name, to)
		}
	}
	lost("in another browser")
	p.http = own
	p.redeem(p.code(p.follow(p.visit(p.signIn(gate)))))
	lost("after completion")
	_, said := p.visit(p.at("/flow/meta?id=" + gate.Get("applicationId")))
	if !strings.Contains(said, `"startUrl":"`) {
		t.Errorf("the page knows no way to the application: %s", said)
	}
}
