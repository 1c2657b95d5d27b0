package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
)

func addAnIdentityProvider(a *administrator) {
	a.press("Create identity provider")
	a.heading("Create identity provider")
	a.choose("Preset", "Google")
	a.sees("Authorized redirect URIs")
	a.sees(a.p.base + "/gate/callback")
	a.isAccessible("the preset")
	a.fill("Client id", "1234.apps.example")
	a.fill("Client secret", "not a real secret")
	a.press("Create")
	a.heading("Google")
	a.sees(a.p.base + "/gate/callback")
	a.press("Identity providers")
	a.heading("Identity providers")
	a.sees("https://accounts.google.com")
}

func rotateTheKeys(a *administrator) {
	rp := newRelyingParty(a.t, a.p, "Long reader")
	user := &gateTab{tab: openTab(a.t), base: a.p.base}
	user.signUp("zita")
	user.open(rp.request()) // the passkey that waits for the autofill signs in
	issued := rp.redeem(rp.waitForCode(user.tab).Get("code"))

	a.press("Signing keys")
	a.heading("Signing keys")
	a.press("Publish the next keys")
	a.confirm("Publish the next keys")
	a.sees("The next keys are published.")
	a.until(`document.querySelectorAll("main tbody tr").length === 4`)
	a.isAccessible("the signing keys")
	a.press("Replace the keys at once")
	a.confirm("Replace the keys at once")
	a.sees("The new keys sign from now on.")
	a.sees("retired")
	rp.verify(issued.ID, issued.Access) // with the keys that the server publishes now
}

func searchTheAuditLog(a *administrator) {
	a.press("Create")
	a.heading("Create group")
	a.fill("Name", "Gardeners")
	a.press("Create")
	a.heading("Gardeners")
	group := eval[string](a.tab, `location.pathname.split("/").pop()`)

	a.press("Audit log")
	a.heading("Audit log")
	a.fill("Action", "group.created")
	a.find("Resource", "Gardeners") // this applies the filter
	a.until(`document.querySelectorAll("main table.events > tbody > tr").length === 1`)
	a.press("group.created")
	a.sees("Trace id")
	a.isAccessible("an event")
	folder := a.downloads()
	a.press("Download")
	a.sees("1 events were saved.")
	eventually(a.t, "the download", func() bool {
		text, err := os.ReadFile(filepath.Join(folder, "audit-events.jsonl"))
		return err == nil && strings.Count(string(text), "\n") == 1 && strings.Contains(string(text), group)
	})

	a.press("Clear")
	a.press("Verify that nothing was changed")
	a.press("Verify")
	a.sees("The audit log is intact")
	end := eval[string](a.tab, `document.querySelector("main details.notice [role=status] code").textContent`)
	a.fill("End of an earlier verification", "1:"+end[len(end)-64:])
	a.press("Verify")
	a.sees("The audit log was changed at seal 1.")
	a.isAccessible("a changed audit log")
}
