package passkey_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/logtest"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

const (
	site  = "https://login.example.com"
	rpID  = "example.com"
	alice = "01890a5d-ac96-774b-bcce-b302099a8057"
	bob   = "01890a5d-ac96-774b-bcce-b302099a9999"
)

// noon is the time of all tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is a relying party with a store, and an authenticator.
type fixture struct {
	testing.TB
	*passkey.Ceremonies
	device *passkeytest.Authenticator
	log    *logtest.Buffer
	stored map[string]*schemas.Credential
	finds  int
}

func newFixture(t testing.TB, policy passkey.Policy, device ...passkeytest.Option) *fixture {
	t.Helper()
	log := new(logtest.Buffer)
	c, err := passkey.New(passkey.Config{
		Log:     slog.New(slog.NewTextHandler(log, nil)),
		Origins: []string{site, "https://example.com", "https://other.example", "http://localhost:5173"},
		RPID:    rpID,
		Policy:  policy,
		Now:     func() time.Time { return noon },
	})
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{log: log, TB: t, Ceremonies: c, device: passkeytest.New(append([]passkeytest.Option{passkeytest.Seed(t.Name())}, device...)...), stored: map[string]*schemas.Credential{}}
}

// find implements FindCredential.
func (w *fixture) find(_ context.Context, id schemas.Bytes) (*schemas.Credential, error) {
	w.finds++
	if c := w.stored[id.String()]; c != nil {
		return c, nil
	}
	return nil, schemas.Errorf(schemas.NotFound, schemas.CodeCredentialNotFound, "there is no such credential")
}

func (w *fixture) beginRegistration(r passkey.RegistrationRequest) (options, session json.RawMessage) {
	w.Helper()
	if r.User.ID == "" {
		r.User = passkey.User{ID: alice, Name: "alice", DisplayName: "Alice"}
	}
	options, session, err := w.BeginRegistration(r)
	if err != nil {
		w.Fatal(err)
	}
	return options, session
}

func (w *fixture) beginAuthentication(r passkey.AuthenticationRequest) (options, session json.RawMessage) {
	w.Helper()
	options, session, err := w.BeginAuthentication(r)
	if err != nil {
		w.Fatal(err)
	}
	return options, session
}

// register registers a passkey and stores it.
func (w *fixture) register(r passkey.RegistrationRequest) *schemas.Credential {
	w.Helper()
	options, session := w.beginRegistration(r)
	answer := w.attest(options)
	credential, err := w.FinishRegistration(session, answer, noon)
	if err != nil {
		w.Fatal(err)
	}
	w.stored[credential.ID.String()] = credential
	return credential
}

// registered returns a world with one passkey of alice.
func registered(t testing.TB, policy passkey.Policy, device ...passkeytest.Option) (*fixture, *schemas.Credential) {
	t.Helper()
	w := newFixture(t, policy, device...)
	return w, w.register(passkey.RegistrationRequest{})
}

// authenticate begins, answers and finishes an authentication.
func (w *fixture) authenticate(r passkey.AuthenticationRequest, hows ...passkeytest.CeremonyOption) (*passkey.Verified, error) {
	w.Helper()
	options, session := w.beginAuthentication(r)
	answer := w.assert(options, hows...)
	return w.FinishAuthentication(w.Context(), session, answer, w.find, noon)
}

// attest creates a passkey with the options.
func (w *fixture) attest(options json.RawMessage, hows ...passkeytest.CeremonyOption) passkey.RegistrationResponse {
	w.Helper()
	answer, err := w.device.Register(options, site, hows...)
	if err != nil {
		w.Fatal(err)
	}
	return answer
}

// assert signs in with the options.
func (w *fixture) assert(options json.RawMessage, hows ...passkeytest.CeremonyOption) passkey.AuthenticationResponse {
	w.Helper()
	answer, err := w.device.Authenticate(options, site, hows...)
	if err != nil {
		w.Fatal(err)
	}
	return answer
}

// mustRefuse checks that a ceremony was rejected at the step, with the client-visible
// error, and that the description contains every word.
func mustRefuse(t testing.TB, err error, step passkey.Step, words ...string) {
	t.Helper()
	var e *schemas.Error
	if !errors.As(err, &e) {
		t.Fatalf("expected a refusal at %s, got %v", step, err)
	}
	if e.Code != schemas.CodePasskeyFailed || e.Class != schemas.Invalid {
		t.Errorf("expected code %s of class Invalid, got %s of class %d", schemas.CodePasskeyFailed, e.Code, e.Class)
	}
	if got := passkey.FailedStep(err); got != step {
		t.Fatalf("expected a refusal at %s, got one at %q: %v", step, got, err)
	}
	for _, word := range words {
		if !strings.Contains(e.Description.DefaultValue, word) {
			t.Errorf("expected the description to say %q, got %q", word, e.Description.DefaultValue)
		}
	}
}

// patch changes members of a JSON object.
func patch(t testing.TB, object json.RawMessage, members map[string]any) json.RawMessage {
	t.Helper()
	var m map[string]any
	datatest.Unmarshal(t, object, &m)
	for name, value := range members {
		m[name] = value
	}
	out := datatest.Marshal(t, m)
	return out
}
