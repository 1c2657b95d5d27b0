package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// callers is how many clients a benchmark has for each processor.
const callers = 32

// rawCost is the time of one P-256 verification and one P-256 signature, which
// a sign-in cannot do without.
func rawCost(b *testing.B) time.Duration {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	digest := sha256.Sum256([]byte("assertion"))
	const rounds = 500
	begin := time.Now()
	for range rounds {
		signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
		if err != nil || !ecdsa.VerifyASN1(&key.PublicKey, digest[:], signature) {
			b.Fatal("the curve is broken")
		}
	}
	return time.Since(begin) / rounds
}

// report prints how many a second there were, and the time that each kept all
// processors, as a multiple of the raw cryptography. That bounds its processor
// time from above: waiting for the disk, and the client's own work, are in it.
func report(b *testing.B, raw time.Duration, processors int) {
	each := b.Elapsed() / time.Duration(b.N)
	b.ReportMetric(float64(time.Second)/float64(each), "ops/s")
	b.ReportMetric(float64(each)*float64(processors)/float64(raw), "x-raw")
}

func BenchmarkFlowStart(b *testing.B) {
	w := newRig(b)
	w.measure(b, func(int64) { w.start(schemas.Authentication) })
}

func BenchmarkPromptStep(b *testing.B) {
	w := newRig(b)
	runs := make([]schemas.Step, b.N)
	for i := range runs {
		runs[i] = w.start(schemas.Registration)
	}
	w.measure(b, func(i int64) { w.answer(runs[i], "continue", map[string]string{"username": schemas.NewID()}) })
}

// BenchmarkFlowPasskey is the step that ends a sign-in: the assertion is
// verified, the use recorded, a token signed and all committed.
func BenchmarkFlowPasskey(b *testing.B) {
	w := newRig(b)
	w.enrol("ada")
	type pending struct {
		step   schemas.Step
		inputs map[string]string
	}
	runs := make([]pending, b.N)
	for i := range runs {
		s := w.start(schemas.Authentication)
		runs[i] = pending{s, w.assertion(s)}
	}
	w.measure(b, func(i int64) {
		if s := w.answer(runs[i].step, "", runs[i].inputs); s.FlowStatus != schemas.Complete {
			b.Errorf("%+v", s)
		}
	})
}

func BenchmarkPasskeyStart(b *testing.B) {
	w := newRig(b)
	w.measure(b, func(int64) { w.startPasskey() })
}

func BenchmarkPasskeyFinish(b *testing.B) {
	w := newRig(b)
	w.enrol("ada")
	bodies := make([]any, b.N)
	for i := range bodies {
		bodies[i] = w.passkeyFinish(w.startPasskey())
	}
	w.measure(b, func(i int64) {
		var out struct{ Assertion string }
		if w.post("/auth/passkey/finish", bodies[i], &out); out.Assertion == "" {
			b.Error("no assertion")
		}
	})
}

// measure does b.N operations from many clients at once.
func (w *rig) measure(b *testing.B, do func(i int64)) {
	raw := rawCost(b)
	var next atomic.Int64
	b.SetParallelism(callers)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			do(next.Add(1) - 1)
		}
	})
	b.StopTimer()
	report(b, raw, runtime.GOMAXPROCS(0))
}
