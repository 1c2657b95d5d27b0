package throttle

import "time"

// Budget is what each key of a limiter may spend: Burst at once, and one more
// every Every. The zero Budget sets no limit.
type Budget struct {
	Burst int
	Every time.Duration
}

// forever is longer than any process runs: what takes longer never happens, and
// moments stay far from where they would overflow.
const forever time.Duration = 1 << 60

func (b Budget) isUnlimited() bool { return b.Burst <= 0 || b.Every <= 0 }

// multipliedBy is a budget n times as loose.
func (b Budget) multipliedBy(n int) Budget {
	if b.isUnlimited() {
		return b
	}
	return Budget{Burst: b.Burst * n, Every: max(1, b.Every/time.Duration(n))}
}

// dividedBy is the share of each of n that spend a budget together. Each has one to
// spend at least, so that the shares of a budget smaller than n add up to more.
func (b Budget) dividedBy(n int) Budget {
	return Budget{Burst: (b.Burst + n - 1) / n, Every: min(b.Every, forever/time.Duration(n)) * time.Duration(n)}
}

// Limiter keeps a token bucket for each key, in memory of a fixed size. A bucket
// is one moment, the theoretical arrival time of the generic cell rate algorithm
// (ITU-T I.371 Annex A): that at which the bucket will be full again. It is late
// by Every for each token spent, and may be late by Burst × Every. A bucket whose
// moment is over is full, which is what a key that was never seen has; so it is
// forgotten without loss, and no other ever is.
//
// It refuses whatever exact buckets would refuse, and while its memory does for
// the keys that are spending it admits whatever they would admit. When there are
// more, keys that find no place share cells with others (see sketch), and may be
// refused for what those have spent.
//
// Moments are nanoseconds on the caller's clock, from 0 on. Methods may be called
// by any number of goroutines.
type Limiter struct {
	every    int64 // a token, in nanoseconds
	depth    int64 // a full bucket, in nanoseconds
	table    *table
	overflow *sketch
}

// NewLimiter makes a limiter with places for at least entries keys. It returns
// nil for the zero Budget; a nil Limiter admits everything.
func NewLimiter(b Budget, entries int) *Limiter {
	if b.isUnlimited() {
		return nil
	}
	every := int64(min(b.Every, forever))
	depth := every * min(int64(b.Burst), int64(forever)/every)
	return &Limiter{every: every, depth: depth, table: newTable(entries), overflow: newSketch()}
}

// Take spends a token of the key's bucket and returns 0. When there is none left
// it spends nothing and returns how long it takes until there is, so that asking
// over and over does not put that off.
func (l *Limiter) Take(k Key, now int64) time.Duration { return l.ask(k, now, true) }

// Peek returns what Take would, and spends nothing.
func (l *Limiter) Peek(k Key, now int64) time.Duration { return l.ask(k, now, false) }

func (l *Limiter) ask(k Key, now int64, spend bool) time.Duration {
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
		l.keep(set, at, id, k, now, until)
	}
	return 0
}

// Spend takes a token even if there is none left: for what turns out to have to
// be paid for when it has been done already. A bucket owes one token at most.
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
	l.keep(set, at, id, k, now, min(until+l.every, now+l.depth+l.every))
}

// keep notes the moment of a key: in its slot, in one whose bucket is full, or in
// the sketch when every bucket of the set is being spent. The attack that this
// stops is to make the limiter forget: whoever has emptied his bucket would come
// from a hundred thousand addresses once, until his own slot is given away. Here
// they share what is left, and his stays.
func (l *Limiter) keep(set *set, at *slot, id uint64, k Key, now, until int64) {
	if at == nil {
		at = set.oldest()
		if at.until > now {
			l.overflow.put(k, until)
			return
		}
		at.id = id
	}
	at.until = until
}

// Return gives back a token that was taken at a moment, less what has dripped
// back since: a bucket that was full again in the meantime would else get it
// twice. What has gone into the sketch stays there, as others share its cells.
func (l *Limiter) Return(k Key, taken, now int64) {
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
