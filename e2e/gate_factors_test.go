package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/postern-id/postern/internal/totp"
)

// offeredApp returns the key that the dialog of the account page shows.
func (g *gateTab) offeredApp() totp.Key {
	g.t.Helper()
	g.until(`document.querySelector("dialog img.picture")?.naturalWidth > 200`)
	secret := strings.ReplaceAll(eval[string](g.tab, `document.querySelector("dialog .code").textContent`), " ", "")
	return totp.Key{Secret: secret, Algorithm: totp.SHA1, Digits: 6}
}

// A user sets up an authenticator app and recovery codes on the account page, replaces and removes
// them. What a sign-in with a password added proves no more than that.
func TestGateSetsUpFactors(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	g.present(false)
	g.signInAsAdmin(p.base + "/gate/signin")
	g.shows("account")

	// The first code proves that the app has the key; a wrong one is reported in the dialog.
	g.click("totp")
	key := g.offeredApp()
	for _, light := range []bool{true, false} {
		g.luminance(light)
		for _, width := range []int64{phone, 1280} {
			g.setWidth(width)
			g.checkAccessibility(fmt.Sprintf("setting up an app, %d wide, light %v", width, light))
			g.picture("account-app", light, width)
		}
	}
	g.do(typeInto("first-code", "0000"), chromedp.Click(chromedp.ID("sure")))
	g.until(`document.getElementById("fault").textContent.includes("Incorrect code") && !document.querySelector("[aria-busy]")`)
	g.checkAccessibility("a code that is refused")
	eval[any](g.tab, `document.getElementById("first-code").value = ""`)
	g.do(typeInto("first-code", code(t, key, 0)), chromedp.Click(chromedp.ID("sure")))
	g.alerted("Added: Authenticator app")
	if text := g.text("view"); !slices.Contains(g.signInMethods(), "Authenticator app") || !strings.Contains(text, "Proves no more than a password") {
		t.Errorf("the page says %q", text)
	}

	// From now on a password alone adds no factor.
	g.click("recovery-codes")
	g.alerted("Sign in with a passkey or a second factor to change this")
	g.click("sign-out")
	g.shows("signedout")
}

// A user with a passkey gets recovery codes, in German, and what a passkey added has no limit. Without
// a confirmation nothing changes.
func TestGateIssuesRecoveryCodes(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := openGate(t, p)
	g.signUp("ida")
	g.click("recovery-codes")
	g.until(`document.querySelectorAll("dialog .code").length === 10`)
	for _, width := range []int64{phone, 1280} {
		g.setWidth(width)
		g.checkAccessibility(fmt.Sprintf("recovery codes, %d wide", width))
		g.picture("account-codes", true, width)
	}
	g.click("cancel")
	g.until(`!document.querySelector("dialog")`)
	g.do(chromedp.Reload())
	g.shows("account")
	if got := g.signInMethods(); slices.Contains(got, "Recovery codes") {
		t.Errorf("codes that were not saved are valid: %q", got)
	}
	g.open(p.base + "/gate/account?lang=de")
	g.shows("account")
	g.click("recovery-codes")
	g.until(`document.querySelector("dialog h2")?.textContent === "Speichern Sie Ihre Wiederherstellungscodes"`)
	g.agree()
	g.alerted("Wiederherstellungscodes")
	g.click("totp")
	key := g.offeredApp()
	g.do(typeInto("first-code", code(t, key, 0)), chromedp.Click(chromedp.ID("sure")))
	g.alerted("Authenticator-App")
	g.open(p.base + "/gate/account?lang=fr")
	g.shows("account")
	if text := g.text("view"); !strings.Contains(text, "Encore 10 sur 10") || strings.Contains(text, "Ne prouve") {
		t.Errorf("the page says %q", text)
	}
	g.click("Replace-recovery-codes")
	g.until(`document.querySelectorAll("dialog .code").length === 10`)
	g.checkAccessibility("new recovery codes in French")
	g.agree()
	g.alerted("Codes de secours")
	for _, factor := range []string{"totp", "recovery-codes"} {
		g.click("Delete-" + factor)
		g.agree()
		g.until(fmt.Sprintf(`!document.getElementById("Delete-%s") && !document.querySelector("[aria-busy]")`, factor))
	}
	if n := eval[int](g.tab, `document.querySelectorAll("#totp, #recovery-codes").length`); n != 2 {
		t.Errorf("the page offers %d factors after they were removed, want 2", n)
	}
}
