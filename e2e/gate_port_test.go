package e2e_test

import (
	"fmt"
	"strings"
	"testing"
)

// The hosted pages have a port of their own, with the API beside them: whoever
// comes from a client signs up there with a passkey and goes back.
func TestGateAtItsOwnPort(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	p := serve(t, fmt.Sprintf("POSTERN_GATE_CLIENT_PORT=%d", port))
	rp := newRelyingParty(t, p, "Shop")
	g := &gateTab{tab: openTab(t), base: fmt.Sprintf("http://localhost:%d", port)}
	g.open(rp.request())
	g.until(`document.querySelector(".other a")`)
	if at := eval[string](g.tab, `location.origin + location.pathname`); at != g.base+"/signin" {
		t.Errorf("people sign in at %s", at)
	}
	eval[any](g.tab, `document.querySelector(".other a").click()`)
	g.shows("step/who")
	g.enter("username", "ada")
	g.click("action-continue")
	g.shows("step/key")
	g.click("action-passkey")
	got := rp.redeem(rp.awaits().Get("code"))
	if claims := rp.verify(got.ID, got.Access); claims["preferred_username"] != "ada" {
		t.Errorf("the ID token says %v", claims)
	}
	if code := p.terminate(); code != 0 || !strings.Contains(p.log.String(), "listening for the hosted pages") {
		t.Errorf("ended with %d:\n%s", code, p.log)
	}
}
