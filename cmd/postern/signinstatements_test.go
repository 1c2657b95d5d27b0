package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

// loggedApp is a server on PostgreSQL whose statements are logged.
type loggedApp struct {
	*testApp
	log *storetest.PostgresLog
}

func newStatementTest(t *testing.T) loggedApp {
	t.Helper()
	sequential(t)
	dsn, log := storetest.LoggedPostgres(t)
	return loggedApp{newTestApp(t, "POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN="+dsn), log}
}

// takes fails the test unless the statements since the last call are at most a number, and none failed.
func (w loggedApp) takes(what string, most int) {
	w.t.Helper()
	executed, failed := w.log.Next(w.t)
	if len(executed) > most || len(executed) == 0 || len(failed) > 0 {
		w.t.Errorf("%s takes %d statements, expected at most %d, and fails with %q:\n%s", what, len(executed), most, failed, strings.Join(executed, "\n"))
	}
}

// TestSignInRoundTrips: the step with a passkey and the exchange of a code read once and write once.
func TestSignInRoundTrips(t *testing.T) {
	w := newStatementTest(t)
	w.enrol("ada")
	for range 2 { // the first sign-in fills caches
		s := w.start(schemas.Authentication)
		w.log.Next(t)
		if s = w.authenticate(s); s.FlowStatus != schemas.Complete {
			t.Fatalf("%+v", s)
		}
	}
	w.takes("the step with a passkey", 2)
	w.createPat()
	p := w.newParties("query")(t)
	for range 2 {
		code := p.code(p.ask("prompt", "login"))
		w.log.Next(t)
		if got, status := p.redeem(code); status != http.StatusOK {
			t.Fatalf("%d %+v", status, got)
		}
	}
	w.takes("the exchange of a code", 2)
}

// TestRefreshRoundTrips: a refresh reads once and writes once.
func TestRefreshRoundTrips(t *testing.T) {
	w := newStatementTest(t)
	w.createPat()
	p := w.newParties("query")(t)
	got, _, _ := p.signInAndVerify("scope", "openid offline_access", "prompt", "consent")
	for range 2 { // the first refresh fills caches
		w.log.Next(t)
		var status int
		if got, status = p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}}); status != http.StatusOK {
			t.Fatalf("%d %+v", status, got)
		}
	}
	w.takes("a refresh", 2)
}

// TestRegistrationRoundTrips: the start of the registration of a passkey reads once and writes once, and reads the
// application of the token, which must still admit the user.
func TestRegistrationRoundTrips(t *testing.T) {
	w := newStatementTest(t)
	w.createPat()
	got, id, _ := w.configuredClient(t, `"redirectUris":["`+rpRedirect+`"],"scopes":["openid","account"]`).signInAndVerify("scope", "openid account", "resource", w.origin)
	for range 2 { // the first start fills caches
		w.log.Next(t)
		w.send(http.StatusOK, "/register/passkey/start", got.Access, `{"userId":"`+id.Subject+`"}`, &map[string]any{})
	}
	w.takes("the start of a registration", 3)
}

// TestSignInsLogNoErrors: whole sign-ins with each second factor leave no error in the log of PostgreSQL.
func TestSignInsLogNoErrors(t *testing.T) {
	w := newStatementTest(t)
	application := w.shop(w.admin(), "code_as_second_factor.yaml")
	signIn := func() schemas.Step {
		return w.answer(w.begin(application, "AUTHENTICATION"), "continue", map[string]string{"username": "admin", "password": adminPassword})
	}
	s := signIn()
	key := totp.Key{Secret: s.Data.AdditionalData["totpSecret"], Algorithm: totp.SHA1, Digits: 6}
	codeAt := func(step int) string {
		code, err := key.Code(time.Now().Add(time.Duration(step) * totp.Period))
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	s = w.answer(s, "submit", map[string]string{"otp": codeAt(0)})
	var recovery []string
	if err := json.Unmarshal([]byte(s.Data.AdditionalData["recoveryCodes"]), &recovery); err != nil {
		t.Fatalf("%v: %+v", err, s)
	}
	w.answer(s, "saved", nil)
	w.log.Next(t)
	if s = w.answer(signIn(), "submit", map[string]string{"otp": codeAt(1)}); s.FlowStatus != schemas.Complete {
		t.Fatalf("a sign-in with an authenticator app: %+v", s)
	}
	w.takes("a sign-in with an authenticator app", 100)
	if s = w.answer(w.answer(signIn(), "lost", nil), "submit", map[string]string{"recoveryCode": recovery[0]}); s.StepID != "app" {
		t.Fatalf("a sign-in with a recovery code: %+v", s)
	}
	w.takes("a sign-in with a recovery code", 100)
}
