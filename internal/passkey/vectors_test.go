package passkey_test

import (
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/schemas"
)

// vector is one section of WebAuthn Level 3 §16.
type vector struct {
	Section, Format, ID string
	Registration        struct{ Challenge, ClientDataJSON, AttestationObject string }
	Authentication      struct{ Challenge, ClientDataJSON, AuthenticatorData, Signature string }
}

func readVectors(t testing.TB) (vectors []vector) {
	t.Helper()
	text := datatest.ReadFile(t, "testdata/w3c_level3_section16.json")
	datatest.Unmarshal(t, text, &vectors)
	return vectors
}

// TestW3CVectors runs both ceremonies with the test vectors of WebAuthn Level 3 §16: every
// attestation statement format, produced independently.
func TestW3CVectors(t *testing.T) {
	// Vectors that are rejected by design: frames of other origins; a TPM and an Apple
	// device whose chains end at the W3C's own root instead of their manufacturers'; an
	// Android key that does not claim secure hardware.
	refused := map[string]passkey.Step{
		"16.4": passkey.StepCrossOrigin, "16.5": passkey.StepCrossOrigin,
		"16.13": passkey.StepAttestation, "16.14": passkey.StepAttestation, "16.15": passkey.StepAttestation,
	}
	c, err := passkey.New(passkey.Config{
		Origins: []string{"https://example.org"},
		Policy:  passkey.Policy{Algorithms: []int64{-7, -8, -257, -35, -36}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range readVectors(t) {
		t.Run(v.Section+" "+v.Format, func(t *testing.T) {
			_, session, err := c.BeginRegistration(passkey.RegistrationRequest{User: passkey.User{ID: alice}})
			if err != nil {
				t.Fatal(err)
			}
			session = patch(t, session, map[string]any{"challenge": v.Registration.Challenge, "expiresAt": noon.AddDate(0, 0, 1)})
			credential, err := c.FinishRegistration(session, passkey.RegistrationResponse{ID: v.ID, ClientDataJSON: v.Registration.ClientDataJSON, AttestationObject: v.Registration.AttestationObject}, noon)
			if step := refused[v.Section]; step != "" {
				mustRefuse(t, err, step)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if credential.AttestationFormat != v.Format || credential.ID.String() != v.ID {
				t.Errorf("expected %s with %s, got %+v", v.ID, v.Format, credential)
			}
			w := &fixture{TB: t, Ceremonies: c, stored: map[string]*schemas.Credential{v.ID: credential}}
			_, session = w.beginAuthentication(passkey.AuthenticationRequest{UserID: alice})
			session = patch(t, session, map[string]any{"challenge": v.Authentication.Challenge, "expiresAt": noon.AddDate(0, 0, 1)})
			a := v.Authentication
			verified, err := c.FinishAuthentication(t.Context(), session, passkey.AuthenticationResponse{ID: v.ID, ClientDataJSON: a.ClientDataJSON, AuthenticatorData: a.AuthenticatorData, Signature: a.Signature}, w.find, noon)
			if err != nil {
				t.Fatal(err)
			}
			if verified.UserID != alice {
				t.Errorf("expected alice, got %s", verified.UserID)
			}
		})
	}
}
