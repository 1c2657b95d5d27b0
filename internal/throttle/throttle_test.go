package throttle

import (
	"encoding/binary"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// fixture is a Throttle with a clock that only tests move.
type fixture struct {
	*Throttle
	t   testing.TB
	now time.Time
}

func newFixture(t testing.TB, o Options) *fixture {
	w := &fixture{t: t, now: time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)}
	o.Now = func() time.Time { return w.now }
	w.Throttle = New(o)
	return w
}

func (w *fixture) pass(d time.Duration) { w.now = w.now.Add(d) }

// try makes an attempt with the outcome and reports whether it was admitted.
func (w *fixture) try(a Attempt, outcome Outcome) bool {
	w.t.Helper()
	err := w.Admit(&a)
	if err == nil {
		w.Done(&a, outcome)
		return true
	}
	e := schemas.AsError(err)
	if e.Class != schemas.Throttled || e.Code != CodeTooManyRequests || e.RetryAfter <= 0 {
		w.t.Fatalf("refused by %+v", e)
	}
	return false
}

// count makes attempts until one is rejected, at most so many, and returns how many were
// admitted.
func (w *fixture) count(most int, a Attempt, outcome Outcome) int {
	w.t.Helper()
	for n := range most {
		if !w.try(a, outcome) {
			return n
		}
	}
	return most
}

// network is one of 2^24 IPv4 networks, each in a /24 of its own.
func network(n int) Network {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(n)<<8|1)
	return NetworkOf(netip.AddrFrom4(b))
}

func guess(n int, name string) Attempt {
	return Attempt{Endpoint: Guess, Network: network(n), Account: AccountOf(name)}
}

func TestChargedBudgets(t *testing.T) {
	b := Budgets{
		SignIns:       Budget{10, time.Second},
		RunStarts:     Budget{3, time.Second},
		RunSteps:      Budget{5, time.Second},
		Tokens:        Budget{20, time.Second},
		TokenFailures: Budget{4, time.Second},
		Registrations: Budget{2, time.Second},
	}
	for _, c := range []struct {
		name    string
		attempt Attempt
		outcome Outcome
		want    int
	}{
		{"a run is begun", Attempt{Endpoint: RunStart}, Passed, 3},
		{"a run is continued", Attempt{Endpoint: RunStep, Run: KeyOf("a")}, Passed, 5},
		{"no run is named", Attempt{Endpoint: RunStep}, Passed, 100},
		{"a sign-in", Attempt{Endpoint: SignIn}, Passed, 10},
		{"a sign-in that fails", Attempt{Endpoint: SignIn}, Failed, 10},
		{"a token", Attempt{Endpoint: Token}, Passed, 20},
		{"no token", Attempt{Endpoint: Token}, Failed, 4},
		{"no token, by our fault", Attempt{Endpoint: Token}, Void, 20},
		{"a client", Attempt{Endpoint: Register}, Passed, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t, Options{Budgets: b})
			c.attempt.Network = network(1)
			if n := w.count(100, c.attempt, c.outcome); n != c.want {
				t.Errorf("%d were admitted, want %d", n, c.want)
			}
			c.attempt.Network, c.attempt.Run = network(2), KeyOf("b")
			if !w.try(c.attempt, c.outcome) {
				t.Error("another network pays for it")
			}
		})
	}
}

// Steps of one run are limited regardless of the networks they come from.
func TestRuns(t *testing.T) {
	w := newFixture(t, Options{Budgets: Budgets{SignIns: Budget{10, time.Second}, RunSteps: Budget{5, time.Second}}})
	admitted := 0
	for i := range 100 {
		if w.try(Attempt{Endpoint: RunStep, Network: network(i), Run: KeyOf("one")}, Passed) {
			admitted++
		}
	}
	if admitted != 5 {
		t.Errorf("%d admitted, want 5", admitted)
	}
	if !w.try(Attempt{Endpoint: RunStep, Network: network(1), Run: KeyOf("another")}, Passed) {
		t.Error("another run pays for it")
	}
}

