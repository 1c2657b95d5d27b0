package throttle

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// numbered makes a key per number.
func numbered(n int) (k Key) {
	k[0] = 1
	binary.LittleEndian.PutUint64(k[8:], uint64(n))
	return k
}

func TestBudget(t *testing.T) {
	l := NewLimiter(Budget{Burst: 3, Every: time.Second}, 1)
	const second = int64(time.Second)
	for i, step := range []struct {
		now  int64
		wait time.Duration
	}{
		{0, 0},
		{0, 0},
		{0, 0},
		{0, time.Second},
		{second / 4, 3 * time.Second / 4}, // Peek has not extended the wait
		{second, 0},
		{second, time.Second},
		{10 * second, 0}, // full again, and no fuller
		{10 * second, 0},
		{10 * second, 0},
		{10 * second, time.Second},
		{9 * second, 2 * time.Second}, // the clock went back
	} {
		if wait := l.Peek(numbered(1), step.now); wait != step.wait {
			t.Errorf("step %d: Peek says %v, want %v", i, wait, step.wait)
		}
		if wait := l.Take(numbered(1), step.now); wait != step.wait {
			t.Errorf("step %d: Take says %v, want %v", i, wait, step.wait)
		}
	}
	if wait := l.Take(numbered(2), 0); wait != 0 {
		t.Errorf("another key has to wait %v", wait)
	}
}

func TestNoLimit(t *testing.T) {
	for name, l := range map[string]*Limiter{
		"no budget": NewLimiter(Budget{}, 1),
		"no burst":  NewLimiter(Budget{Every: time.Second}, 1),
	} {
		for range 100 {
			if l.Spend(numbered(1), 0); l.Take(numbered(1), 0) != 0 {
				t.Fatalf("%s: refused", name)
			}
		}
		l.Refund(numbered(1), 0, 0)
	}
	l := NewLimiter(Budget{Burst: 1, Every: time.Second}, 1)
	for range 100 {
		if l.Spend(Key{}, 0); l.Take(Key{}, 0) != 0 {
			t.Fatal("the zero key was refused")
		}
		l.Refund(Key{}, 0, 0)
	}
}

func TestReturn(t *testing.T) {
	const second = int64(time.Second)
	for name, c := range map[string]struct {
		after int64 // when the first of three tokens is refunded
		want  int   // number of tokens right after that
	}{
		"at once":             {0, 1},
		"half has dripped":    {second / 2, 1},
		"all has dripped":     {second, 1},
		"long since":          {10 * second, 3},
		"after a lagging now": {-second, 1},
	} {
		l := NewLimiter(Budget{Burst: 3, Every: time.Second}, 1)
		for range 3 {
			l.Take(numbered(1), 0)
		}
		l.Refund(numbered(1), 0, c.after)
		got := 0
		for l.Take(numbered(1), max(0, c.after)) == 0 {
			got++
		}
		if got != c.want {
			t.Errorf("%s: %d tokens, want %d", name, got, c.want)
		}
	}
}

// A debt is at most one token, however many are spent at once.
func TestSpend(t *testing.T) {
	l := NewLimiter(Budget{Burst: 3, Every: time.Second}, 1)
	for range 100 {
		l.Spend(numbered(1), 0)
	}
	if wait := l.Take(numbered(1), 0); wait != 2*time.Second {
		t.Errorf("have to wait %v, want 2s", wait)
	}
}

// No budget overflows to none or to a small one.
func TestBudgetsDoNotOverflow(t *testing.T) {
	const year = 366 * 24 * time.Hour
	for _, b := range []Budget{
		{1_000_000, year},
		{1, 1 << 62},
		Budget{1_000_000, year}.dividedBy(1000),
		Budget{1_000_000, 1 << 62}.dividedBy(1000),
		Budget{1 << 30, time.Nanosecond}.multipliedBy(4),
	} {
		l := NewLimiter(b, 1)
		l.Spend(numbered(1), int64(year))
		if wait := l.Take(numbered(2), int64(year)); wait != 0 {
			t.Errorf("%+v: the first has to wait %v", b, wait)
		}
		if wait := l.Take(numbered(1), int64(year)); wait < 0 || b.Burst > 1 && b.Every < 1<<58 && wait != 0 {
			t.Errorf("%+v: the second has to wait %v", b, wait)
		}
	}
}

// exact is a limiter with unbounded memory.
type exact struct {
	every, depth int64
	until        map[Key]int64
}

