package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

// sealedFixture is a server whose store contains every kind of sealed value.
type sealedFixture struct {
	*testApp
	environ       []string
	keyFile       string
	shop          string           // an application that requires a code
	authenticator totp.Key         // of the administrator's authenticator app
	run           schemas.Step     // a sign-in in progress
	ceremony      passkeyStart     // a passkey ceremony in progress
	refresh       string           // a refresh token
	party         *party           // owner of the refresh token
	device        string           // the cookie of a browser
	delivery      schemas.Delivery // a queued mail
	access        string           // an access token
	signedInAt    time.Time        // with the browser
}

func newSealedFixture(t *testing.T, environ ...string) *sealedFixture {
	dir := t.TempDir()
	w := &sealedFixture{environ: append(environ, "POSTERN_DATA_DIR="+dir, "POSTERN_THROTTLE_ENABLED=false",
		"POSTERN_PASSWORD_MEMORY_KIB=8192", "POSTERN_PASSWORD_ITERATIONS=1",
		"POSTERN_MAIL_HOST=127.0.0.1", "POSTERN_MAIL_TLS=none", "POSTERN_MAIL_PORT=9", "POSTERN_MAIL_FROM=a@example.com"),
		keyFile: filepath.Join(dir, "keys", "key-encryption.key")}
	w.testApp = newTestApp(t, w.environ...)
	w.enrol("ada")
	w.fill()
	return w
}

// fill creates a value of each kind in the store.
func (w *sealedFixture) fill() {
	w.t.Helper()
	admin := w.admin()
	w.shop = w.testApp.shop(admin, "code_as_second_factor.yaml")
	s := w.signInTo(w.shop)
	s = w.answer(s, "continue", map[string]string{"username": "admin", "password": adminPassword})
	w.authenticator = totp.Key{Secret: s.Data.AdditionalData["totpSecret"], Algorithm: totp.SHA1, Digits: 6}
	if s = w.answer(s, "submit", map[string]string{"otp": w.code(0)}); s.StepID != "codes" {
		w.t.Fatalf("enrolling an authenticator app: %+v", s)
	}
	w.run = w.testApp.start(schemas.Authentication)
	w.ceremony = w.startPasskey()
	w.create(w.directory.IdentityProviders, `{"handle":"acme","name":"Acme","issuer":"https://idp.example.com","clientId":"c","clientSecret":"kept-by-the-provider"}`)
	w.create(w.directory.Users, `{"type":"Person","attributes":{"username":"pat","password":"`+rpPassword+`","email":"pat@example.com","email_verified":true}}`)
	w.party = w.newParty()
	got, _, _ := w.party.signInAndVerify("scope", "openid offline_access", "prompt", "consent")
	w.refresh, w.access = got.Refresh, got.Access
	var d throttle.Device
	w.signedInAt = time.Now()
	d.SignedIn("ada", schemas.BrowserStrength{ACR: schemas.ACRPassword}, w.signedInAt)
	w.device = d.Seal(w.ciphers.devices)
	var err error
	if w.delivery, err = w.mailer().Mail(w.t.Context(), "ada", schemas.Mail{To: "ada@example.org", Code: "123456", Minutes: 10}, time.Now().UTC()); err != nil {
		w.t.Fatal(err)
	}
	w.apply(schemas.QueueDelivery{Delivery: w.delivery})
}

// newParty is a relying party with a client of its own.
func (w *sealedFixture) newParty() *party {
	c := w.create(w.directory.Applications, fmt.Sprintf(`{"name":"Party","inboundAuthConfig":[{"type":"oauth2","config":{
		"grantTypes":["authorization_code","refresh_token"],"redirectUris":[%q],"pkceRequired":false,"scopes":["openid","offline_access"]}}]}`, rpRedirect)).Value.(*schemas.Application)
	return &party{testApp: w.testApp, t: w.t, http: newBrowser(w.t, w.http), mode: "query", id: c.ClientID, secret: c.ClientSecret, method: schemas.AuthMethodBasic, redirect: rpRedirect}
}