// Many addresses of one block share a budget.
func TestWiderNetworks(t *testing.T) {
	for name, addr := range map[string]func(n int) netip.Addr{
		"IPv4": func(n int) netip.Addr { return netip.AddrFrom4([4]byte{203, 0, 113, byte(n)}) },
		"IPv6": func(n int) netip.Addr {
			return netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 0, 1, byte(n >> 8), byte(n), 8: byte(n)})
		},
	} {
		w := newFixture(t, Options{Budgets: Budgets{SignIns: Budget{10, time.Second}}})
		admitted := 0
		for n := range 250 {
			if w.try(Attempt{Endpoint: SignIn, Network: NetworkOf(addr(n))}, Passed) {
				admitted++
			}
		}
		if admitted != 10*widerFactor {
			t.Errorf("%s: %d admitted, want %d", name, admitted, 10*widerFactor)
		}
	}
}

func TestGuesses(t *testing.T) {
	b := Budgets{
		PairGuesses: Budget{3, time.Minute}, FamiliarGuesses: Budget{4, time.Minute},
		NetworkGuesses: Budget{6, time.Minute}, AccountGuesses: Budget{10, time.Minute},
	}
	for _, c := range []struct {
		name string
		do   func(w *fixture) int
		want int
	}{
		{"a network at an account", func(w *fixture) int { return w.count(99, guess(1, "ada"), Failed) }, 3},
		{"right ones cost nothing", func(w *fixture) int { return w.count(99, guess(1, "ada"), Passed) }, 99},
		{"nor do those that were not checked", func(w *fixture) int { return w.count(99, guess(1, "ada"), Void) }, 99},
		{"an invalid name", func(w *fixture) int { return w.count(99, guess(1, ""), Failed) }, 6},
		{"a network at many accounts", func(w *fixture) int {
			return w.count(99, guess(1, "ada"), Failed) + w.count(99, guess(1, "bea"), Failed) + w.count(99, guess(1, "cyd"), Failed)
		}, 6},
		{"many networks at an account", func(w *fixture) (n int) {
			for i := range 99 {
				n += w.count(2, guess(i, "ada"), Failed)
			}
			return n
		}, 10},
		{"a familiar network", func(w *fixture) int {
			w.try(guess(1, "ada"), Passed)
			return w.count(99, guess(1, "ada"), Failed)
		}, 4},
		{"familiar with one is not familiar with another", func(w *fixture) int {
			w.try(guess(1, "ada"), Passed)
			return w.count(99, guess(1, "bea"), Failed)
		}, 3},
		{"familiar from a network is not from another", func(w *fixture) int {
			w.try(guess(1, "ada"), Passed)
			return w.count(99, guess(2, "ada"), Failed)
		}, 3},
		{"familiar for a while", func(w *fixture) int {
			w.try(guess(1, "ada"), Passed)
			w.pass(familiarTTL)
			return w.count(99, guess(1, "ada"), Failed)
		}, 3},
		{"a device", func(w *fixture) int {
			w.count(99, guess(1, "ada"), Failed)
			a := guess(1, "ada")
			a.Device = KeyOf("phone")
			return w.count(99, a, Failed)
		}, 4},
		{"an hour later", func(w *fixture) int {
			w.count(99, guess(1, "ada"), Failed)
			w.pass(time.Hour)
			return w.count(99, guess(1, "ada"), Failed)
		}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			if n := c.do(newFixture(t, Options{Budgets: b})); n != c.want {
				t.Errorf("%d were admitted, want %d", n, c.want)
			}
		})
	}
}