func newExact(b Budget) *exact {
	return &exact{int64(b.Every), int64(b.Every) * int64(b.Burst), map[Key]int64{}}
}

func (e *exact) take(k Key, now int64) bool {
	until := max(now, e.until[k]) + e.every
	if until-now > e.depth {
		return false
	}
	e.until[k] = until
	return true
}

func (e *exact) spend(k Key, now int64) {
	e.until[k] = min(max(now, e.until[k])+e.every, now+e.depth+e.every)
}

func (e *exact) giveBack(k Key, taken, now int64) {
	e.until[k] -= max(0, e.every-max(0, now-taken))
}

// The limiter rejects everything that exact buckets reject. While no more keys are spending
// than it has places, it admits everything that they admit.
func FuzzLimiter(f *testing.F) {
	f.Add([]byte{0, 1, 0, 1, 0, 1, 3, 9, 0, 1, 2, 1, 1, 1})
	f.Add([]byte{0, 1, 0, 1, 0, 1, 4, 200, 0, 1, 4, 255, 0, 1, 3, 1, 0, 1})
	f.Fuzz(func(t *testing.T, ops []byte) {
		const enough = 256 // bounds the cost of a flood; more operations find no more
		ops = ops[:min(len(ops), enough)]
		b := Budget{Burst: 3, Every: time.Second}
		l, model := NewLimiter(b, 1), newExact(b)
		taken := map[Key]int64{}
		var now int64
		flood, crowded := 0, false
		for i := 0; i+1 < len(ops); i += 2 {
			k := numbered(int(ops[i+1]))
			switch ops[i] % 5 {
			case 0:
				got, want := l.Take(k, now) == 0, model.take(k, now)
				if got && !want || !got && want && !crowded {
					t.Fatalf("op %d: admitted %v, exact buckets say %v", i, got, want)
				}
				if got != want { // the model follows, to stay comparable
					model.until[k] -= model.every
				} else if got {
					taken[k] = now
				}
			case 1:
				l.Spend(k, now)
				model.spend(k, now)
			case 2:
				if at, ok := taken[k]; ok {
					l.Refund(k, at, now)
					model.giveBack(k, at, now)
					delete(taken, k)
				}
			case 3:
				now += int64(ops[i+1]) * int64(time.Second) / 16
			case 4:
				crowded = true // the smallest table has 512 places
				for range int(ops[i+1]) * 4 {
					flood++
					l.Take(numbered(1000+flood), now)
				}
			}
		}
	})
}

// An attacker with an empty bucket sends requests from a hundred thousand other addresses,
// repeatedly, to a table of 8,192 places. The limiter does not forget the attacker.
func TestFloodDoesNotEvictCounters(t *testing.T) {
	const addresses = 100_000
	b := Budget{Burst: 5, Every: time.Minute}
	l, model := NewLimiter(b, 1<<13), newExact(b)
	random := rand.New(rand.NewPCG(1, 2))
	attackers := make([]Key, 100)
	for i := range attackers {
		attackers[i] = numbered(-1 - i)
	}
	var now int64
	admitted, allowed, flooded := 0, 0, 0
	for range 5 {
		for range addresses {
			now += int64(time.Millisecond)
			if l.Take(numbered(random.IntN(addresses)), now) == 0 {
				flooded++
			}
			k := attackers[random.IntN(len(attackers))]
			want := model.take(k, now)
			got := l.Take(k, now) == 0
			if got && !want {
				t.Fatalf("admitted what an exact bucket refuses, %v in", time.Duration(now))
			}
			if want && !got {
				model.until[k] -= model.every
			}
			if got {
				admitted++
			}
		}
	}
	for range attackers {
		allowed += b.Burst + int(now/int64(b.Every))
	}
	t.Logf("%v, 500,000 requests from %d addresses: %d admitted; %d attackers asked 500,000 times: %d admitted, their budgets are %d",
		time.Duration(now), addresses, flooded, len(attackers), admitted, allowed)
	if admitted > allowed {
		t.Errorf("%d admitted, the budgets allow %d", admitted, allowed)
	}
}

