package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// openSite starts a web application, and returns its address and the codes that it receives.
func (a *administrator) openSite() (base string, codes <-chan string) {
	received := make(chan string, 1)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/callback" {
			received <- r.URL.Query().Get("code")
		}
		fmt.Fprint(w, "<title>Shop</title>")
	}))
	a.t.Cleanup(site.Close)
	return site.URL, received
}

// shown returns a value of a list such as "Client id".
func (a *administrator) shown(name string) string {
	a.t.Helper()
	item := fmt.Sprintf(`[...document.querySelectorAll("main .key-values > div")].find((l) => l.firstElementChild.textContent === %q)`, name)
	a.until(item)
	return eval[string](a.tab, item+`.querySelector("code").textContent`)
}

// secret returns the client secret that the page shows once.
func (a *administrator) secret() string {
	a.t.Helper()
	a.sees("Copy it now: it is not shown again.")
	return eval[string](a.tab, `document.querySelector(".secret .value").textContent`)
}

func createAnApplication(a *administrator) {
	createUser(a.t, a.p, object{"username": "wilma", "password": adminPassword})
	site, codes := a.openSite()
	a.press("Create")
	a.heading("New application")
	a.tick("Web application with a server")
	a.fill("Name", "Lamp shop")
	a.fill("Redirect URIs", site+"/callback")
	a.press("Create")
	a.heading("Lamp shop")
	secret, client := a.secret(), a.shown("Client id")

	a.press("Show code")
	a.choose("Stack", "Python: Flask, Authlib")
	for _, permission := range []string{"clipboard-read", "clipboard-write"} {
		call(a.tab, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
			Permission: &cdpbrowser.PermissionDescriptor{Name: permission}, Setting: cdpbrowser.PermissionSettingGranted,
			Origin: a.p.base, BrowserContextID: chromedp.FromContext(a.ctx).BrowserContextID,
		})
	}
	a.press("Copy")
	a.sees("Copied.")
	code := eval[string](a.tab, `navigator.clipboard.readText()`)
	if !strings.Contains(code, client) || !strings.Contains(code, a.p.base) || strings.Contains(code, secret) {
		a.t.Errorf("the copied code lacks a value or contains the secret:\n%s", code)
	}

	a.sees(site + "/")
	a.press("Register it as a post-logout URI")
	a.until(`!` + named("button", "Register it as a post-logout URI"))
	if uris := a.postLogoutURIs(client); !slices.Equal(uris, []string{site + "/"}) {
		a.t.Errorf("the post-logout URIs are %q", uris)
	}

	a.press("Test the sign-in")
	a.until(named("a", "Open the sign-in in a new tab"))
	test := eval[string](a.tab, named("a", "Open the sign-in in a new tab")+".href")
	user := openTab(a.t)
	user.open(test)
	user.click("action-password")
	user.until(`document.getElementById("field-username") && !document.querySelector("[aria-busy]")`)
	user.enter("username", "wilma")
	user.enter("password", adminPassword)
	user.click("action-continue")
	user.until(`document.title === "Shop"`)
	if <-codes == "" {
		a.t.Error("the application received no code")
	}
	a.press("Settings of the application")
	a.press("Protocol")
	a.sees("Grant types")
}

func brandAnApplication(a *administrator) {
	newRelyingParty(a.t, a.p, "Lantern club")
	a.press("Applications")
	a.press("Lantern club")
	a.heading("Lantern club")
	a.press("Appearance")
	a.until(`document.querySelector("iframe")?.contentDocument?.getElementById("heading")?.textContent === "Sign in to Lantern club"`)
	a.fill("Color of buttons and links", "#b00020")
	a.until(`document.querySelector("iframe").contentDocument.documentElement.style.getPropertyValue("--accent") === "rgb(176 0 32)"`)
	a.isAccessible("the appearance")
	a.press("Save")
	a.sees("Saved.")

	user := openGate(a.t, a.p)
	user.open(a.p.base + "/gate/signin?applicationId=" + eval[string](a.tab, `location.pathname.split("/").pop()`))
	user.until(`document.querySelector("#view[data-view=step]") && !document.querySelector("[aria-busy]")`)
	if accent := eval[string](user.tab, `document.documentElement.style.getPropertyValue("--accent")`); accent != "rgb(176 0 32)" || user.text("heading") != "Sign in to Lantern club" {
		a.t.Errorf("the hosted page has the heading %q and the color %s", user.text("heading"), accent)
	}
	user.checkAccessibility("the branded page")
}

// postLogoutURIs returns those of a client.
func (a *administrator) postLogoutURIs(client string) []string {
	a.t.Helper()
	var list struct {
		Applications []struct {
			InboundAuthConfig []struct {
				Config struct{ PostLogoutRedirectURIs []string }
			}
		}
	}
	a.p.get(a.t, "/applications?filter="+url.QueryEscape(fmt.Sprintf("clientId eq %q", client)), &list)
	return list.Applications[0].InboundAuthConfig[0].Config.PostLogoutRedirectURIs
}

// authenticates reports whether the token endpoint accepts the secret of a client.
func (p *postern) authenticates(client, secret string) (status int, err error) {
	r, err := http.NewRequest(http.MethodPost, p.base+"/oauth2/token", strings.NewReader("grant_type=client_credentials"))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(url.QueryEscape(client), url.QueryEscape(secret))
	reply, err := p.client.Do(r)
	if err != nil {
		return 0, err
	}
	return reply.StatusCode, reply.Body.Close()
}

func replaceASecret(a *administrator) {
	a.press("Create")
	a.heading("New application")
	a.tick("Service without users")
	a.fill("Name", "Stock service")
	a.press("Create")
	a.heading("Stock service")
	before, client := a.secret(), a.shown("Client id")
	a.press("Settings of the application")
	a.press("Danger")
	a.press("Rotate the client secret")
	a.confirm("Rotate the client secret")
	after := a.secret()
	for secret, want := range map[string]int{before: http.StatusOK, after: http.StatusOK} { // the former works for a day
		if status, err := a.p.authenticates(client, secret); err != nil || status != want {
			a.t.Errorf("a token with the secret: %d %v, want %d", status, err, want)
		}
	}
}
