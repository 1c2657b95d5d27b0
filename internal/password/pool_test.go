package password

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// cheap is a low cost for tests.
var cheap = Options{MemoryKiB: 64, Iterations: 1, Workers: 1, Queue: 1}

// hashOf returns the hash of a password.
func hashOf(t testing.TB, p *Pool, password string) string {
	t.Helper()
	stored, err := p.Hash(t.Context(), password)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

func TestHashAndVerify(t *testing.T) {
	p, ctx := New(cheap), t.Context()
	stored := hashOf(t, p, "correct horse")
	if !strings.HasPrefix(stored, "$argon2id$v=19$m=64,t=1,p=1$") {
		t.Errorf("stored as %s", stored)
	}
	tests := []struct {
		name, password string
		ok             bool
	}{
		{"the password", "correct horse", true},
		{"another", "correct horsf", false},
		{"a prefix", "correct", false},
		{"another case", "Correct horse", false},
		{"nothing", "", false},
	}
	for _, test := range tests {
		ok, rehash, err := p.Verify(ctx, stored, test.password)
		if ok != test.ok || rehash || err != nil {
			t.Errorf("%s: ok %v, rehash %v, %v", test.name, ok, rehash, err)
		}
	}
}

func TestHashIsSalted(t *testing.T) {
	p := New(cheap)
	a, errA := p.Hash(t.Context(), "same")
	b, errB := p.Hash(t.Context(), "same")
	if errA != nil || errB != nil || a == b {
		t.Errorf("%s %v, %s %v: want two different hashes", a, errA, b, errB)
	}
}

func TestVerifyNormalises(t *testing.T) {
	p := New(cheap)
	stored := hashOf(t, p, "caf\u00e9")                       // é as one code point
	ok, _, err := p.Verify(t.Context(), stored, "cafe\u0301") // e and a combining accent
	if !ok || err != nil {
		t.Errorf("ok %v, %v: the same password in another Unicode form was refused", ok, err)
	}
}

// TestVerifyKnownAnswer compares the derivation with the reference implementation's test
// vector (phc-winner-argon2, test.c, argon2id, version 0x13).
func TestVerifyKnownAnswer(t *testing.T) {
	const vector = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	ok, rehash, err := New(cheap).Verify(t.Context(), vector, "password")
	if !ok || !rehash || err != nil {
		t.Errorf("ok %v, rehash %v, %v: want a match that is due for a rehash", ok, rehash, err)
	}
}

func TestVerifyReportsOutdatedHashes(t *testing.T) {
	old, ctx := New(cheap), t.Context()
	stored := hashOf(t, old, "pw")
	for name, o := range map[string]Options{
		"more memory":     {MemoryKiB: 128, Iterations: 1},
		"more iterations": {MemoryKiB: 64, Iterations: 2},
		"less memory":     {MemoryKiB: 32, Iterations: 1},
	} {
		if ok, rehash, err := New(o).Verify(ctx, stored, "pw"); !ok || !rehash || err != nil {
			t.Errorf("%s: ok %v, rehash %v, %v", name, ok, rehash, err)
		}
		if ok, rehash, _ := New(o).Verify(ctx, stored, "wrong"); ok || rehash {
			t.Errorf("%s: a wrong password gave ok %v, rehash %v", name, ok, rehash)
		}
	}
}

func TestVerifyRefusesHostileHash(t *testing.T) {
	p := New(cheap)
	p.derive = func(string, phc, int) []byte {
		t.Error("a hash out of bounds was computed")
		return nil
	}
	_, _, err := p.Verify(t.Context(), prefix+"m=4294967295,t=2,p=1$"+salt16+"$"+key32, "pw")
	if err == nil {
		t.Fatal("accepted")
	}
	if e := schemas.AsError(err); e.Class != schemas.Internal {
		t.Errorf("class %v: a damaged row is our fault, not the client's", e.Class)
	}
}

// blocked returns a pool whose hashes signal their start and wait for release.
func blocked(o Options) (p *Pool, began, release chan struct{}) {
	p, began, release = New(o), make(chan struct{}), make(chan struct{})
	p.derive = func(string, phc, int) []byte {
		began <- struct{}{}
		<-release
		return make([]byte, keyLength)
	}
	return p, began, release
}

func TestOverloadIsRefusedAtOnce(t *testing.T) {
	p, began, release := blocked(Options{MemoryKiB: 64, Iterations: 1, Workers: 1, Queue: -1})
	done := make(chan error)
	go func() {
		_, err := p.Hash(context.Background(), "first")
		done <- err
	}()
	<-began

	_, err := p.Hash(t.Context(), "second")
	e := schemas.AsError(err)
	if e.Class != schemas.Unavailable || e.Code != schemas.CodeOverloaded || e.RetryAfter != time.Second {
		t.Errorf("got %v (class %v, retry after %v)", err, e.Class, e.RetryAfter)
	}

	close(release)
	if err := <-done; err != nil {
		t.Errorf("the first: %v", err)
	}
	go func() { <-began }()
	if _, err := p.Hash(t.Context(), "third"); err != nil {
		t.Errorf("after the overload: %v", err)
	}
}

func TestQueueWaitsForItsTurn(t *testing.T) {
	p, began, release := blocked(cheap)
	done := make(chan error)
	hash := func() {
		_, err := p.Hash(context.Background(), "pw")
		done <- err
	}
	go hash()
	<-began
	go hash() // waits: began is unbuffered until the first is released
	release <- struct{}{}
	<-began
	if p.queue.idle != 0 || p.queue.places != 1 {
		t.Errorf("%d workers are idle, %d places are free", p.queue.idle, p.queue.places)
	}
	release <- struct{}{}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if p.queue.idle != 1 || p.queue.places != 1 {
		t.Error("places were not given back")
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	p, began, release := blocked(cheap)
	done := make(chan error)
	go func() {
		_, err := p.Hash(context.Background(), "pw")
		done <- err
	}()
	<-began
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Hash(ctx, "pw"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestDefaults(t *testing.T) {
	p := New(Options{Workers: 3})
	if p.cost != (params{DefaultMemoryKiB, DefaultIterations, 1}) {
		t.Errorf("cost %+v", p.cost)
	}
	if p.queue.idle != 3 || p.queue.places != 48 {
		t.Errorf("%d workers, %d places", p.queue.idle, p.queue.places)
	}
}

func TestNewRefusesCostItCouldNotVerify(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("accepted")
		}
	}()
	New(Options{MemoryKiB: 1 << 30})
}

func BenchmarkVerify(b *testing.B) {
	p := New(Options{})
	stored := hashOf(b, p, "correct horse")
	b.ReportAllocs()
	for b.Loop() {
		if ok, _, err := p.Verify(b.Context(), stored, "correct horse"); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
