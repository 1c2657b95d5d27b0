package e2e_test

import (
	"strings"
	"testing"
)

// A logout request without an id_token_hint requires confirmation. The page has the design
// of the client and the language of the user, and only the button signs the user out.
func TestGateConfirmsSignOut(t *testing.T) {
	t.Parallel()
	p := serve(t)
	rp := newRelyingParty(t, p, "Shop")
	g := &gateTab{tab: openTab(t), base: p.base}
	g.open(rp.request())
	g.signUpInstead("ada")
	rp.waitForCode(g.tab)

	g.open(p.base + "/oauth2/logout?ui_locales=de&client_id=" + rp.clientID)
	g.shows("signout")
	if at, text := eval[string](g.tab, `location.pathname`), g.text("main"); at != "/gate/signout" || !strings.Contains(text, "In diesem Browser abmelden?") || !strings.Contains(text, "Postern") {
		t.Errorf("at %s the page says %q", at, text)
	}
	g.checkAccessibility("the question")
	g.open(rp.request("prompt", "none"))
	if q := rp.waitForCode(g.tab); q.Get("code") == "" {
		t.Errorf("without confirmation the next request gets %v", q)
	}

	g.open(p.base + "/gate/signout?lang=fr") // it does not know the session yet, and asks
	g.shows("signout")
	g.click("sign-out")
	g.until(`location.search.includes("confirm") && document.documentElement.lang === "fr"`)
	g.shows("signout")
	g.click("sign-out")
	g.shows("signedout")
	if text := g.text("main"); !strings.Contains(text, "Vous êtes déconnecté") {
		t.Errorf("then the page says %q", text)
	}
	g.open(rp.request("prompt", "none"))
	if q := rp.waitForCode(g.tab); q.Get("error") != "login_required" {
		t.Errorf("the next request gets %v", q)
	}
}
