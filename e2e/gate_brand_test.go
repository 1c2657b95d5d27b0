package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// pixel is a picture of one pixel.
const pixel = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"

// lamp is a logo.
const lamp = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSI0MCIgaGVpZ2h0PSI0MCIgdmlld0JveD0iMCAwIDQwIDQwIj48cGF0aCBkPSJNMTIgNmgxNmw4IDIwSDR6IiBmaWxsPSIjN2EyZTVkIi8+PHBhdGggZD0iTTE4IDI2aDR2OGg2djRIMTJ2LTRoNnoiIGZpbGw9IiMyYjFjMjUiLz48L3N2Zz4="

// brand returns the name and the logo of the page.
func (g *gateTab) brand() [2]string {
	return eval[[2]string](g.tab, `[document.getElementById("brand").innerText.trim(), document.querySelector("#brand img")?.getAttribute("src") ?? ""]`)
}

// createUnit creates an organization unit with a logo and returns its id.
func createUnit(t *testing.T, p *postern, body object) (id string) {
	t.Helper()
	if status := send(t, p, http.MethodPost, "/organization-units", adminToken(t, p), body); status != http.StatusCreated {
		t.Fatalf("POST /organization-units: %d", status)
	}
	var list struct{ OrganizationUnits []struct{ ID, Handle string } }
	p.get(t, "/organization-units", &list)
	for _, u := range list.OrganizationUnits {
		if u.Handle == body["handle"] {
			id = u.ID
		}
	}
	return id
}

// tile returns the letter that stands for an application without a logo.
func (g *gateTab) tile() string { return g.text("logo") }

// The pages show whose service this is, and what the user signs in to.
func TestGateShowsTheBrand(t *testing.T) {
	t.Parallel()
	p := serve(t, "POSTERN_PASSKEY_RELYING_PARTY_NAME=Acme Accounts", "POSTERN_SERVER_LOGO_URL="+pixel)
	g := openGate(t, p)
	g.visit("signin")
	g.shows("step/autofill")
	if got := g.brand(); got != [2]string{"Acme Accounts", pixel} || g.tile() != "T" {
		t.Errorf("the brand is %q, and the application is %q", got, g.tile())
	}
	for lang, want := range map[string]string{"en": "Sign in to Try it", "de": "Bei Try it anmelden", "fr": "Se connecter à Try it"} {
		g.visit("signin", "lang="+lang)
		g.shows("step/autofill")
		if got := g.text("heading"); got != want {
			t.Errorf("%s: the heading is %q, want %q", lang, got, want)
		}
		if title := eval[string](g.tab, `document.title`); title != want+" · Acme Accounts" {
			t.Errorf("%s: the title is %q", lang, title)
		}
	}
	g.open(p.base + "/gate/account")
	g.until(`document.querySelector("#view[data-view=step]") && !document.querySelector("[aria-busy]")`)
	if got := g.text("heading"); got != "Sign in" {
		t.Errorf("the heading of the account page's sign-in is %q", got)
	}
}

