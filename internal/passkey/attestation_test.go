package passkey_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"math/big"
	"testing"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"

	"github.com/postern-id/postern/internal/passkey"
)

// restate replaces the statement of an attestation object.
func restate(t *testing.T, object, format string, statement any) string {
	t.Helper()
	return b64(object, func(b []byte) []byte {
		var o struct {
			AuthData []byte `cbor:"authData"`
		}
		if err := webauthncbor.Unmarshal(b, &o); err != nil {
			t.Fatal(err)
		}
		b, err := webauthncbor.Marshal(map[string]any{"fmt": format, "attStmt": statement, "authData": o.AuthData})
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
}

// certificate returns a certificate over an RSA modulus of the given size, without a known
// private key.
func certificate(t *testing.T, bits uint) []byte {
	t.Helper()
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	modulus := new(big.Int).SetBit(big.NewInt(1), int(bits)-1, 1)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &rsa.PublicKey{N: modulus, E: 65537}, signer)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestAttestationIsBounded: statements that are too expensive to verify are rejected
// before verification.
func TestAttestationIsBounded(t *testing.T) {
	small, large := certificate(t, 2048), certificate(t, 16384)
	statement := func(x5c ...any) map[string]any {
		return map[string]any{"alg": -257, "sig": make([]byte, 256), "x5c": x5c}
	}
	part := func(format string, statement map[string]any) map[string]any {
		return map[string]any{"fmt": format, "attStmt": statement}
	}
	many := make([]any, 9)
	for i := range many {
		many[i] = small
	}
	for name, test := range map[string]struct {
		format    string
		statement any
		words     string
	}{
		"large key":                       {"packed", statement(small, large), "RSA key of 16384 bits"},
		"long chain":                      {"packed", statement(many...), "at most 8 certificates in the attestation statement, got 9"},
		"malformed certificate":           {"packed", statement([]byte("no certificate")), "malformed"},
		"not even a list":                 {"packed", map[string]any{"alg": -7, "sig": []byte{1}, "x5c": "x"}, "does not verify"},
		"list of something else":          {"packed", statement("x"), "does not verify"},
		"a certificate within bounds":     {"packed", statement(small), "does not verify"},
		"retired format":                  {"android-safetynet", map[string]any{"ver": "1", "response": []byte("x")}, "android-safetynet"},
		"compound with a large key":       {"compound", []any{part("packed", statement(small)), part("packed", statement(large))}, "RSA key of 16384 bits"},
		"compound with a retired format":  {"compound", []any{part("android-safetynet", nil), part("packed", statement(small))}, "android-safetynet"},
		"compound of too many":            {"compound", []any{part("a", nil), part("a", nil), part("a", nil), part("a", nil), part("a", nil), part("a", nil), part("a", nil), part("a", nil), part("a", nil)}, "at most 8 parts"},
		"compound that does not verify":   {"compound", []any{part("packed", statement(small)), part("packed", statement(small))}, "does not verify"},
		"compound of one, which is wrong": {"compound", []any{part("none", map[string]any{})}, "does not verify"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, passkey.Policy{})
			options, session := w.beginRegistration(passkey.RegistrationRequest{Attestation: "direct"})
			answer := w.attest(options)
			answer.AttestationObject = restate(t, answer.AttestationObject, test.format, test.statement)
			_, err := w.FinishRegistration(session, answer, noon)
			mustRefuse(t, err, passkey.StepAttestation, test.words)
		})
	}
}

// TestKeysThatNeverVerify checks that unusable keys are rejected at registration, also
// under attestation "none", which has no other check of them.
func TestKeysThatNeverVerify(t *testing.T) {
	w := newFixture(t, passkey.Policy{})
	options, session := w.beginRegistration(passkey.RegistrationRequest{})
	genuine := w.attest(options)
	modulus := func(bits int) []byte { return new(big.Int).SetBit(big.NewInt(1), bits-1, 1).Bytes() }
	for name, test := range map[string]struct {
		key   map[int64]any
		words string
	}{
		"RSA key as ES256":    {map[int64]any{1: 3, 3: -7, -1: modulus(2048), -2: []byte{1, 0, 1}}, "needs a key of kind EC2"},
		"RSA key too small":   {map[int64]any{1: 3, 3: -257, -1: modulus(1024), -2: []byte{1, 0, 1}}, "2048 to 4096 bits, got 1024"},
		"RSA key too large":   {map[int64]any{1: 3, 3: -257, -1: modulus(8192), -2: []byte{1, 0, 1}}, "2048 to 4096 bits, got 8192"},
		"RSA key without e":   {map[int64]any{1: 3, 3: -257, -1: modulus(2048)}, "cannot be used"},
		"EC key as RS256":     {map[int64]any{1: 2, 3: -257, -1: 1, -2: make([]byte, 32), -3: make([]byte, 32)}, "cannot be used"},
		"point at zero":       {map[int64]any{1: 2, 3: -7, -1: 1, -2: make([]byte, 32), -3: make([]byte, 32)}, "cannot be used"},
		"another curve":       {map[int64]any{1: 2, 3: -7, -1: 2, -2: make([]byte, 48), -3: make([]byte, 48)}, "cannot be used"},
		"short EdDSA key":     {map[int64]any{1: 1, 3: -8, -1: 6, -2: make([]byte, 31)}, "cannot be used"},
		"symmetric key":       {map[int64]any{1: 4, 3: 5, -1: make([]byte, 32)}, "cannot be used"},
		"RS1":                 {map[int64]any{1: 3, 3: -65535, -1: modulus(2048), -2: []byte{1, 0, 1}}, "COSE algorithm -65535"},
		"not even a key type": {map[int64]any{3: -7}, "cannot be used"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := genuine
			answer.AttestationObject = rekey(t, answer.AttestationObject, test.key)
			_, err := w.FinishRegistration(session, answer, noon)
			mustRefuse(t, err, passkey.StepAlgorithm, test.words)
		})
	}
}

// rekey replaces the public key in an attestation object with a credential ID of 32 bytes.
func rekey(t *testing.T, object string, key map[int64]any) string {
	t.Helper()
	return b64(object, func(b []byte) []byte {
		var o struct {
			AuthData []byte `cbor:"authData"`
		}
		if err := webauthncbor.Unmarshal(b, &o); err != nil {
			t.Fatal(err)
		}
		cose, err := webauthncbor.Marshal(key)
		if err != nil {
			t.Fatal(err)
		}
		data := append(o.AuthData[:37+16+2+32:37+16+2+32], cose...)
		if b, err = webauthncbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": data}); err != nil {
			t.Fatal(err)
		}
		return b
	})
}