// Every place is taken by a bucket that was emptied after the attacker's, which is the
// first candidate for eviction; or all places are taken before the attacker's first
// request.
func TestFullTableKeepsCounters(t *testing.T) {
	b := Budget{Burst: 5, Every: time.Minute}
	const attackers, second = 100, int64(time.Second)
	empty := func(l *Limiter, from, count int, now int64) (admitted int) {
		for i := range count {
			for range b.Burst + 1 {
				if l.Take(numbered(from+i), now) == 0 {
					admitted++
				}
			}
		}
		return admitted
	}
	t.Run("before", func(t *testing.T) {
		l := NewLimiter(b, 1<<13)
		empty(l, -attackers, attackers, 0)
		empty(l, 1, 100_000, second)
		if n := empty(l, -attackers, attackers, 2*second); n != 0 {
			t.Errorf("%d more were admitted", n)
		}
	})
	t.Run("after", func(t *testing.T) {
		l := NewLimiter(b, 1<<13)
		for i := range 16_000 { // fills the places, and hardly the sketch
			l.Take(numbered(1+i), 0)
		}
		n := empty(l, -attackers, attackers, second)
		if more := empty(l, -attackers, attackers, 2*second); n > attackers*b.Burst || more != 0 {
			t.Errorf("%d were admitted and then %d, want at most %d and none", n, more, attackers*b.Burst)
		}
		t.Logf("%d of %d were admitted where all places are taken", n, attackers*b.Burst)
	})
}

// Neither a flood of keys nor anything else allocates memory.
func TestMemoryIsBounded(t *testing.T) {
	l := NewLimiter(Budget{Burst: 3, Every: time.Hour}, 1<<10)
	n := newRecentKeys(1<<10, time.Hour)
	i := 0
	if allocs := testing.AllocsPerRun(100_000, func() {
		i++
		now := int64(i)
		l.Take(numbered(i), now)
		l.Spend(numbered(-i), now)
		l.Refund(numbered(i), now, now)
		l.Peek(numbered(i), now)
		n.add(numbered(i), now)
		n.has(numbered(i/2), now)
	}); allocs != 0 {
		t.Errorf("%v allocations for each new key", allocs)
	}
}

// Parallel requests are not admitted more often than sequential ones.
func TestConcurrentTakes(t *testing.T) {
	b := Budget{Burst: 100, Every: time.Hour}
	l := NewLimiter(b, 1)
	var admitted [4]atomic.Int64
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 4000 {
				which := (i + worker) % len(admitted)
				if l.Take(numbered(which), 0) == 0 {
					admitted[which].Add(1)
				}
				l.Take(numbered(1000+worker*4000+i), 0) // fills the table
			}
		})
	}
	wg.Wait()
	for i := range admitted {
		if n := admitted[i].Load(); n > int64(b.Burst) {
			t.Errorf("key %d: %d admitted, want at most %d", i, n, b.Burst)
		}
	}
}

func TestKnown(t *testing.T) {
	n := newRecentKeys(1, time.Hour)
	if n.has(numbered(1), 0) {
		t.Error("knows a key that was never added")
	}
	n.add(numbered(1), 0)
	n.add(numbered(1), int64(time.Minute))
	for at, want := range map[time.Duration]bool{0: true, time.Hour: true, 2 * time.Hour: false} {
		if got := n.has(numbered(1), int64(at)); got != want {
			t.Errorf("after %v: %v, want %v", at, got, want)
		}
	}
	for i := range 100_000 {
		n.add(numbered(10+i), int64(time.Minute)+int64(i))
	}
	remembered := 0
	for i := range 100_000 {
		if n.has(numbered(10+i), int64(30*time.Minute)) {
			remembered++
		}
	}
	if least := shards * slotsPerSet; remembered != least {
		t.Errorf("remembers %d of 100,000 keys in %d places", remembered, least)
	}
}

func BenchmarkTake(b *testing.B) {
	budget := Budget{Burst: 1 << 40 / int(time.Millisecond), Every: time.Millisecond}
	for _, c := range []struct {
		name string
		keys int
	}{{"one", 1}, {"thousands", 5000}, {"crowded", 1 << 20}} {
		b.Run(c.name, func(b *testing.B) {
			l := NewLimiter(budget, floodKeys)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				l.Take(numbered(i*7919%c.keys), int64(i)*100)
			}
		})
	}
}

func BenchmarkTakeParallel(b *testing.B) {
	l := NewLimiter(Budget{Burst: 100, Every: time.Millisecond}, floodKeys)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := rand.IntN(1 << 20); pb.Next(); i++ {
			l.Take(numbered(i%5000), int64(i)*100)
		}
	})
}