// An application that registered itself shows the logo of the service, and its name is marked.
func TestGateMarksUnverifiedApplications(t *testing.T) {
	t.Parallel()
	p := serve(t, "POSTERN_OAUTH_DCR_INSECURE=true", "POSTERN_PASSKEY_RELYING_PARTY_NAME=Acme Accounts")
	unit := createUnit(t, p, object{"handle": "lamps", "name": "Lamp Works", "logoUrl": pixel})
	patch(t, p, "/applications/"+tryID, object{"ouId": unit, "url": "https://lamps.example/"})
	body := `{"client_name":"Lamp Works","client_uri":"https://evil.example/","logo_uri":"https://evil.example/logo.png","redirect_uris":["https://evil.example/back"],"token_endpoint_auth_method":"none"}`
	var client struct {
		ID string `json:"client_id"`
	}
	r := p.send(http.MethodPost, "/oauth2/dcr/register", body, jsonBody)
	if datatest.Unmarshal(t, r.body, &client); client.ID == "" {
		t.Fatalf("%d %s", r.status, r.body)
	}
	var apps struct {
		Applications []struct{ ID, Name, ClientID string }
	}
	p.get(t, "/applications?filter="+url.QueryEscape(`clientId eq "`+client.ID+`"`), &apps)
	g := openGate(t, p)
	g.visit("signin")
	g.shows("step/autofill")
	if got := g.brand(); got != [2]string{"Lamp Works", pixel} {
		t.Errorf("the brand of the unit's application is %q", got)
	}
	g.open(p.base + "/gate/signin?applicationId=" + apps.Applications[0].ID)
	g.until(`document.querySelector("#view[data-view=step]") && !document.querySelector("[aria-busy]")`)
	if got := g.brand(); got != [2]string{"Acme Accounts", ""} || g.tile() != "" {
		t.Errorf("the brand of an unverified application is %q, and it shows %q", got, g.tile())
	}
	if got, text := g.text("heading"), g.text("view"); got != "Sign in" || !strings.Contains(text, "unverified app that calls itself “Lamp Works”") {
		t.Errorf("%q: %q", got, text)
	}
	g.checkAccessibility("an unverified application")

	// An error of its request leads to the start page, that of a verified one back to it.
	g.open(p.base + "/oauth2/authorize?client_id=" + client.ID + "&redirect_uri=https://other.example/")
	g.shows("over")
	if to := eval[[]string](g.tab, `[...document.querySelectorAll("#view a")].map((a) => a.href)`); len(to) != 1 || to[0] != p.base+"/" {
		t.Errorf("the error page leads to %q", to)
	}
	g.checkAccessibility("an error page")
	trace := eval[string](g.tab, `document.getElementById("view").textContent.match(/Trace id: ([0-9a-f]{32})/)[1]`)
	var log struct {
		AuditEvents []struct{ Action, ApplicationID string }
	}
	p.get(t, "/audit-events?traceId="+trace, &log)
	if len(log.AuditEvents) != 1 || log.AuditEvents[0].Action != "authorization.refused" || log.AuditEvents[0].ApplicationID != apps.Applications[0].ID {
		t.Errorf("the audit log has for the trace %q: %v", trace, log)
	}
	g.visit("error", "error=invalid_request")
	g.shows("over")
	if to := eval[[]string](g.tab, `[...document.querySelectorAll("#view a")].map((a) => a.textContent + " " + a.href)`); len(to) != 1 || to[0] != "Back to Try it https://lamps.example/" {
		t.Errorf("the error page leads to %q", to)
	}
}

// A run that has expired leads to a new one and to the application, with the trace id of the refusal.
func TestGateLeadsOnFromExpiredRuns(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	g.open(p.base + "/gate/consent?executionId=00000000-0000-4000-8000-000000000000")
	g.shows("over")
	text := g.text("view")
	if to := eval[string](g.tab, `document.querySelector("#view a").href`); to != p.base+"/" || !strings.Contains(text, "Trace id: ") {
		t.Errorf("the page %q leads to %s", text, to)
	}
	eval[any](g.tab, `document.querySelector("#view a").click()`)
	g.until(`location.pathname === "/" && document.querySelector('a[href$="/try/"]') !== null`)
}

// The theme of an application has a font, a background picture and an icon; what is invalid in it
// changes nothing.
func TestGateAppliesTheTheme(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	const looks = `[getComputedStyle(document.body).fontFamily, getComputedStyle(document.body).backgroundImage, document.querySelector("link[rel=icon]").getAttribute("href")]`
	for _, test := range []struct {
		theme                     object
		font, background, favicon string
	}{
		{object{"font": "Georgia, serif", "backgroundUrl": pixel, "faviconUrl": pixel}, "Georgia", `url("` + pixel + `")`, pixel},
		{object{"font": nil, "backgroundUrl": nil, "faviconUrl": nil, "radius": "4px", "colors": object{"primary": "nocolor"}}, `"Inter Variable"`, "none", "icon.svg"},
	} {
		patch(t, p, "/applications/"+tryID, object{"customizations": object{"theme": test.theme}})
		g.visit("signin")
		g.shows("step/autofill")
		got := eval[[3]string](g.tab, looks)
		if !strings.HasPrefix(got[0], test.font) || got[1] != test.background || !strings.HasSuffix(got[2], test.favicon) {
			t.Errorf("%v: the page has %q", test.theme, got)
		}
	}
	patch(t, p, "/applications/"+tryID, object{"customizations": object{"theme": object{
		"colors": object{"primary": "#7a2e5d", "background": "#f4e9ef"}, "radius": "4px", "font": "Georgia, serif", "logoUrl": lamp,
	}}})
	g.visit("signin")
	g.shows("step/autofill")
	if got := eval[string](g.tab, `document.querySelector("#logo img").getAttribute("src")`); got != lamp {
		t.Errorf("the logo is %q", got)
	}
	g.checkAccessibility("a theme")
	g.picture("theme", true, 1280)
}
