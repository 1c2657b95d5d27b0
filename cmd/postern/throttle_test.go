package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
)

// The default limits of the configuration equal those of package throttle.
func TestDefaultBudgets(t *testing.T) {
	cfg := loadConfig(t, nil)
	if got, want := throttle.Budgets(cfg.Throttle.Budgets), throttle.DefaultBudgets(); got != want {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

// guesser is a caller at an address, with the cookies of their browser.
type guesser struct {
	*testApp
	application string // default: the console
	remote      string
	device      *http.Cookie
}

// guess signs in to the console with a password, from an address, and returns the status
// and the step.
func (w *testApp) guess(remote, name, password string) (int, schemas.Step) {
	return (&guesser{testApp: w, remote: remote}).guess(name, password)
}

func (g *guesser) guess(name, password string) (int, schemas.Step) {
	var s, last schemas.Step
	g.send(map[string]any{"applicationId": cmp.Or(g.application, bootstrap.ConsoleID), "flowType": "AUTHENTICATION"}, &s)
	run := s.ExecutionID
	g.send(map[string]any{"executionId": run, "action": "password", "inputs": map[string]string{}}, &s)
	return g.send(map[string]any{"executionId": run, "action": "continue", "inputs": map[string]string{"username": name, "password": password}}, &last), last
}

func (g *guesser) send(body any, out *schemas.Step) int {
	r := newRequest(http.MethodPost, "/flow/execute", string(datatest.Marshal(g.t, body)), jsonBody)
	r.RemoteAddr = g.remote + ":4711"
	if g.device != nil {
		r.AddCookie(g.device)
	}
	rec := g.reply(r)
	if rec.Code == http.StatusTooManyRequests && rec.Header().Get("Retry-After") == "" {
		g.t.Error("no Retry-After")
	}
	if err := json.Unmarshal(rec.Body.Bytes(), out); err != nil && rec.Code == http.StatusOK {
		g.t.Fatal(err)
	}
	for _, c := range rec.Result().Cookies() {
		if out.FlowStatus != schemas.Complete || c.Name != "__Host-postern-device" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.MaxAge != int(throttle.DeviceTTL.Seconds()) {
			g.t.Errorf("a step that is %s sets %v", out.FlowStatus, c)
		}
		g.device = c
	}
	return rec.Code
}

// Passwords are guessed at an account from many addresses, over HTTP and with every
// component in place. Its owner signs in from home.
func TestGuessingDoesNotLockOut(t *testing.T) {
	w := newTestApp(t, "POSTERN_THROTTLE_ENABLED=true", "POSTERN_PASSWORD_MEMORY_KIB=1024", "POSTERN_PASSWORD_ITERATIONS=1",
		"POSTERN_THROTTLE_ACCOUNT_GUESSES_BURST=6", "POSTERN_THROTTLE_ACCOUNT_GUESSES_EVERY=24h",
		"POSTERN_THROTTLE_PAIR_GUESSES_BURST=3", "POSTERN_THROTTLE_PAIR_GUESSES_EVERY=24h")
	const home = "198.51.100.7"
	if status, s := w.guess(home, "admin", adminPassword); status != http.StatusOK || s.FlowStatus != schemas.Complete {
		t.Fatalf("%d %+v", status, s)
	}
	count := func(name string, addresses ...string) (checked int) {
		for _, address := range addresses {
			for range 4 {
				if status, _ := w.guess(address, name, "wrong"); status == http.StatusOK {
					checked++
				}
			}
		}
		return checked
	}
	for _, name := range []string{"admin", "nobody"} {
		if n := count(name, "203.0.113.1"); n != 3 {
			t.Errorf("one address at %s: %d were checked, want 3", name, n)
		}
		if n := count(name, "203.0.113.2", "192.0.2.1", "192.0.2.2"); n != 3 {
			t.Errorf("three more at %s: %d were checked, want 3", name, n)
		}
	}
	if status, _ := w.guess("192.0.2.3", "ADMIN", adminPassword); status != http.StatusTooManyRequests {
		t.Errorf("an unknown network with the right password, in another spelling: %d", status)
	}
	if _, s := w.guess(home, "admin", "wrong"); s.Error == nil || s.Error.Code != schemas.CodeInvalidCredentials {
		t.Errorf("the owner mistypes: %+v", s)
	}
	if status, s := w.guess(home, "admin", adminPassword); status != http.StatusOK || s.FlowStatus != schemas.Complete {
		t.Errorf("the owner is locked out: %d %+v", status, s)
	}
}

// An attack on an account locks out unknown networks and users of other accounts, but not
// its owner, whose browser is known on any network.
func TestOwnDeviceIsNotLockedOut(t *testing.T) {
	w := newTestApp(t, "POSTERN_THROTTLE_ENABLED=true", "POSTERN_PASSWORD_MEMORY_KIB=1024", "POSTERN_PASSWORD_ITERATIONS=1",
		"POSTERN_THROTTLE_ACCOUNT_GUESSES_BURST=3", "POSTERN_THROTTLE_ACCOUNT_GUESSES_EVERY=24h",
		"POSTERN_THROTTLE_FAMILIAR_GUESSES_BURST=2", "POSTERN_THROTTLE_FAMILIAR_GUESSES_EVERY=24h")
	w.create(w.directory.Users, `{"type": "Person", "attributes": {"username": "eve", "password": "Tarn-ferry-slate-41"}}`)
	owner, eve := &guesser{testApp: w, remote: "198.51.100.7"}, &guesser{testApp: w, remote: "203.0.113.9"}
	for by, password := range map[*guesser][2]string{owner: {"admin", adminPassword}, eve: {"eve", "Tarn-ferry-slate-41"}} {
		if status, s := by.guess(password[0], password[1]); status != http.StatusOK || s.FlowStatus != schemas.Complete || by.device == nil {
			t.Fatalf("%d %+v", status, s)
		}
	}
	first := *owner.device
	if owner.guess("admin", adminPassword); owner.device.Value != first.Value {
		t.Error("the browser gets the same cookie again")
	}
	for i := range 4 {
		w.guess(fmt.Sprintf("203.0.113.%d", i), "admin", "wrong")
	}
	away := "192.0.2.1"
	for name, by := range map[string]*guesser{
		"an unknown browser": {testApp: w, remote: away}, "another's device": {testApp: w, remote: away, device: eve.device},
		"a forged cookie": {testApp: w, remote: away, device: &http.Cookie{Name: first.Name, Value: first.Value[:len(first.Value)-2] + "AA"}},
	} {
		if status, _ := by.guess("admin", adminPassword); status != http.StatusTooManyRequests {
			t.Errorf("%s is let in with %d", name, status)
		}
	}
	owner.remote = away
	if status, s := owner.guess("admin", adminPassword); status != http.StatusOK || s.FlowStatus != schemas.Complete {
		t.Errorf("the owner is locked out: %d %+v", status, s)
	}
	thief, checked := &guesser{testApp: w, remote: "192.0.2.200", device: &first}, 0
	for range 9 {
		if status, _ := thief.guess("admin", "wrong"); status == http.StatusOK {
			checked++
		}
	}
	if checked != 2 {
		t.Errorf("of a thief of the cookie %d guesses were checked, want 2", checked)
	}
}
