package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/totp"
)

// storeFlow stores a flow of the corpus for an application of its own, whose id it returns.
func (p *postern) storeFlow(t *testing.T, file string) (applicationID string) {
	t.Helper()
	token := adminToken(t, p)
	flow := p.send(http.MethodPost, "/flows", string(datatest.ReadFile(t, "../flows/testdata/good/"+file)),
		"Content-Type: application/yaml", "Accept: application/json", bearer(token))
	if flow.status != http.StatusCreated {
		t.Fatalf("storing %s: status %d: %s", file, flow.status, flow.body)
	}
	var made struct{ ID string }
	datatest.Unmarshal(t, flow.body, &made)
	app, err := p.post("/applications", token, object{"name": file, "authFlowId": made.ID})
	if err != nil || app.status != http.StatusCreated || json.Unmarshal(app.body, &made) != nil {
		t.Fatalf("%v %s", err, app.body)
	}
	return made.ID
}

// code is the current code of an authenticator app with the key.
func code(t *testing.T, key totp.Key, ahead time.Duration) string {
	t.Helper()
	shown, err := key.Code(time.Now().Add(ahead))
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

// enterPassword starts the application's sign-in, whose first step asks for the password, as a user
// with the password of the administrator.
func (g *gateTab) enterPassword(app, username string) {
	g.t.Helper()
	g.open(g.base + "/gate/signin?applicationId=" + app)
	g.shows("step/who")
	g.enter("username", username)
	g.enter("password", adminPassword)
	g.click("action-continue")
}

// setUpApp sets up the authenticator app that the page shows, with recovery codes, and ends
// at the account.
func (g *gateTab) setUpApp() {
	g.t.Helper()
	g.shows("step/app")
	secret := strings.ReplaceAll(eval[string](g.tab, `document.querySelector("p.code").textContent`), " ", "")
	g.enter("otp", code(g.t, totp.Key{Secret: secret, Algorithm: totp.SHA1, Digits: 6}, 0))
	g.click("action-submit")
	g.shows("step/codes")
	g.click("action-saved")
	g.shows("account")
}

// A user sets up an authenticator app with the page and is asked for a code at the next
// sign-in; a recovery code replaces it.
func TestGateAcceptsCodes(t *testing.T) {
	t.Parallel()
	p := serve(t)
	app := p.storeFlow(t, "code_as_second_factor.yaml")
	g := openGate(t, p)
	begin := func() { t.Helper(); g.enterPassword(app, "admin") }
	begin()
	g.shows("step/app")
	g.until(`document.querySelector("img.picture").naturalWidth > 200`)
	for _, width := range []int64{390, 1280} {
		call(g.tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 800, DeviceScaleFactor: 1})
		g.checkAccessibility(fmt.Sprintf("setting up an app, %d wide", width))
	}
	secret := strings.ReplaceAll(eval[string](g.tab, `document.querySelector("p.code").textContent`), " ", "")
	key := totp.Key{Secret: secret, Algorithm: totp.SHA1, Digits: 6}
	g.enter("otp", "000000")
	g.click("action-submit")
	g.until(`document.getElementById("error-otp")?.textContent.includes("Incorrect code")`)
	if again := strings.ReplaceAll(eval[string](g.tab, `document.querySelector("p.code").textContent`), " ", ""); again != secret {
		t.Fatalf("after a wrong code the key is another")
	}
	g.enter("otp", code(t, key, 0))
	g.click("action-submit")
	g.shows("step/codes")
	g.checkAccessibility("recovery codes")
	recovery := eval[[]string](g.tab, `[...document.querySelectorAll("p.code")].map((p) => p.textContent)`)
	if len(recovery) != 10 {
		t.Fatalf("the page shows %d codes", len(recovery))
	}
	g.click("action-saved")
	g.shows("account")

	begin()
	g.shows("step/code")
	g.enter("otp", code(t, key, totp.Period)) // the current code may have been used
	g.click("action-submit")
	g.shows("account")

	begin()
	g.shows("step/code")
	g.click("action-lost")
	g.shows("step/rescue")
	g.enter("recoveryCode", "wrong")
	g.click("action-submit")
	g.alerted("Incorrect")
	g.enter("recoveryCode", strings.ToLower(recovery[3]))
	g.click("action-submit")
	g.shows("step/app")
}
