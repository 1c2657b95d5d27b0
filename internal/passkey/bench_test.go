package passkey_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/schemas"
)

// rawVerification returns one P-256 verification: the minimal cost of finishing an
// authentication.
func rawVerification(b *testing.B) func() {
	b.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	digest := sha256.Sum256([]byte("message"))
	signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		b.Fatal(err)
	}
	return func() {
		if !ecdsa.VerifyASN1(&key.PublicKey, digest[:], signature) {
			b.Fatal("the signature does not verify")
		}
	}
}

func BenchmarkRawP256Verification(b *testing.B) {
	verify := rawVerification(b)
	for b.Loop() {
		verify()
	}
}

// BenchmarkFinishAuthentication also reports its time in raw verifications ("ratio"). The
// two alternate, so that load on the machine slows both equally.
func BenchmarkFinishAuthentication(b *testing.B) {
	w, credential := registered(b, passkey.Policy{})
	options, session := w.beginAuthentication(passkey.AuthenticationRequest{UserID: alice, Allow: []schemas.Credential{*credential}})
	answer := w.assert(options)
	raw := rawVerification(b)
	var ours, floor time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := w.FinishAuthentication(b.Context(), session, answer, w.find, noon); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		raw()
		ours += middle.Sub(start)
		floor += time.Since(middle)
	}
	b.ReportMetric(float64(ours)/float64(b.N), "ns/op")
	b.ReportMetric(float64(ours)/float64(floor), "ratio")
}

func BenchmarkBeginAuthentication(b *testing.B) {
	w, credential := registered(b, passkey.Policy{})
	request := passkey.AuthenticationRequest{UserID: alice, Allow: []schemas.Credential{*credential}}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := w.BeginAuthentication(request); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBeginRegistration(b *testing.B) {
	w, credential := registered(b, passkey.Policy{})
	request := passkey.RegistrationRequest{User: passkey.User{ID: alice, Name: "alice"}, Exclude: []schemas.Credential{*credential}}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := w.BeginRegistration(request); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFinishRegistration(b *testing.B) {
	w := newFixture(b, passkey.Policy{})
	options, session := w.beginRegistration(passkey.RegistrationRequest{})
	answer := w.attest(options)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.FinishRegistration(session, answer, noon); err != nil {
			b.Fatal(err)
		}
	}
}
