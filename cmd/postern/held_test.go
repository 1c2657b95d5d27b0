package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/logtest"
	"github.com/postern-id/postern/schemas"
)

// These tests cover what the security audit of November 2026 attacked without finding a
// defect. docs/security.md lists them with the earlier tests.

// TestHeldSilentSignIn combines prompt=none, max_age and acr_values: a session signs in
// silently only if it is recent and strong enough. Otherwise prompt=none is rejected and
// any other request prompts the user.
func TestHeldSilentSignIn(t *testing.T) {
	newParty := newParties(t, "query")
	const password, mfa = "urn:postern:acr:password", "urn:postern:acr:mfa"
	for _, prompt := range []string{"", "none", "login"} {
		for _, age := range []string{"", "0", "10000"} {
			for _, class := range []string{"", password, mfa} {
				t.Run(fmt.Sprintf("prompt=%s max_age=%s acr_values=%s", prompt, age, class), func(t *testing.T) {
					p := newParty(t)
					p.signInAndVerify()
					ask := []string{"prompt", prompt, "max_age", age, "acr_values", class}
					enough := age != "0" && class != mfa
					if prompt == "none" && !enough {
						p.refused(p.ask(ask...), "login_required")
						return
					}
					want := 1
					if prompt == "login" || !enough {
						want = 2
					}
					if p.signInAndVerify(ask...); p.answers != want {
						t.Errorf("the user was asked %d times, expected %d", p.answers, want)
					}
				})
			}
		}
	}
}

// TestHeldOneCodeAtTwoInstances redeems each code at two instances at once: one request
// gets tokens, and because the others are replays those tokens are revoked.
func TestHeldOneCodeAtTwoInstances(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, two *testApp) {
		p := leakyMetadata(t, one)
		for range 6 {
			code := p.code(p.ask("prompt", "login"))
			var won atomic.Int32
			var tokens atomic.Pointer[string]
			var all sync.WaitGroup
			for i := range 12 {
				all.Go(func() {
					access := redeemAt([]*testApp{one, two}[i%2], p, code)
					if access != "" {
						won.Add(1)
						tokens.Store(&access)
					}
				})
			}
			all.Wait()
			if won.Load() != 1 {
				t.Fatalf("%d requests got tokens for one code", won.Load())
			}
			for _, w := range []*testApp{one, two} {
				if status := w.get("/oauth2/userinfo", *tokens.Load()); status != http.StatusUnauthorized {
					t.Errorf("the token of a replayed code: %d", status)
				}
			}
		}
	})
}

// redeemAt exchanges a code at an instance and returns the access token, "" for none.
func redeemAt(w *testApp, p *party, code string) string {
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {p.redirect}}
	rec := w.reply(clientRequest("/oauth2/token", p.id, p.secret, form))
	var got tokens
	_ = json.Unmarshal(rec.Body.Bytes(), &got) // the body of an error is ignored
	return got.Access
}

// TestHeldOneAnswerAtTwoInstances answers one step 16 times at two instances at once: one
// answer is taken, and the others change nothing.
func TestHeldOneAnswerAtTwoInstances(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, two *testApp) {
		for round := range 20 {
			s := one.start(schemas.Registration)
			body := map[string]any{"executionId": s.ExecutionID, "challengeToken": s.ChallengeToken, "action": "continue",
				"inputs": map[string]string{"username": fmt.Sprintf("user-%d", round)}}
			var won atomic.Int32
			var all sync.WaitGroup
			for i := range 16 {
				all.Go(func() {
					if status, said := []*testApp{one, two}[i%2].attempt("/flow/execute", "", body); status == http.StatusOK {
						won.Add(1)
					} else if !strings.Contains(said, schemas.CodeStaleStep) {
						t.Errorf("%d %s", status, said)
					}
				})
			}
			all.Wait()
			if won.Load() != 1 {
				t.Errorf("%d of 16 answers to one step were taken", won.Load())
			}
			var now schemas.Step
			if two.post("/flow/execute", map[string]string{"executionId": s.ExecutionID}, &now); now.StepID != "key" {
				t.Errorf("the run is at the step %q, want key", now.StepID)
			}
		}
	})
}

