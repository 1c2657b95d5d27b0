package token

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"testing"
	"time"
)

// BenchmarkAssert reports, beside its time, how many raw signatures an
// assertion costs. They are measured in turns, so that a machine that is busy
// with other things slows both alike.
func BenchmarkAssert(b *testing.B) {
	i := newIssuer(b, &ring{})
	digest := sha256.Sum256([]byte("digest"))
	a := newAssertion()
	var asserting, signing time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if _, err := i.Assert(b.Context(), a); err != nil {
			b.Fatal(err)
		}
		asserted := time.Now()
		if _, err := ecdsa.SignASN1(rand.Reader, i.signer.private, digest[:]); err != nil {
			b.Fatal(err)
		}
		asserting += asserted.Sub(start)
		signing += time.Since(asserted)
	}
	b.ReportMetric(float64(asserting)/float64(signing), "signatures/op")
	b.ReportMetric(float64(asserting.Nanoseconds())/float64(b.N), "ns/assertion")
}

func BenchmarkVerify(b *testing.B) {
	i := newIssuer(b, &ring{})
	raw, err := i.Assert(b.Context(), newAssertion())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := i.Verify(b.Context(), raw, app); err != nil {
			b.Fatal(err)
		}
	}
}
