package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// newUntrustedClient creates a client that registers itself.
func newUntrustedClient(t *testing.T, p *postern, name string) *relyingParty {
	t.Helper()
	rp := newRelyingParty(t, p, name+" of ours") // provides its site
	var made struct {
		ClientID string `json:"client_id"`
		AppID    string `json:"app_id"`
	}
	r, err := p.post("/oauth2/dcr/register", "", object{
		"client_name": name, "redirect_uris": []string{"http://127.0.0.1:8000/cb"}, "token_endpoint_auth_method": "none",
		"grant_types": []string{"authorization_code", "refresh_token"}, "scope": "openid profile email",
	})
	if err != nil || r.status != http.StatusCreated || json.Unmarshal(r.body, &made) != nil {
		t.Fatalf("%v %s", err, r.body)
	}
	rp.id, rp.clientID = made.AppID, made.ClientID
	return rp
}

// A self-registered client gets nothing before the user agrees: once, and again for new
// scopes, until the user revokes the consent.
func TestConsentInTheBrowser(t *testing.T) {
	t.Parallel()
	p := serve(t, "POSTERN_OAUTH_DCR_INSECURE=true")
	rp := newUntrustedClient(t, p, "Photo <b>Book</b>")
	g := &gateTab{tab: openTab(t), base: p.base}
	awaits := func() url.Values {
		t.Helper()
		return rp.waitForCode(g.tab)
	}
	g.signUp("ada")
	g.open(rp.request()) // the passkey that waits for the autofill signs in
	g.shows("step/consent")
	text := g.text("view")
	for _, want := range []string{"Photo <b>Book</b>", "127.0.0.1", "Not verified", "Know who you are", "See your name and profile", "ada"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page says %q, want %q", text, want)
		}
	}
	for _, light := range []bool{true, false} {
		g.luminance(light)
		for _, width := range []int64{390, 1280} {
			call(g.tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 800, DeviceScaleFactor: 1})
			g.checkAccessibility(fmt.Sprintf("consent, %d wide, light %v", width, light))
		}
	}
	g.click("action-allow")
	got := rp.token(url.Values{"grant_type": {"authorization_code"}, "code": {awaits().Get("code")}, "redirect_uri": {rp.site.URL + "/cb"}, "code_verifier": {codeVerifier}})
	if got.Access == "" || got.Refresh == "" {
		t.Fatalf("got %+v", got)
	}

	g.open(rp.request()) // agreed before, and signed in
	if q := awaits(); q.Get("code") == "" {
		t.Errorf("came back with %v", q)
	}
	g.open(rp.request("scope", "openid profile email", "prompt", "none"))
	if q := awaits(); q.Get("error") != "consent_required" {
		t.Errorf("came back with %v", q)
	}
	g.open(rp.request("scope", "openid profile email") + "&ui_locales=de")
	g.shows("step/consent")
	if text := g.text("view"); !strings.Contains(text, "Ihre E-Mail-Adresse sehen") || strings.Contains(text, "Know who you are") {
		t.Errorf("the page says %q", text)
	}
	g.click("action-deny")
	if q := awaits(); q.Get("error") != "access_denied" || q.Get("code") != "" {
		t.Errorf("came back with %v", q)
	}

	g.open(p.base + "/gate/account")
	g.shows("account")
	g.click("Revoke-" + rp.id)
	g.alerted("Done")
	if got := rp.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}}); got.Error != "invalid_grant" {
		t.Errorf("after the revocation: %+v", got)
	}
	g.open(rp.request())
	g.shows("step/consent")
}