// TestHeldSignInDoesNotRevealUsernames compares the replies to a wrong password for an
// existing user and for unknown names: they have the same words and the same length.
func TestHeldSignInDoesNotRevealUsernames(t *testing.T) {
	w := createUsers(t)
	random := regexp.MustCompile(`"(executionId|challengeToken|traceId)":"[^"]*"`)
	reply := func(name string) (said string, length int) {
		s := w.signInTo(bootstrap.ConsoleID)
		s = w.answer(s, "password", nil)
		_, said = w.attempt("/flow/execute", "", map[string]any{"executionId": s.ExecutionID, "challengeToken": s.ChallengeToken, "action": "continue",
			"inputs": map[string]string{"username": name, "password": "Tarn-ferry-slate-41"}})
		return random.ReplaceAllString(strings.ReplaceAll(said, name, "NAME"), "$1"), len(said)
	}
	known, length := reply("pat")
	if !strings.Contains(known, `"INCOMPLETE"`) || !strings.Contains(known, "error") {
		t.Fatalf("a wrong password: %s", known)
	}
	for _, name := range []string{"eve", "bob", "pot"} { // expectAs long as the known name
		if unknown, n := reply(name); unknown != known || n != length {
			t.Errorf("an unknown name (%d bytes): %s\na known one (%d bytes): %s", n, unknown, length, known)
		}
	}
}

// TestHeldSecretsAreEncryptedAtRest searches all files of a server in use, including the
// database and the logs at level debug, for every secret.
func TestHeldSecretsAreEncryptedAtRest(t *testing.T) {
	w := newSealedFixture(t)
	var log logtest.Buffer
	w.log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w.reopen()
	secrets := map[string]string{
		"a password": adminPassword, "another password": rpPassword, "the key of an authenticator app": w.authenticator.Secret,
		"the secret of an identity provider": "kept-by-the-provider", "a refresh token": w.refresh, "an access token": w.access,
		"a client secret": w.party.secret, "the cookie of a browser": w.device, "the address of a mail": "ada@example.org",
		"a session token of a ceremony": w.ceremony.SessionToken,
	}
	w.run = w.signInTo(w.shop)
	w.run = w.answer(w.run, "continue", map[string]string{"username": "admin", "password": adminPassword})
	w.run = w.answer(w.run, "submit", map[string]string{"otp": w.code(1)})
	if secrets["an assertion"] = w.run.Assertion; w.run.FlowStatus != schemas.Complete {
		t.Fatalf("%+v", w.run)
	}
	code := w.party.code(w.party.ask("prompt", "login"))
	secrets["an authorization code"] = code
	got, _ := w.party.redeem(code)
	secrets["another refresh token"], secrets["an ID token"] = got.Refresh, got.ID
	for _, c := range w.party.http.Jar.Cookies(&url.URL{Scheme: "https", Host: "localhost:8090", Path: "/"}) {
		secrets["the cookie "+c.Name] = c.Value
	}
	if len(secrets) < 15 {
		t.Errorf("only %d secrets: the browser has no cookies", len(secrets))
	}
	files := w.files()
	if !strings.Contains(files, "pat@example.com") || log.String() == "" {
		t.Fatal("the files have no attribute of a user, or nothing was logged: this is not where the data is")
	}
	for name, secret := range secrets {
		if secret == "" || strings.Contains(files, secret) {
			t.Errorf("%s, %q, is in the files of the server", name, secret)
		}
		if strings.Contains(log.String(), secret) {
			t.Errorf("%s, %q, is in the log", name, secret)
		}
	}
}

// files returns everything in the data folder.
func (w *sealedFixture) files() string {
	w.t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(w.cfg.DataDir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = io.Copy(&all, file)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all.String()
}

// TestHeldConcurrentSignUpsWithOneAddress signs 12 users up with one address at two instances at
// once: one gets the account.
func TestHeldConcurrentSignUpsWithOneAddress(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		one, two := twoInstances(t, environ...)
		const body = `{"type":"Person","attributes":{"username":"user-%d","email":"same@example.org","email_verified":true}}`
		admin := one.admin()
		var won atomic.Int32
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() {
				var user any
				if err := json.Unmarshal(fmt.Appendf(nil, body, i), &user); err != nil {
					t.Error(err)
				}
				status, said := []*testApp{one, two}[i%2].attempt("/users", admin, user)
				if status == http.StatusCreated {
					won.Add(1)
				} else if !strings.Contains(said, schemas.CodeAttributeTaken) {
					t.Errorf("%d %s", status, said)
				}
			})
		}
		all.Wait()
		user, err := two.store.UserByAttribute(t.Context(), "", "email", "same@example.org")
		if won.Load() != 1 || err != nil || user == nil {
			t.Errorf("%d were created: %+v, %v", won.Load(), user, err)
		}
	})
}
