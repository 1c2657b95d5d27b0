package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

const adminPassword = "quiet harbour lantern"

// testApp is a server with its own durable store on disk, and a client with an
// authenticator.
type testApp struct {
	*app
	t      testing.TB
	http   http.Handler
	origin string
	device *passkeytest.Authenticator
}

// sequential skips a long test without concurrency with -short, as `make race` runs: the race
// detector makes it several times as slow and finds nothing in it.
func sequential(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long, and one thing after another: run it without -short")
	}
}

// newTestApp starts a server on SQLite without throttling, unless the environment says
// otherwise, because a benchmark is a flood.
func newTestApp(t testing.TB, environ ...string) *testApp {
	t.Helper()
	return newTestAppIn(t, append(testEnvironment(t.TempDir()), environ...))
}

// newTestAppIn starts the server of a whole environment.
func newTestAppIn(t testing.TB, environ []string) *testApp {
	t.Helper()
	return newLoggedApp(t, environ, slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError})))
}

// newLoggedApp starts the server of a whole environment with a log.
func newLoggedApp(t testing.TB, environ []string, log *slog.Logger) *testApp {
	t.Helper()
	cfg := loadConfig(t, environ)
	if err := copySeededData(t, cfg); err != nil {
		t.Fatal(err)
	}
	h := openForTest(t, cfg, log)
	if err := h.seedForTests(); err != nil {
		t.Fatal(err)
	}
	return &testApp{app: h, t: t, http: h.handler(), origin: cfg.Server.PublicURL, device: passkeytest.New(passkeytest.NoCounter())}
}

// loadConfig returns the configuration of an environment.
func loadConfig(t testing.TB, environ []string) *config.Config {
	t.Helper()
	cfg, err := config.Load("", environ)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// openForTest opens a store, and closes it at the end of the test.
func openForTest(t testing.TB, cfg *config.Config, log *slog.Logger) *app {
	t.Helper()
	h, err := openApp(t.Context(), cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.close)
	return h
}

// onDatabases runs a test with the environment of a server on SQLite, and on PostgreSQL. With
// -short it runs on SQLite only: tests of internal/store and of several instances run the
// concurrent code of PostgreSQL under the race detector.
func onDatabases(t *testing.T, test func(t *testing.T, environ ...string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, "POSTERN_DATABASE_DRIVER=sqlite") })
	t.Run("postgres", func(t *testing.T) {
		sequential(t)
		test(t, "POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN="+storetest.Postgres(t))
	})
}

// onEachDatabase runs a test with a server on SQLite, and on PostgreSQL.
func onEachDatabase(t *testing.T, test func(t *testing.T, w *testApp)) {
	onDatabases(t, func(t *testing.T, environ ...string) { test(t, newTestApp(t, environ...)) })
}

// post sends a request and decodes the reply into out.
func (w *testApp) post(path string, in, out any) {
	body, err := json.Marshal(in)
	if err != nil {
		w.t.Error(err)
		return
	}
	r, err := http.NewRequest(http.MethodPost, path, bytes.NewReader(body)) // httptest.NewRequest parses a text
	if err != nil {
		w.t.Error(err)
		return
	}
	r.Host, r.RemoteAddr = "example.com", "192.0.2.1:1234"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "rig")
	rec := w.reply(r)
	if rec.Code != http.StatusOK {
		w.t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
		return
	}
	if err := json.Unmarshal(rec.Body.Bytes(), out); err != nil {
		w.t.Error(err)
	}
}

func (w *testApp) start(flow schemas.FlowType) (s schemas.Step) {
	w.post("/flow/execute", map[string]string{"applicationId": bootstrap.TryID, "flowType": string(flow)}, &s)
	return s
}

func (w *testApp) answer(s schemas.Step, action string, inputs map[string]string) (next schemas.Step) {
	w.post("/flow/execute", map[string]any{"executionId": s.ExecutionID, "action": action, "inputs": inputs, "challengeToken": s.ChallengeToken}, &next)
	return next
}

// signInTo starts a sign-in to an application.
func (w *testApp) signInTo(applicationID string) (s schemas.Step) {
	w.post("/flow/execute", map[string]string{"applicationId": applicationID, "flowType": "AUTHENTICATION"}, &s)
	return s
}

// enroll signs a user up.
func (w *testApp) enrol(name string) {
	s := w.register(w.answer(w.start(schemas.Registration), "continue", map[string]string{"username": name}))
	if s.FlowStatus != schemas.Complete {
		w.t.Fatalf("sign-up: %+v", s)
	}
}