// code is the authenticator app's code a number of periods from now.
func (w *sealedFixture) code(periods int) string {
	w.t.Helper()
	code, err := w.authenticator.Code(time.Now().Add(time.Duration(periods) * totp.Period))
	if err != nil {
		w.t.Fatal(err)
	}
	return code
}

// reopen starts the server again.
func (w *sealedFixture) reopen() {
	w.t.Helper()
	if err := w.tryReopen(); err != nil {
		w.t.Fatal(err)
	}
}

// tryReopen is reopen with more variables, for a server that may not start.
func (w *sealedFixture) tryReopen(environ ...string) error {
	w.t.Helper()
	w.app.close()
	cfg := loadConfig(w.t, append(append([]string{}, w.environ...), environ...))
	h, err := openApp(w.t.Context(), cfg, w.log)
	if err != nil {
		return err
	}
	w.t.Cleanup(h.close)
	w.testApp.app, w.testApp.http = h, h.handler()
	w.party.http.Transport = handlerTransport{w.testApp.http}
	return nil
}

// command runs postern and returns its exit code and output.
func (w *sealedFixture) command(args ...string) (int, string) {
	w.t.Helper()
	return runProgram(w.t, w.environ, args...)
}

func (w *sealedFixture) keys() []string {
	w.t.Helper()
	text := datatest.ReadFile(w.t, w.keyFile)
	return strings.Fields(string(text))
}

// checkAllReadable continues every sign-in and session.
func (w *sealedFixture) checkAllReadable() {
	w.t.Helper()
	if s := w.authenticate(w.run); s.FlowStatus != schemas.Complete {
		w.t.Errorf("the sign-in under way: %+v", s)
	}
	if w.finishPasskey(w.ceremony) == "" {
		w.t.Error("the passkey ceremony under way gave no assertion")
	}
	s := w.signInTo(w.shop)
	s = w.answer(s, "continue", map[string]string{"username": "admin", "password": adminPassword})
	if s = w.answer(s, "submit", map[string]string{"otp": w.code(1)}); s.FlowStatus != schemas.Complete {
		w.t.Errorf("the code of the authenticator app: %+v", s)
	}
	got, status := w.party.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {w.refresh}})
	if status != http.StatusOK || got.Refresh == "" {
		w.t.Errorf("the refresh token: %d %+v", status, got)
	}
	w.party.userinfo(w.access) // its signature is still valid
	opened := throttle.OpenDevice(w.ciphers.devices, w.device)
	if opened.SignedIn("ada", schemas.BrowserStrength{ACR: schemas.ACRPassword}, w.signedInAt); opened.Changed() {
		w.t.Error("the browser is not recognized")
	}
	p, err := w.directory.IdentityProvider(w.t.Context(), "acme")
	if err != nil || p.ClientSecret != "kept-by-the-provider" {
		w.t.Errorf("the secret of the identity provider: %+v, %v", p, err)
	}
	now := time.Now().UTC()
	d, err := w.store.ClaimDelivery(w.t.Context(), schemas.MailDelivery, nil, now, now.Add(time.Minute))
	if err != nil || d == nil || d.ID != w.delivery.ID {
		w.t.Fatalf("the mail that waits: %+v, %v", d, err)
	}
	text, err := w.ciphers.deliveries.Open(d.Body, delivery.Owner(*d))
	if err != nil || !strings.Contains(string(text), "123456") {
		w.t.Errorf("the mail that waits is %q, %v", text, err)
	}
}

