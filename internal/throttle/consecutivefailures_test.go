package throttle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// memoryStore counts failures as the store does.
type memoryStore struct {
	mu     sync.Mutex
	counts map[string]int
	done   map[string]bool
	events []schemas.Event
	writes int
	broken error
}

func (l *memoryStore) FailedGuesses(_ context.Context, counters []schemas.GuessCounter) (list []int, _ error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range counters {
		list = append(list, l.counts[string(c.Digest)])
	}
	return list, l.broken
}

func (l *memoryStore) AddFailedGuess(ctx context.Context, f schemas.FailedGuess) (list []int, _ error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	full := func(c schemas.GuessCounter) bool { return l.counts[string(c.Digest)] >= c.Limit }
	if l.broken != nil || ctx.Err() != nil || slices.ContainsFunc(f.Counters, full) {
		return nil, errors.Join(l.broken, ctx.Err())
	}
	l.writes++
	for _, c := range f.Counters {
		l.counts[string(c.Digest)]++
		list = append(list, l.counts[string(c.Digest)])
	}
	return list, nil
}

func (l *memoryStore) RemoveFailedGuess(ctx context.Context, f schemas.FailedGuess) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes++
	for _, c := range f.Counters {
		l.counts[string(c.Digest)]--
	}
	return errors.Join(l.broken, ctx.Err())
}

func (l *memoryStore) ExhaustGuesses(ctx context.Context, f schemas.FailedGuess) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range f.Counters {
		if key := string(c.Digest); l.counts[key] >= c.EventAt && !l.done[key] {
			l.done[key], l.events = true, append(l.events, f.Event)
		}
	}
	return errors.Join(l.broken, ctx.Err())
}

