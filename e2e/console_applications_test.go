package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"github.com/postern-id/postern/internal/stacks"
)

// clientOf returns the OAuth client of the application.
func clientOf(t *testing.T, p *postern, id string) object {
	t.Helper()
	var app object
	p.get(t, "/applications/"+id, &app)
	protocols, _ := app["inboundAuthConfig"].([]any)
	if len(protocols) == 0 {
		return nil
	}
	protocol, _ := protocols[0].(map[string]any)
	config, _ := protocol["config"].(map[string]any)
	return config
}

// Each template creates an application with the OAuth client that its kind needs.
func TestConsoleCreatesApplicationsFromTemplates(t *testing.T) {
	t.Parallel()
	p := serve(t)
	c := openConsole(t, p, "/applications")
	tests := []struct {
		template, asked, answer string
		grants, auth, redirect  string
		stacks                  int
		hasSecret               bool
	}{
		{"Web application with a server", "Redirect URIs", "https://shop.example/callback", "[authorization_code refresh_token]", "<nil>", "[https://shop.example/callback]", 16, true},
		{"Single-page application", "Redirect URIs", "https://spa.example/", "[authorization_code refresh_token]", "none", "[https://spa.example/]", 8, false},
		{"Mobile or desktop application", "Redirect URIs", "com.example.app:/callback", "[authorization_code refresh_token]", "none", "[com.example.app:/callback]", 8, false},
		{"Command-line program", "", "", "[authorization_code refresh_token]", "none", "[http://127.0.0.1/callback]", 8, false},
		{"Service without users", "Scopes", "system:users:read", "[client_credentials]", "<nil>", "<nil>", 3, true},
		{"Sign-in pages of your own", "Origins of your pages", "http://localhost:3000", "<nil>", "<nil>", "<nil>", 1, false},
	}
	for _, test := range tests {
		c.heading("Applications")
		c.press("Create")
		c.heading("New application")
		c.until(fmt.Sprintf(`((e) => e && (e.click(), true))([...document.querySelectorAll("label")].find((l) => l.querySelector("strong")?.textContent === %q))`, test.template))
		c.fill("Name", test.template)
		if test.asked != "" {
			c.fill(test.asked, test.answer)
		}
		c.isAccessible("the template " + test.template)
		c.press("Create")
		c.heading(test.template)
		if shown := c.evalBool(`document.querySelector("main").innerText.includes("Copy it now")`); shown != test.hasSecret {
			t.Errorf("%s: a secret is shown: %t", test.template, shown)
		}
		c.press("Show code")
		c.until(`document.querySelector("pre.snippet")`)
		stacks := eval[int](c.tab, `document.querySelectorAll("main select option").length`)
		if stacks != test.stacks {
			t.Errorf("%s: code for %d stacks, not %d", test.template, stacks, test.stacks)
		}
		c.isAccessible("the code of " + test.template)
		c.press("Settings of the application")
		c.until(`/[0-9a-f-]{36}$/.test(location.pathname)`)
		c.press("Danger")
		c.until(named("button", "Revoke all tokens"))
		if rotates := c.evalBool(`Boolean(` + named("button", "Rotate the client secret") + `)`); rotates != test.hasSecret {
			t.Errorf("%s: the page offers to rotate a secret: %t", test.template, rotates)
		}
		id := eval[string](c.tab, `location.pathname.split("/").pop()`)
		client := clientOf(t, p, id)
		got := fmt.Sprint(client["grantTypes"], client["tokenEndpointAuthMethod"], client["redirectUris"])
		if want := fmt.Sprint(test.grants, test.auth, test.redirect); strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%s: the client has %s, not %s", test.template, got, want)
		}
		c.press("Applications")
	}
	c.expectQuiet()
}

