package throttle

import "time"

// Budget is the number of tokens that each key of a limiter may spend: Burst at once, and one more
// per Every. The zero Budget sets no limit.
type Budget struct {
	Burst int
	Every time.Duration
}

// maxEvery is longer than any process runs. It caps durations so that moments cannot
// overflow.
const maxEvery time.Duration = 1 << 60

func (b Budget) isUnlimited() bool { return b.Burst <= 0 || b.Every <= 0 }

// multipliedBy returns a budget n times as large.
func (b Budget) multipliedBy(n int) Budget {
	if b.isUnlimited() {
		return b
	}
	return Budget{Burst: b.Burst * n, Every: max(1, b.Every/time.Duration(n))}
}

// dividedBy returns the share of each of n processes that spend a budget together. Each
// share is at least one, so the shares of a budget smaller than n add up to more.
func (b Budget) dividedBy(n int) Budget {
	return Budget{Burst: (b.Burst + n - 1) / n, Every: min(b.Every, maxEvery/time.Duration(n)) * time.Duration(n)}
}

// Limiter stores a token bucket for each key, in memory of a fixed size. A bucket is one
// moment, the theoretical arrival time of the generic cell rate algorithm (ITU-T I.371
// Annex A): when the bucket will be full again. Each spent token moves it by Every, up to
// Burst × Every. A bucket whose moment has passed is full, like that of an unknown key; so
// forgetting it loses nothing, and the limiter forgets no other.
//
// It rejects everything that exact buckets would reject. While its memory suffices for the
// keys that are spending, it admits everything that they would admit. When there are more
// keys, those without a place share cells with others (see sketch), and may be rejected
// because of them.
//
// Moments are nanoseconds on the caller's clock, starting at 0. Methods are safe for
// concurrent use.
type Limiter struct {
	every    int64 // duration of a token in nanoseconds
	depth    int64 // duration of a full bucket in nanoseconds
	table    *table
	overflow *sketch
}

// NewLimiter makes a limiter with places for at least entries keys. It returns nil for the
// zero Budget; a nil Limiter admits everything.
func NewLimiter(b Budget, entries int) *Limiter {
	if b.isUnlimited() {
		return nil
	}
	every := int64(min(b.Every, maxEvery))
	depth := every * min(int64(b.Burst), int64(maxEvery)/every)
	return &Limiter{every: every, depth: depth, table: newTable(entries), overflow: newSketch()}
}

// Take spends a token of the key's bucket and returns 0. If the bucket is empty it spends
// nothing and returns how long to wait; repeated calls do not extend the wait.
func (l *Limiter) Take(k Key, now int64) time.Duration { return l.check(k, now, true) }

// Peek returns what Take would return, without spending.
func (l *Limiter) Peek(k Key, now int64) time.Duration { return l.check(k, now, false) }

func (l *Limiter) check(k Key, now int64, spend bool) time.Duration {
	if l == nil || k == (Key{}) {
		return 0
	}
	shard, set, id := l.table.lock(k)
	defer shard.mu.Unlock()
	at := set.find(id)
	until := now
	if at != nil {
		until = max(until, at.until)
	} else {
		until = l.overflow.get(k, now)
	}
	until += l.every
	if over := until - now - l.depth; over > 0 {
		return time.Duration(over)
	}
	if spend {
		l.store(set, at, id, k, now, until)
	}
	return 0
}

// Spend takes a token even from an empty bucket: for costs that are known only after the
// fact. A bucket owes one token at most.
func (l *Limiter) Spend(k Key, now int64) {
	if l == nil || k == (Key{}) {
		return
	}
	shard, set, id := l.table.lock(k)
	defer shard.mu.Unlock()
	at := set.find(id)
	until := l.overflow.get(k, now)
	if at != nil {
		until = max(now, at.until)
	}
	l.store(set, at, id, k, now, min(until+l.every, now+l.depth+l.every))
}

// store records the moment of a key: in its slot, in a slot whose bucket is full, or in the
// sketch if every bucket of the set is being spent. This prevents eviction: an attacker
// with an empty bucket could otherwise send one request from each of a hundred thousand
// addresses until their own slot is reused. Here those addresses share the remaining cells,
// and the slot stays.
func (l *Limiter) store(set *set, at *slot, id uint64, k Key, now, until int64) {
	if at == nil {
		at = set.oldest()
		if at.until > now {
			l.overflow.raise(k, until)
			return
		}
		at.id = id
	}
	at.until = until
}

// Refund refunds a token that was taken at a moment, less what has been refilled since. A
// bucket that became full in the meantime would otherwise be refunded twice. Tokens in the
// sketch are not refunded, because its cells are shared.
func (l *Limiter) Refund(k Key, taken, now int64) {
	back := int64(0)
	if l != nil {
		back = l.every - max(0, now-taken)
	}
	if back <= 0 || k == (Key{}) {
		return
	}
	shard, set, id := l.table.lock(k)
	defer shard.mu.Unlock()
	if at := set.find(id); at != nil {
		at.until -= back
	}
}