// TestAudit21KeyEncryptionKeyChanges changes the key-encryption key of a stopped server:
// nothing is lost, the new key alone is enough afterwards, and the old one opens nothing.
func TestAudit21KeyEncryptionKeyChanges(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		w := newSealedFixture(t, environ...)
		old := w.keys()
		w.app.close()
		code, said := w.command("keys", "re-encrypt", "--new-key", "--drop-old-keys")
		if code != exitFine {
			t.Fatalf("exit code %d: %s", code, said)
		}
		for _, c := range append(w.sealedColumns(), sealedColumn{name: "signing keys"}, sealedColumn{name: "derived keys"}) {
			if !regexp.MustCompile(`(?m)^` + c.name + ` +[1-9][0-9]* +0 +0$`).MatchString(said) {
				t.Errorf("the %s were not all re-encrypted:\n%s", c.name, said)
			}
		}
		now := w.keys()
		if len(old) != 1 || len(now) != 1 || old[0] == now[0] {
			t.Fatalf("the key file had %d keys and has %d", len(old), len(now))
		}
		w.reopen()
		w.checkAllReadable()
		events, err := w.store.Events(t.Context(), schemas.EventQuery{Action: "encryption-key.changed", Limit: 10})
		if err != nil || len(events) != 1 {
			t.Errorf("%d events, %v, expected one", len(events), err)
		}
		if err := w.tryReopen(token.KeyVariable + "=" + old[0]); err == nil || !strings.Contains(err.Error(), "does not open") {
			t.Errorf("with the old key the server starts: %v", err)
		}
		w.checkOldKeyDecryptsNothing(old[0])
	})
}

// checkOldKeyDecryptsNothing tries to open all sealed values with the old key alone.
func (w *sealedFixture) checkOldKeyDecryptsNothing(text string) {
	w.t.Helper()
	keys, err := token.ParseKeys(text)
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := store.Open(w.t.Context(), store.Config{Driver: w.cfg.Database.Driver, DSN: w.cfg.Database.DSN})
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Close()
	h := &app{store: s}
	if h.ciphers, err = newCiphers(&encryption{keys: keys, derived: w.encryption.derived}); err != nil {
		w.t.Fatal(err)
	}
	values := 0
	for _, c := range h.sealedColumns() {
		done, err := s.Reseal(w.t.Context(), c.column, c.cipher)
		if err != nil || done.Changed+done.Current > 0 {
			w.t.Errorf("the old key opens %d of the %s, %v", done.Changed+done.Current, c.name, err)
		}
		values += done.Unreadable
	}
	if values == 0 {
		w.t.Error("there are no sealed values")
	}
}

// TestAudit21KeyChangesWhileServersRun changes the key while a server runs: the command
// fails while it would lose data, and prints what to do.
func TestAudit21KeyChangesWhileServersRun(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		w := newSealedFixture(t, environ...)
		code, said := w.command("keys", "re-encrypt", "--new-key")
		if code != exitUsage || !strings.Contains(said, "1 server(s)") || !strings.Contains(said, "restart them") {
			t.Fatalf("with a running server that has only the old key: exit code %d: %s", code, said)
		}
		w.reopen() // restarted, with both keys
		if code, said := w.command("keys", "re-encrypt", "--new-key"); code != exitUsage || !strings.Contains(said, "a change is in progress") {
			t.Errorf("a third key: exit code %d: %s", code, said)
		}
		run := w.testApp.start(schemas.Authentication) // sealed with the new key already
		if code, said := w.command("keys", "re-encrypt"); code != exitFine || !strings.Contains(said, "still has the old key") {
			t.Fatalf("exit code %d: %s", code, said)
		}
		if code, said := w.command("keys", "re-encrypt", "--compromised"); code != exitUsage || !strings.Contains(said, "stop them") {
			t.Errorf("replacing derived keys with a running server: exit code %d: %s", code, said)
		}
		if code, said := w.command("keys", "re-encrypt", "--drop-old-keys"); code != exitFine || len(w.keys()) != 1 {
			t.Fatalf("exit code %d: %s", code, said)
		}
		if s := w.authenticate(run); s.FlowStatus != schemas.Complete {
			t.Errorf("a sign-in that was begun meanwhile: %+v", s)
		}
		w.reopen()
		w.checkAllReadable()
	})
}