// Code has the values of the application, and the OAuth client is edited in fields.
func TestConsoleConnectsAnApplication(t *testing.T) {
	t.Parallel()
	p := serve(t)
	c := openConsole(t, p, "/applications/new/template")
	c.heading("New application")
	c.fill("Name", "Shop")
	c.fill("Redirect URIs", "not a URI")
	c.press("Create")
	c.until(`document.activeElement.getAttribute("aria-invalid") === "true" && document.activeElement.value === "not a URI"`)
	c.isAccessible("a refused application")
	c.fill("Redirect URIs", "https://shop.example/signed-in")
	c.press("Create")
	c.heading("Shop")
	secret := eval[string](c.tab, `document.querySelector(".secret .value").textContent`)
	c.press("Show code")
	c.until(`document.querySelector("pre.snippet")`)
	clientID := eval[string](c.tab, `[...document.querySelectorAll("main .key-values > div")].find((l) => l.textContent.startsWith("Client id")).querySelector("code").textContent`)
	application := stacks.Client{Issuer: p.base, ClientID: clientID, RedirectURI: "https://shop.example/signed-in", Scopes: []string{"openid", "profile", "email"}}
	for _, name := range eval[[]string](c.tab, `[...document.querySelectorAll("main select option")].map((o) => o.value)`) {
		c.choose("Stack", name)
		c.until(fmt.Sprintf(`document.querySelector("main select").value === %q`, name))
		shown := eval[[]stacks.File](c.tab, `[...document.querySelectorAll("pre.snippet")].map((e) => ({Path: e.parentElement.querySelector("code").textContent, Text: e.textContent}))`)
		stack, _ := stacks.Find(name)
		printed, err := stack.Snippet(application) // by `postern app create`
		if err != nil || !slices.Equal(shown, printed) {
			t.Errorf("%s: the console shows\n%v\nand the command prints\n%v, %v", name, shown, printed, err)
		}
		if code := fmt.Sprint(shown); !strings.Contains(code, p.base) || !strings.Contains(code, clientID) || strings.Contains(code, secret) {
			t.Errorf("%s: the code lacks a value or contains the secret:\n%s", name, code)
		}
	}
	c.choose("Stack", "express")
	c.picture("console-connect", "main section")
	call(c.tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 390, Height: 844, DeviceScaleFactor: 1})
	if c.evalBool(`document.documentElement.scrollWidth > innerWidth`) {
		t.Error("the page is wider than 390 pixels")
	}
	c.press("Test the sign-in")
	c.until(named("a", "Open the sign-in in a new tab"))
	url := eval[string](c.tab, named("a", "Open the sign-in in a new tab")+".href")
	c.press("Settings of the application")
	c.press("Protocol")
	c.sees("Grant types")
	c.isAccessible("the form of an OAuth client")
	id := eval[string](c.tab, `location.pathname.split("/").pop()`)
	c.fill("Redirect URIs", "https://shop.example/other")
	c.sees("Redirect URIs: https://shop.example/other added · Redirect URIs: https://shop.example/signed-in removed")
	c.press("Sign-in")
	c.until(`[...document.querySelectorAll("label")].find((l) => l.textContent.startsWith("Sign-in flow"))?.control.options?.length > 1`)
	c.choose("Sign-in flow", eval[string](c.tab, `[...document.querySelectorAll("label")].find((l) => l.textContent.startsWith("Sign-in flow")).control.options[1].value`))
	c.press("Save")
	c.sees("Saved.")
	client := clientOf(t, p, id)
	if fmt.Sprint(client["redirectUris"]) != "[https://shop.example/other]" || client["clientId"] != clientID || client["pkceRequired"] != true {
		t.Errorf("the client is %v", client)
	}
	if keys := slices.Collect(strings.SplitSeq(url, "&")); !slices.Contains(keys, "prompt=login") {
		t.Errorf("the test sign-in is %s", url)
	}
	patch(t, p, "/applications/"+id, object{"inboundAuthConfig": []any{object{"type": "oauth2", "config": object{"clientId": clientID, "redirectUris": []string{"https://shop.example/signed-in"}}}}})
	c.expectQuiet()
	c.open(url)
	c.until(`document.getElementById("action-continue") || document.getElementById("action-password") || document.getElementById("action-passkey")`)
}