// register answers a step that registers a passkey.
func (w *testApp) register(s schemas.Step) schemas.Step {
	w.t.Helper()
	a, err := w.device.Register(json.RawMessage(s.Data.AdditionalData["passkeyCreationOptions"]), w.origin)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.answer(s, "passkey", map[string]string{"credentialId": a.ID, "clientDataJSON": a.ClientDataJSON, "attestationObject": a.AttestationObject})
}

// authenticate answers the passkey step of a run.
func (w *testApp) authenticate(s schemas.Step) schemas.Step {
	return w.answer(s, "", w.assertion(s))
}

// assertion is the authenticator's answer to a passkey step.
func (w *testApp) assertion(s schemas.Step) map[string]string {
	return inputsOf(w.sign(json.RawMessage(s.Data.AdditionalData["passkeyChallenge"])))
}

// sign signs the challenge of an authentication.
func (w *testApp) sign(options json.RawMessage, hows ...passkeytest.CeremonyOption) passkey.AuthenticationResponse {
	w.t.Helper()
	a, err := w.device.Authenticate(options, w.origin, hows...)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// apply commits changes to the store.
func (w *testApp) apply(changes ...schemas.Change) {
	w.t.Helper()
	if err := w.store.Apply(w.t.Context(), storetest.Authorized(changes)); err != nil {
		w.t.Fatal(err)
	}
}

// claimsOf returns the claims of a valid token.
func (w *testApp) claimsOf(raw string) *token.Claims {
	w.t.Helper()
	claims, err := w.tokens.Verify(w.t.Context(), raw, w.origin)
	if err != nil {
		w.t.Fatal(err)
	}
	return claims
}

// admin returns a token with all permissions.
func (w *testApp) admin() string {
	token, err := w.issueToken(w.t.Context(), "", []string{"system"}, time.Hour)
	if err != nil {
		w.t.Fatal(err)
	}
	return token
}

// passkeyStart is the reply of POST /auth/passkey/start.
type passkeyStart struct {
	Options      json.RawMessage `json:"publicKeyCredentialRequestOptions"`
	SessionToken string          `json:"sessionToken"`
}

func (w *testApp) startPasskey() (s passkeyStart) {
	w.post("/auth/passkey/start", map[string]string{"relyingPartyId": "localhost"}, &s)
	return s
}

// passkeyFinish is the body of POST /auth/passkey/finish.
func (w *testApp) passkeyFinish(s passkeyStart) any {
	a := w.sign(s.Options)
	return map[string]any{"sessionToken": s.SessionToken, "skipAssertion": false, "publicKeyCredential": map[string]any{
		"id": a.ID, "type": "public-key", "response": map[string]string{"clientDataJSON": a.ClientDataJSON,
			"authenticatorData": a.AuthenticatorData, "signature": a.Signature, "userHandle": a.UserHandle}}}
}

// finishPasskey returns the assertion.
func (w *testApp) finishPasskey(s passkeyStart) string {
	var out struct{ Assertion string }
	w.post("/auth/passkey/finish", w.passkeyFinish(s), &out)
	return out.Assertion
}

// On each database, a user signs up with a passkey and signs in with it, the administrator
// signs in with a password, and a taken username is rejected.
func TestAppOnEachDatabase(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		w.enrol("ada")
		if s := w.authenticate(w.start(schemas.Authentication)); s.FlowStatus != schemas.Complete || s.Assertion == "" {
			t.Errorf("sign-in: %+v", s)
		}
		if s := w.answer(w.start(schemas.Registration), "continue", map[string]string{"username": "ADA"}); s.Error == nil || s.Error.Code != schemas.CodeAttributeTaken {
			t.Errorf("a name that is taken: %+v", s)
		}
		s := w.signInTo(bootstrap.ConsoleID)
		s = w.answer(w.answer(s, "password", nil), "continue", map[string]string{"username": "admin", "password": adminPassword})
		claims, err := w.tokens.Verify(t.Context(), s.Assertion, w.cfg.Server.PublicURL)
		if err != nil || !slices.Contains(claims.Scope, "system") {
			t.Errorf("the administrator: %+v, %v", claims, err)
		}
		events, err := w.store.Events(t.Context(), schemas.EventQuery{Limit: 10})
		if err != nil || len(events) < 6 || events[0].Action != "user.signed_in" {
			t.Errorf("events %+v, %v", events, err)
		}
	})
}
