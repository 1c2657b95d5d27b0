package password

import (
	"fmt"
	"sync"
	"time"
)

const (
	// maxEqualized limits how long a wrong password waits. Verifications within the limits of the
	// package take about a second, and several if the processors are busy.
	maxEqualized = 10 * time.Second

	// equalizePeriod is how long an unusually long verification counts, at least; at most twice as
	// long.
	equalizePeriod = 10 * time.Minute

	// maxCosts bounds the costs whose times are kept.
	maxCosts = 64
)

// equalizer knows how long the most expensive verification takes. Of the time of a single one it cannot
// know how much the hash took, and how much the load of the machine. So it keeps the least time of each
// cost for good, and the longest time of all verifications for a while. The zero value knows none.
type equalizer struct {
	mu     sync.Mutex
	least  map[string]time.Duration // by the cost of imported hashes
	begun  time.Time                // the current period
	recent [2]time.Duration         // the longest times of the current period, and of the one before
}

// add adds the time of a verification that ended at now. cost identifies that of an imported hash; it is
// "" for a hash of the pool, whose time counts once there are imported hashes.
func (e *equalizer) add(now time.Time, cost string, took time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if cost == "" && len(e.least) == 0 {
		return
	}
	if least, known := e.least[cost]; cost != "" && (known && took < least || !known && len(e.least) < maxCosts) {
		if e.least == nil {
			e.least = map[string]time.Duration{}
		}
		e.least[cost] = took
	}
	e.turn(now)
	e.recent[0] = max(e.recent[0], took)
}

// longest returns how long a verification of a wrong password must take at now, zero without imported
// hashes.
func (e *equalizer) longest(now time.Time) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.turn(now)
	longest := max(e.recent[0], e.recent[1])
	for _, least := range e.least {
		longest = max(longest, least)
	}
	return min(longest, maxEqualized)
}

// turn begins a new period if the current one is over.
func (e *equalizer) turn(now time.Time) {
	switch over := now.Sub(e.begun); {
	case over >= 2*equalizePeriod:
		e.recent, e.begun = [2]time.Duration{}, now
	case over >= equalizePeriod:
		e.recent, e.begun = [2]time.Duration{0, e.recent[0]}, now
	}
}

// cost identifies what determines the time of a verification.
func (h Imported) cost() string {
	if h.Scheme == Bcrypt {
		return h.Text[:min(len(h.Text), len("$2b$10$"))]
	}
	return fmt.Sprint(h.Scheme, h.Hash, " ", h.Rounds, " ", h.Memory, " ", h.Parallelism)
}
