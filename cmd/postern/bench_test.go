package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// callers is the number of clients of a benchmark per processor.
const callers = 32

// rawCost is the processor time of one P-256 verification and one P-256 signature, the
// minimum cost of a sign-in.
func rawCost(b *testing.B) time.Duration { return curveCost(b, true) }

// signatureCost is the processor time of one P-256 signature, the minimum cost of a token.
func signatureCost(b *testing.B) time.Duration { return curveCost(b, false) }

// curveCost keeps all processors busy, because an idle one can make the other faster.
func curveCost(b *testing.B, verify bool) time.Duration {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	digest := sha256.Sum256([]byte("assertion"))
	const rounds = 1000
	processors := runtime.GOMAXPROCS(0)
	begin := processorTime(b)
	var done sync.WaitGroup
	for range processors {
		done.Go(func() {
			for range rounds {
				signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
				if err != nil || verify && !ecdsa.VerifyASN1(&key.PublicKey, digest[:], signature) {
					b.Error("the curve is broken")
				}
			}
		})
	}
	done.Wait()
	return (processorTime(b) - begin) / time.Duration(rounds*processors)
}

// processorTime is the processor time of this process, on all processors. It excludes other
// processes, though they slow both sides of a ratio.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// report prints the rate, and the processor time per operation as a multiple of the raw
// cryptography. It includes the client's work.
func report(b *testing.B, used, raw time.Duration) {
	each := b.Elapsed() / time.Duration(b.N)
	b.ReportMetric(float64(time.Second)/float64(each), "ops/s")
	b.ReportMetric(float64(used.Microseconds())/float64(b.N), "cpu-µs")
	b.ReportMetric(float64(used)/float64(b.N)/float64(raw), "x-raw")
}

func BenchmarkFlowStart(b *testing.B) {
	w := newTestApp(b)
	w.measure(b, func(int64) { w.start(schemas.Authentication) })
}

func BenchmarkPromptStep(b *testing.B) {
	w := newTestApp(b)
	runs := make([]schemas.Step, b.N)
	for i := range runs {
		runs[i] = w.start(schemas.Registration)
	}
	w.measure(b, func(i int64) { w.answer(runs[i], "continue", map[string]string{"username": schemas.NewID()}) })
}

// BenchmarkFlowPasskey measures the last step of a sign-in: it verifies the assertion,
// records its use, signs a token and commits.
func BenchmarkFlowPasskey(b *testing.B) {
	w := newTestApp(b)
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
	w := newTestApp(b)
	w.measure(b, func(int64) { w.startPasskey() })
}

func BenchmarkPasskeyFinish(b *testing.B) {
	w := newTestApp(b)
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
func (w *testApp) measure(b *testing.B, do func(i int64)) { measureAgainst(b, rawCost, do) }

// measureAgainst measures the raw cost before and after, because the speed of a shared
// machine varies. The collector of Go runs as rarely as in a server.
func measureAgainst(b *testing.B, cost func(*testing.B) time.Duration, do func(i int64)) {
	ballast := make([]byte, ballastBytes)
	defer runtime.KeepAlive(ballast)
	raw := cost(b)
	var next atomic.Int64
	b.SetParallelism(callers)
	b.ReportAllocs()
	before := processorTime(b)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			do(next.Add(1) - 1)
		}
	})
	b.StopTimer()
	used := processorTime(b) - before
	report(b, used, (raw+cost(b))/2)
}
