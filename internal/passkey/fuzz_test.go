package passkey_test

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/schemas"
)

// FuzzClientDataJSON sends arbitrary client data to both ceremonies. Only the signed text
// verifies.
func FuzzClientDataJSON(f *testing.F) {
	w, credential := registered(f, passkey.Policy{})
	creation, forRegistration := w.beginRegistration(passkey.RegistrationRequest{})
	attestation := w.attest(creation)
	request, forAuthentication := w.beginAuthentication(passkey.AuthenticationRequest{Allow: []schemas.Credential{*credential}})
	assertion := w.assert(request)
	var o struct{ Challenge string }
	if err := json.Unmarshal(creation, &o); err != nil {
		f.Fatal(err)
	}
	signed, err := base64.RawURLEncoding.DecodeString(assertion.ClientDataJSON)
	if err != nil {
		f.Fatal(err)
	}
	created, err := base64.RawURLEncoding.DecodeString(attestation.ClientDataJSON)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(signed), string(created), `{}`, `null`, `{"type":1}`, `{"type":"webauthn.get","crossOrigin":"yes"}`, "\xff", `{"tokenBinding":{}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, clientData []byte) {
		text := base64.RawURLEncoding.EncodeToString(clientData)
		assertion, attestation := assertion, attestation
		assertion.ClientDataJSON, attestation.ClientDataJSON = text, text
		v, err := w.FinishAuthentication(t.Context(), forAuthentication, assertion, w.find, noon)
		if (err == nil) != (string(clientData) == string(signed)) {
			t.Fatalf("authentication with client data %q: %+v, %v", clientData, v, err)
		}
		if err != nil && passkey.FailedStep(err) == "" {
			t.Fatalf("expected a refusal, got %v", err)
		}
		// Without attestation nothing signs the client data of a registration: accepted
		// data must at least contain our challenge.
		_, err = w.FinishRegistration(forRegistration, attestation, noon)
		if err != nil && passkey.FailedStep(err) == "" {
			t.Fatalf("expected a refusal, got %v", err)
		}
		var c struct{ Type, Challenge, Origin string }
		if err == nil && (json.Unmarshal(clientData, &c) != nil || c.Type != "webauthn.create" || c.Challenge != o.Challenge || c.Origin != site) {
			t.Fatalf("registration with client data %q was accepted", clientData)
		}
	})
}

// FuzzAttestationObject sends arbitrary attestation objects (requesting attestation, to
// reach every format's verifier) and authenticator data. A registered credential must be
// usable, and only the signed authenticator data verifies.
func FuzzAttestationObject(f *testing.F) {
	w, credential := registered(f, passkey.Policy{})
	// The relying party of the W3C's test vectors, so that its hash matches.
	w3c := passkey.RegistrationRequest{RPID: "example.org", Origins: []string{"https://example.org"}, Attestation: "direct"}
	creation, forRegistration := w.beginRegistration(w3c)
	attestation, err := w.device.Register(creation, "https://example.org")
	if err != nil {
		f.Fatal(err)
	}
	request, forAuthentication := w.beginAuthentication(passkey.AuthenticationRequest{Allow: []schemas.Credential{*credential}})
	assertion := w.assert(request)
	genuine, err := base64.RawURLEncoding.DecodeString(attestation.AttestationObject)
	if err != nil {
		f.Fatal(err)
	}
	signed, err := base64.RawURLEncoding.DecodeString(assertion.AuthenticatorData)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(genuine)
	f.Add(signed)
	for _, v := range readVectors(f) {
		object, err := base64.RawURLEncoding.DecodeString(v.Registration.AttestationObject)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(object)
	}
	f.Fuzz(func(t *testing.T, object []byte) {
		attestation, assertion := attestation, assertion
		attestation.AttestationObject = base64.RawURLEncoding.EncodeToString(object)
		attestation.ID = idIn(object, attestation.ID)
		c, err := w.FinishRegistration(forRegistration, attestation, noon)
		if err != nil && passkey.FailedStep(err) == "" {
			t.Fatalf("expected a refusal, got %v", err)
		}
		if err == nil && (len(c.ID) == 0 || len(c.ID) > 1023 || len(c.PublicKey) == 0 || c.Algorithm == 0) {
			t.Fatalf("a credential that cannot be used was accepted: %+v", c)
		}
		assertion.AuthenticatorData = base64.RawURLEncoding.EncodeToString(object)
		if v, err := w.FinishAuthentication(t.Context(), forAuthentication, assertion, w.find, noon); (err == nil) != (string(object) == string(signed)) {
			t.Fatalf("authenticator data %x: %+v, %v", object, v, err)
		}
	})
}

// idIn returns the apparent credential ID in an object's attested credential data, so that
// fuzzing passes the comparison with it.
func idIn(object []byte, otherwise string) string {
	at := flagsAt(object) + 1 + 4 + 16
	if at < 0 || at+2 > len(object) {
		return otherwise
	}
	n := int(object[at])<<8 | int(object[at+1])
	if n == 0 || at+2+n > len(object) {
		return otherwise
	}
	return base64.RawURLEncoding.EncodeToString(object[at+2 : at+2+n])
}