// A guess is charged when it is admitted, not when it has failed.
func TestGuessesAtOnce(t *testing.T) {
	w := newFixture(t, Options{Budgets: Budgets{PairGuesses: Budget{3, time.Minute}}})
	var admitted atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				a := guess(1, "ada")
				if w.Admit(&a) == nil {
					admitted.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := admitted.Load(); n != 3 {
		t.Errorf("%d were admitted, want 3", n)
	}
}

// A rejection costs nothing in the budgets that would have admitted the attempt.
func TestRefusalsCostNoBudget(t *testing.T) {
	w := newFixture(t, Options{Budgets: Budgets{PairGuesses: Budget{2, time.Hour}, NetworkGuesses: Budget{3, time.Minute}}})
	w.count(99, guess(1, "ada"), Failed)
	w.count(99, guess(1, "ada"), Failed)
	if n := w.count(99, guess(1, "bea"), Failed); n != 1 {
		t.Errorf("%d more were admitted, want 1", n)
	}
	for range 5 {
		if w.try(guess(1, "cyd"), Failed) {
			t.Fatal("the network's budget is not spent")
		}
	}
	w.pass(time.Minute)
	if !w.try(guess(1, "cyd"), Failed) {
		t.Error("what the network's budget refused was paid by the account's")
	}
}

// Done has an effect once, and none without Admit.
func TestDoneOnce(t *testing.T) {
	w := newFixture(t, Options{Budgets: Budgets{PairGuesses: Budget{2, time.Minute}}})
	first, second, never := guess(1, "ada"), guess(1, "ada"), guess(1, "ada")
	if w.Admit(&first) != nil || w.Admit(&second) != nil {
		t.Fatal("refused")
	}
	w.Done(&never, Void)
	w.Done(&first, Void)
	w.Done(&first, Void)
	if n := w.count(99, guess(1, "ada"), Failed); n != 1 {
		t.Errorf("%d more were admitted, want 1", n)
	}
}

func TestNilAdmits(t *testing.T) {
	var off *Throttle
	for range 10_000 {
		a := guess(1, "ada")
		if err := off.Admit(&a); err != nil {
			t.Fatal(err)
		}
		off.Done(&a, Failed)
	}
}

// Several instances together admit as many as one alone.
func TestInstances(t *testing.T) {
	const instances = 4
	total := 0
	for range instances {
		w := newFixture(t, Options{Budgets: DefaultBudgets(), Instances: instances})
		for i := range 10_000 {
			if w.try(guess(i, "ada"), Failed) {
				total++
			}
			w.pass(24 * time.Hour / 10_000)
		}
	}
	b := DefaultBudgets().AccountGuesses
	want := b.Burst + int(24*time.Hour/b.Every)
	t.Logf("40,000 guesses in a day at %d instances: %d admitted, the budget of one is %d", instances, total, want)
	if total > want {
		t.Errorf("%d were admitted, want at most %d", total, want)
	}
}

// Admit does not allocate.
func TestAdmitAllocatesNothing(t *testing.T) {
	w := newFixture(t, Options{Budgets: DefaultBudgets()})
	i := 0
	if allocs := testing.AllocsPerRun(10_000, func() {
		i++
		w.pass(time.Minute)
		for _, endpoint := range []Endpoint{RunStart, RunStep, SignIn, Token, Register, Guess} {
			a := Attempt{Endpoint: endpoint, Network: network(i), Account: numbered(i), Run: numbered(i)}
			if w.Admit(&a) == nil {
				w.Done(&a, Outcome(i%3))
			}
		}
	}); allocs != 0 {
		t.Errorf("%v allocations for each round", allocs)
	}
}

func BenchmarkAdmit(b *testing.B) {
	endless := Budget{Burst: 1 << 20, Every: time.Nanosecond}
	attempts := make([]Attempt, 5000)
	for name, endpoint := range map[string]Endpoint{"step": RunStep, "request": SignIn, "guess": Guess} {
		b.Run(name, func(b *testing.B) {
			t := New(Options{Budgets: Budgets{
				SignIns: endless, RunSteps: endless,
				PairGuesses: endless, FamiliarGuesses: endless, NetworkGuesses: endless, AccountGuesses: endless,
			}})
			for i := range attempts {
				attempts[i] = Attempt{Endpoint: endpoint, Network: network(i), Account: numbered(i), Run: numbered(i)}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				a := attempts[i%len(attempts)]
				if err := t.Admit(&a); err != nil {
					b.Fatal(err)
				}
				t.Done(&a, Passed)
			}
		})
	}
}
