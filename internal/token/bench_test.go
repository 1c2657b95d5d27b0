package token

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"testing"
	"time"
)

func BenchmarkAssert(b *testing.B) {
	i, a := newIssuer(b, &ring{}), newAssertion()
	measure(b, i, func() error { _, err := i.Assert(b.Context(), a); return err })
}

func BenchmarkAccess(b *testing.B) {
	i, a := newIssuer(b, &ring{}), newAccess()
	measure(b, i, func() error { _, err := i.Access(b.Context(), a); return err })
}

// measure reports the time of a token and its ratio to the raw signature. Both are measured
// alternately, so that other load on the machine slows both equally.
func measure(b *testing.B, i *Issuer, issue func() error) {
	digest := sha256.Sum256([]byte("digest"))
	private := i.set().signing[ES256].private.(*ecdsa.PrivateKey)
	var issuing, signing time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if err := issue(); err != nil {
			b.Fatal(err)
		}
		issued := time.Now()
		if _, err := ecdsa.SignASN1(rand.Reader, private, digest[:]); err != nil {
			b.Fatal(err)
		}
		issuing += issued.Sub(start)
		signing += time.Since(issued)
	}
	b.ReportMetric(float64(issuing)/float64(signing), "signatures/op")
	b.ReportMetric(float64(issuing.Nanoseconds())/float64(b.N), "ns/token")
}

func BenchmarkVerify(b *testing.B) {
	i := newIssuer(b, &ring{})
	raw := issueAssertion(b, i, newAssertion())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := i.Verify(b.Context(), raw, app); err != nil {
			b.Fatal(err)
		}
	}
}