// counting is a Throttle that counts in a ledger and admits everything by its budgets.
func counting(t *testing.T) (*fixture, *memoryStore) {
	l := &memoryStore{counts: map[string]int{}, done: map[string]bool{}}
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

// strengthOf is that of a sign-in that proved secrets.
func strengthOf(acr string, secrets ...schemas.GuessedSecret) schemas.BrowserStrength {
	return schemas.BrowserStrength{ACR: acr, Secrets: secrets}
}

// newDevice is a device in which a user has signed in.
func (w *fixture) newDevice(userID string, s schemas.BrowserStrength) *Device {
	d := OpenDevice(seal("key"), "")
	d.SignedIn(userID, s, w.now)
	return d
}

// No more than 100 guesses in a row fail at any secret of an account (NIST SP 800-63B-4 §3.2.2), with
// whatever names and from whatever networks and devices. Of each kind of caller, only its own
// share fails.
func TestFailuresAtEachSecret(t *testing.T) {
	for _, secret := range schemas.AccountSecrets() {
		w, _ := counting(t)
		guess := func(name string) schemas.Guess { return schemas.Guess{Secret: secret, Name: name, UserID: "1"} }
		unknown := 0
		for i := range 20 { // such as a username that is changed again and again, and no valid name
			if _, err := w.Guess(from(home+i), guess(fmt.Sprint("name", i)), right); err != nil {
				break
			}
			unknown += w.wrongs(from(home+i), guess(fmt.Sprint("name", i))) + w.wrongs(from(i), guess(fmt.Sprint("name", i))) + w.wrongs(from(i), guess("\x00"))
		}
		if unknown != unknownLimit {
			t.Errorf("%s: %d guesses of unknown devices failed, want %d", secret, unknown, unknownLimit)
		}
		known := 0
		for i := range 20 {
			d := w.newDevice("1", strengthOf(schemas.ACRMultiFactor, secret))
			known += w.wrongs(WithDevice(from(i), d), guess("ada"))
		}
		if known != knownLimit {
			t.Errorf("%s: %d guesses of known devices failed, want %d", secret, known, knownLimit)
		}
		if unknown+known > 100 {
			t.Errorf("%s: %d guesses failed in a row", secret, unknown+known)
		}
	}
	names := len(schemas.IdentifyingAttributes())
	for secret, l := range limits() {
		if l.unknown <= 0 || l.familiar <= l.unknown {
			t.Errorf("%s: %+v: familiar networks have no more than unknown ones", secret, l)
		}
		if names*l.familiar >= unknownLimit {
			t.Errorf("%s: %d names use up the guesses at all names, so a reply reveals that they belong to one user", secret, names)
		}
	}
}

// A device that has proved one secret is unknown for another: an attacker with the password gets no
// guesses at a code from any number of devices, and does not use up those of the owner's device.
func TestDevicesAreKnownForWhatTheyProved(t *testing.T) {
	for _, secret := range schemas.AccountSecrets() {
		w, l := counting(t)
		g := schemas.Guess{Secret: secret, Name: "ada", UserID: "1", Event: schemas.Event{UserID: "1"}}
		n := 0
		for i, other := range schemas.AccountSecrets() {
			for j := range 50 {
				if d := w.newDevice("1", strengthOf(schemas.ACRMultiFactorPR, other)); other != secret {
					n += w.wrongs(WithDevice(from(100*i+j), d), g)
				}
			}
		}
		if want := limits()[secret].unknown; n != want {
			t.Errorf("%s: devices that proved something else have %d guesses, want the %d of unknown networks", secret, n, want)
		}
		owner := WithDevice(from(home), w.newDevice("1", strengthOf(schemas.ACRVouched, secret)))
		if ok, err := w.Guess(owner, g, right); !ok || err != nil {
			t.Errorf("%s: the owner's device: %v, %v", secret, ok, err)
		}
		if n := w.wrongs(owner, g); n != knownLimit {
			t.Errorf("%s: the owner's device has %d guesses, want %d", secret, n, knownLimit)
		}
		if len(l.events) != 2 || l.events[0].Detail["by"] != byUnknown || l.events[1].Detail["by"] != byAllKnown || l.events[0].Detail["secret"] != string(secret) {
			t.Errorf("%s: events %+v", secret, l.events)
		}
	}
}

func TestLastingLimits(t *testing.T) {
	w, l := counting(t)
	g := schemas.Guess{Secret: schemas.PasswordSecret, Name: "ada", UserID: "1"}
	if _, err := w.Guess(from(home), g, right); err != nil {
		t.Fatal(err)
	}
	if l.writes != 0 {
		t.Error("a right guess was written")
	}
	if n := w.wrongs(from(1), g); n != 22 {
		t.Errorf("unknown networks have %d guesses, want 22", n)
	}
	if n := w.wrongs(from(2), schemas.Guess{Secret: schemas.PasswordSecret, Name: " ADA", UserID: "1"}); n != 0 {
		t.Errorf("another unknown network has %d, in another spelling", n)
	}
	if _, err := w.Guess(from(3), g, right); !schemas.HasClass(err, schemas.Throttled) {
		t.Errorf("a right guess of an unknown network: %v", err)
	}
	if n := w.wrongs(from(home), g); n != 6 {
		t.Errorf("the known network has %d more, want 6", n)
	}
	for name, other := range map[string]schemas.Guess{
		"another name":        {Secret: schemas.PasswordSecret, Name: "bob"},
		"the name of another": {Secret: schemas.PasswordSecret, Name: "ada", UserID: "2"},
		"another secret":      {Secret: schemas.MailedSecret, Name: "ada", UserID: "1"},
	} {
		if _, err := w.Guess(from(5), other, wrong); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := w.wrongs(from(6), schemas.Guess{Secret: schemas.PasswordSecret, Name: "nobody"}); n != 22 {
		t.Errorf("at an unknown name: %d", n)
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

// Of parallel guesses only as many as the limit allows are checked, at all: the right one among more
// is not answered while the others wait to be counted.
func TestLastingGuessesAtOnce(t *testing.T) {
	w, l := counting(t)
	g := schemas.Guess{Secret: schemas.PasswordSecret, Name: "ada", UserID: "1"}
	var all sync.WaitGroup
	var checked, answered atomic.Int32
	refused, gate := make(chan struct{}, 200), make(chan struct{})
	for i := range 200 {
		all.Go(func() {
			_, err := w.Guess(from(i), g, func() (bool, error) {
				checked.Add(1)
				<-gate
				return false, nil
			})
			if err != nil {
				refused <- struct{}{}
			} else {
				answered.Add(1)
			}
		})
	}
	for range 200 - 22 - 1 { // the first one is counted when it has been checked
		<-refused
	}
	if _, err := w.Guess(from(200), g, right); !schemas.HasClass(err, schemas.Throttled) {
		t.Errorf("a right guess among as many as the limit: %v", err)
	}
	close(gate)
	all.Wait()
	if checked.Load() > 22+1 || answered.Load() != 22 {
		t.Errorf("%d were checked and %d answered, want 22", checked.Load(), answered.Load())
	}
	if len(l.events) != 1 {
		t.Errorf("%d events", len(l.events))
	}
}

// A right guess that was counted beforehand, because others had failed, is taken back, and so is one
// that was not checked.
func TestRightGuessesAreTakenBack(t *testing.T) {
	w, l := counting(t)
	g := schemas.Guess{Secret: schemas.PasswordSecret, Name: "ada", UserID: "1"}
	if _, err := w.Guess(from(1), g, wrong); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if ok, err := w.Guess(from(1), g, right); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if _, err := w.Guess(from(1), g, func() (bool, error) { return false, errors.New("overloaded") }); err == nil {
			t.Fatal("no error")
		}
	}
	if n := w.wrongs(from(2), g); n != 21 || len(l.events) != 1 {
		t.Errorf("%d more, want 21, and %d events", n, len(l.events))
	}
}

// Guesses count even if the client disconnects or the store fails.
func TestCountingFails(t *testing.T) {
	w, l := counting(t)
	g := schemas.Guess{Secret: schemas.PasswordSecret, Name: "ada", UserID: "1"}
	ctx, cancel := context.WithCancel(from(1))
	if _, err := w.Guess(ctx, g, func() (bool, error) { cancel(); return false, nil }); err != nil || l.writes != 1 {
		t.Errorf("a client that went away: %v, %d counted", err, l.writes)
	}
	l.broken = errors.New("disk on fire")
	for _, check := range []func() (bool, error){right, wrong} {
		if ok, err := w.Guess(from(2), g, check); ok || !errors.Is(err, l.broken) {
			t.Errorf("with a broken store: %v, %v", ok, err)
		}
	}
}
