package throttle

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// memoryStore counts failures as the store does.
type memoryStore struct {
	mu     sync.Mutex
	counts map[string]int
	events []schemas.Event
	broken error
}

func (l *memoryStore) FailedGuesses(_ context.Context, digest []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts[string(digest)], l.broken
}

func (l *memoryStore) AddFailedGuess(ctx context.Context, f schemas.FailedGuess) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.counts[string(f.Digest)]
	if l.broken != nil || ctx.Err() != nil || n >= f.Limit {
		return false, errors.Join(l.broken, ctx.Err())
	}
	l.counts[string(f.Digest)]++
	if n+1 == f.EventAt && f.UserID != "" {
		l.events = append(l.events, f.Event)
	}
	return true, nil
}

// counting is a Throttle that counts in a ledger and admits everything by its budgets.
func counting(t *testing.T) (*fixture, *memoryStore) {
	l := &memoryStore{counts: map[string]int{}}
	return newFixture(t, Options{Failures: l, DigestKey: []byte("key")}), l
}

func right() (bool, error) { return true, nil }
func wrong() (bool, error) { return false, nil }

// wrongs makes wrong guesses until one is rejected, and returns how many were answered.
func (w *fixture) wrongs(ctx context.Context, g schemas.Guess) (n int) {
	w.t.Helper()
	for {
		_, err := w.Guess(ctx, g, wrong)
		if err == nil {
			n++
			continue
		}
		if e := schemas.AsError(err); e.Class != schemas.Throttled || e.Code != CodeTooManyRequests || e.RetryAfter <= 0 {
			w.t.Fatal(err)
		}
		return n
	}
}

func from(n int) context.Context { return NewContext(context.Background(), network(n)) }

// Finding 11 of the security audit of November 2026: no more than 100 guesses in a row fail
// at the names and secrets of an account, whichever an attacker combines.
func TestAudit11OneHundredFailuresForAnAccount(t *testing.T) {
	all := limits()
	names := len(schemas.IdentifyingAttributes())
	for by, of := range map[string]func(failureLimit) int{
		"unknown networks":     func(l failureLimit) int { return l.unknown },
		"all without a device": func(l failureLimit) int { return l.familiar },
	} {
		total := names*(of(all[schemas.NameSecret])+of(all[schemas.MailedSecret])) + of(all[schemas.FactorSecret])
		if total > 100 {
			t.Errorf("%s have %d guesses", by, total)
		}
	}
	for secret, l := range all {
		if l.unknown <= 0 || l.familiar <= l.unknown {
			t.Errorf("%s: %+v: familiar networks have no more than unknown ones", secret, l)
		}
	}
}

func TestLastingLimits(t *testing.T) {
	w, l := counting(t)
	g := schemas.Guess{Secret: schemas.NameSecret, Name: "ada", UserID: "1"}
	if _, err := w.Guess(from(home), g, right); err != nil {
		t.Fatal(err)
	}
	if len(l.counts) != 0 {
		t.Error("a right guess was written")
	}
	if n := w.wrongs(from(1), g); n != 22 {
		t.Errorf("unknown networks have %d guesses, want 22", n)
	}
	if n := w.wrongs(from(2), schemas.Guess{Secret: schemas.NameSecret, Name: " ADA", UserID: "1"}); n != 0 {
		t.Errorf("another unknown network has %d, in another spelling", n)
	}
	if _, err := w.Guess(from(3), g, right); !schemas.HasClass(err, schemas.Throttled) {
		t.Errorf("a right guess of an unknown network: %v", err)
	}
	if n := w.wrongs(from(home), g); n != 6 {
		t.Errorf("the known network has %d more, want 6", n)
	}
	device := OpenDevice(seal("key"), "")
	device.SignedIn("1", w.now)
	if n := w.wrongs(WithDevice(from(4), device), g); n != deviceLimit {
		t.Errorf("the known device has %d, want %d", n, deviceLimit)
	}
	if len(l.events) != 2 || l.events[0].Detail["by"] != "unknown networks" || l.events[1].Detail["by"] != "a known browser" {
		t.Errorf("events %+v", l.events)
	}
	for name, other := range map[string]schemas.Guess{
		"another name":        {Secret: schemas.NameSecret, Name: "bob"},
		"the name of another": {Secret: schemas.NameSecret, Name: "ada", UserID: "2"},
		"another secret":      {Secret: schemas.MailedSecret, Name: "ada", UserID: "1"},
	} {
		if _, err := w.Guess(from(5), other, wrong); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := w.wrongs(from(6), schemas.Guess{Secret: schemas.NameSecret, Name: "nobody"}); n != 22 || len(l.events) != 2 {
		t.Errorf("at an unknown name: %d, and %d events", n, len(l.events))
	}
}

// The count for an address without an account resets each day.
func TestAddressesStartAgain(t *testing.T) {
	w, _ := counting(t)
	g := schemas.Guess{Secret: schemas.AddressSecret, Name: "ada@example.org"}
	first := w.wrongs(from(1), g)
	w.pass(24 * time.Hour)
	if next := w.wrongs(from(1), g); first != 15 || next != 15 {
		t.Errorf("%d guesses, on the next day %d, want 15 each", first, next)
	}
}

// Of parallel guesses only as many as the limit allows are answered, and a right one only
// if the limit was not reached before.
func TestLastingGuessesAtOnce(t *testing.T) {
	w, _ := counting(t)
	g := schemas.Guess{Secret: schemas.NameSecret, Name: "ada", UserID: "1"}
	var checking, done sync.WaitGroup
	var mu sync.Mutex
	answered, gate := 0, make(chan struct{})
	const many = 200
	checking.Add(many)
	for i := range many {
		done.Go(func() {
			_, err := w.Guess(from(i), g, func() (bool, error) {
				checking.Done()
				<-gate
				return false, nil
			})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				answered++
			}
		})
	}
	checking.Wait()
	late := make(chan error)
	opened := make(chan struct{})
	go func() {
		_, err := w.Guess(from(many), g, func() (bool, error) {
			close(opened)
			close(gate)
			done.Wait()
			return true, nil
		})
		late <- err
	}()
	<-opened
	if err := <-late; !schemas.HasClass(err, schemas.Throttled) {
		t.Errorf("a right guess after the limit: %v", err)
	}
	if answered != 22 {
		t.Errorf("%d were answered, want 22", answered)
	}
}

// Guesses count even if the client disconnects or the store fails.
func TestCountingFails(t *testing.T) {
	w, l := counting(t)
	g := schemas.Guess{Secret: schemas.NameSecret, Name: "ada", UserID: "1"}
	ctx, cancel := context.WithCancel(from(1))
	if _, err := w.Guess(ctx, g, func() (bool, error) { cancel(); return false, nil }); err != nil || len(l.counts) != 1 {
		t.Errorf("a client that went away: %v, %d counted", err, len(l.counts))
	}
	l.broken = errors.New("disk on fire")
	for _, check := range []func() (bool, error){right, wrong} {
		if ok, err := w.Guess(from(2), g, check); ok || !errors.Is(err, l.broken) {
			t.Errorf("with a broken store: %v, %v", ok, err)
		}
	}
}
