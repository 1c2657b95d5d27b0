package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// callers is how many clients a benchmark has for each processor.
const callers = 32

// bench is a server on a store of its own, on disk and durable, with users who
// have passkeys.
type bench struct {
	*house
	b      *testing.B
	http   http.Handler
	origin string
	device *passkeytest.Authenticator
}

func newBench(b *testing.B) *bench {
	b.Helper()
	cfg, err := config.Load("", []string{"POSTERN_DATA_DIR=" + b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	h, err := openHouse(context.Background(), cfg, slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError})))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(h.close)
	if _, err := h.seed(context.Background(), nil); err != nil {
		b.Fatal(err)
	}
	if err := bootstrap.EnsureTry(context.Background(), h.store, time.Now()); err != nil {
		b.Fatal(err)
	}
	return &bench{house: h, b: b, http: h.handler(), origin: cfg.Server.PublicURL, device: passkeytest.New(passkeytest.NoCounter())}
}

// post sends a request and decodes the reply into out.
func (w *bench) post(path string, in, out any) {
	body, err := json.Marshal(in)
	if err != nil {
		w.b.Error(err)
		return
	}
	r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	w.http.ServeHTTP(rec, r)
	if rec.Code != http.StatusOK {
		w.b.Errorf("%s: %d %s", path, rec.Code, rec.Body)
		return
	}
	if err := json.Unmarshal(rec.Body.Bytes(), out); err != nil {
		w.b.Error(err)
	}
}

func (w *bench) start(flow schemas.FlowType) (s schemas.Step) {
	w.post("/flow/execute", map[string]string{"applicationId": bootstrap.TryID, "flowType": string(flow)}, &s)
	return s
}

func (w *bench) answer(s schemas.Step, action string, inputs map[string]string) (next schemas.Step) {
	w.post("/flow/execute", map[string]any{"executionId": s.ExecutionID, "action": action, "inputs": inputs}, &next)
	return next
}

// enrol signs a user up.
func (w *bench) enrol(name string) {
	s := w.answer(w.start(schemas.Registration), "continue", map[string]string{"username": name})
	a, err := w.device.Register(json.RawMessage(s.Data.AdditionalData["passkeyCreationOptions"]), w.origin)
	if err != nil {
		w.b.Fatal(err)
	}
	s = w.answer(s, "passkey", map[string]string{"credentialId": a.ID, "clientDataJSON": a.ClientDataJSON, "attestationObject": a.AttestationObject})
	if s.FlowStatus != schemas.Complete {
		w.b.Fatalf("sign-up: %+v", s)
	}
}

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

// report prints how many a second there were, and the processor time of each
// as a multiple of the raw cryptography.
func report(b *testing.B, raw time.Duration, processors int) {
	each := b.Elapsed() / time.Duration(b.N)
	b.ReportMetric(float64(time.Second)/float64(each), "ops/s")
	b.ReportMetric(float64(each)*float64(processors)/float64(raw), "x-raw")
}

func BenchmarkFlowStart(b *testing.B) {
	w := newBench(b)
	w.run(func(int64) { w.start(schemas.Authentication) })
}

func BenchmarkPromptStep(b *testing.B) {
	w := newBench(b)
	runs := make([]schemas.Step, b.N)
	for i := range runs {
		runs[i] = w.start(schemas.Registration)
	}
	w.run(func(i int64) { w.answer(runs[i], "continue", map[string]string{"username": schemas.NewID()}) })
}

// BenchmarkFlowPasskey is the step that ends a sign-in: the assertion is
// verified, the use recorded, a token signed and all committed.
func BenchmarkFlowPasskey(b *testing.B) {
	w := newBench(b)
	w.enrol("ada")
	type pending struct {
		step   schemas.Step
		inputs map[string]string
	}
	runs := make([]pending, b.N)
	for i := range runs {
		s := w.start(schemas.Authentication)
		a, err := w.device.Authenticate(json.RawMessage(s.Data.AdditionalData["passkeyChallenge"]), w.origin)
		if err != nil {
			b.Fatal(err)
		}
		runs[i] = pending{s, map[string]string{"credentialId": a.ID, "clientDataJSON": a.ClientDataJSON,
			"authenticatorData": a.AuthenticatorData, "signature": a.Signature, "userHandle": a.UserHandle}}
	}
	w.run(func(i int64) {
		if s := w.answer(runs[i].step, "", runs[i].inputs); s.FlowStatus != schemas.Complete {
			b.Errorf("%+v", s)
		}
	})
}

func BenchmarkPasskeyStart(b *testing.B) {
	w := newBench(b)
	w.run(func(int64) {
		var out struct {
			SessionToken string `json:"sessionToken"`
		}
		w.post("/auth/passkey/start", map[string]string{"relyingPartyId": "localhost"}, &out)
	})
}

func BenchmarkPasskeyFinish(b *testing.B) {
	w := newBench(b)
	w.enrol("ada")
	bodies := make([]any, b.N)
	for i := range bodies {
		var started struct {
			Options      json.RawMessage `json:"publicKeyCredentialRequestOptions"`
			SessionToken string          `json:"sessionToken"`
		}
		w.post("/auth/passkey/start", map[string]string{"relyingPartyId": "localhost"}, &started)
		a, err := w.device.Authenticate(started.Options, w.origin)
		if err != nil {
			b.Fatal(err)
		}
		bodies[i] = map[string]any{"sessionToken": started.SessionToken, "skipAssertion": false, "publicKeyCredential": map[string]any{
			"id": a.ID, "type": "public-key", "response": map[string]string{"clientDataJSON": a.ClientDataJSON,
				"authenticatorData": a.AuthenticatorData, "signature": a.Signature, "userHandle": a.UserHandle}}}
	}
	w.run(func(i int64) {
		var out struct{ Assertion string }
		if w.post("/auth/passkey/finish", bodies[i], &out); out.Assertion == "" {
			b.Error("no assertion")
		}
	})
}

// run does b.N operations from many clients at once.
func (w *bench) run(do func(i int64)) {
	raw := rawCost(w.b)
	var next atomic.Int64
	w.b.SetParallelism(callers)
	w.b.ReportAllocs()
	w.b.ResetTimer()
	w.b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			do(next.Add(1) - 1)
		}
	})
	w.b.StopTimer()
	report(w.b, raw, runtime.GOMAXPROCS(0))
}