// TestAudit21KeyChangeIsResumed interrupts the change after each of its steps, and runs it
// again. In between the server starts and loses nothing.
func TestAudit21KeyChangeIsResumed(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		w := newSealedFixture(t, environ...)
		if err := w.addKey(); err != nil { // and then the process died
			t.Fatal(err)
		}
		w.reopen()
		if !bytes.Equal(w.encryption.derived[purposeRefreshTokens], reopenedDerived(w)) {
			t.Error("the key of refresh tokens has changed with the key file")
		}
		// The process dies when half of the columns are done.
		columns := w.sealedColumns()
		for _, c := range columns[:len(columns)/2] {
			if _, err := w.store.Reseal(t.Context(), c.column, c.cipher); err != nil {
				t.Fatal(err)
			}
		}
		w.reopen()
		if code, said := w.command("keys", "re-encrypt", "--drop-old-keys"); code != exitFine || strings.Contains(said, "Unreadable") {
			t.Fatalf("exit code %d: %s", code, said)
		}
		w.reopen()
		w.checkAllReadable()
	})
}

// reopenedDerived is the key of refresh tokens after one more start.
func reopenedDerived(w *sealedFixture) []byte {
	w.reopen()
	return w.encryption.derived[purposeRefreshTokens]
}

// TestAudit21CompromisedKey also replaces the derived keys: the old key cannot create
// refresh tokens.
func TestAudit21CompromisedKey(t *testing.T) {
	w := newSealedFixture(t)
	before := w.encryption.derived
	w.app.close()
	if code, said := w.command("keys", "re-encrypt", "--new-key", "--compromised", "--drop-old-keys"); code != exitFine {
		t.Fatalf("exit code %d: %s", code, said)
	}
	w.reopen()
	for _, purpose := range derivedPurposes() {
		if after := w.encryption.derived[purpose]; len(after) != 32 || bytes.Equal(after, before[purpose]) {
			t.Errorf("the key for %s is %x as before", purpose, after)
		}
	}
	if got, status := w.party.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {w.refresh}}); status != http.StatusBadRequest || got.Error != "invalid_grant" {
		t.Errorf("a refresh token from before: %d %+v", status, got)
	}
}

// TestAudit21KeysFromEarlierVersions opens a store of an earlier version, which has no
// stored derived keys and has its files directly in the data folder.
func TestAudit21KeysFromEarlierVersions(t *testing.T) {
	w := newSealedFixture(t)
	derived := w.encryption.derived
	w.app.close()
	db, err := sql.Open("sqlite", w.cfg.Database.DSN)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "DELETE FROM derived_keys"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	dir := w.cfg.DataDir
	for _, file := range []string{"database/postern.db", "keys/key-encryption.key"} {
		if err := os.Rename(filepath.Join(dir, file), filepath.Join(dir, filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
	}
	w.keyFile = filepath.Join(dir, "key-encryption.key")
	w.reopen()
	if !reflect.DeepEqual(w.encryption.derived, derived) {
		t.Error("the derived keys have changed")
	}
	code, said := w.command("keys", "list")
	if code != exitFine || strings.Count(said, "is at the location of earlier versions") != 2 {
		t.Errorf("exit code %d: %s", code, said)
	}
	w.app.close()
	if code, said := w.command("keys", "re-encrypt", "--new-key", "--drop-old-keys"); code != exitFine {
		t.Fatalf("exit code %d: %s", code, said)
	}
	w.reopen()
	w.checkAllReadable()
}

// Every cipher of the store has its column in the list of re-encrypted columns.
func TestEachCipherHasItsColumn(t *testing.T) {
	h := &app{}
	fields := reflect.ValueOf(&h.ciphers).Elem()
	boxed := map[*token.Cipher]string{}
	for i := range fields.NumField() {
		name := fields.Type().Field(i).Name
		box, err := token.NewCipher(make([]byte, 32))
		if err != nil {
			t.Fatal(err)
		}
		*(**token.Cipher)(fields.Field(i).Addr().UnsafePointer()) = box
		if name != "devices" { // browsers store these values
			boxed[box] = name
		}
	}
	for _, c := range h.sealedColumns() {
		delete(boxed, c.cipher)
	}
	if len(boxed) > 0 {
		t.Errorf("not re-encrypted: %v", boxed)
	}
}
