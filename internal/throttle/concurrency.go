package throttle

import "sync"

// Concurrency limits concurrent work, in all and per key. Work above a limit is rejected at once:
// while it waited it would take the memory that the limit saves.
type Concurrency struct {
	max, maxPerKey int

	mu    sync.Mutex
	all   int
	byKey map[string]int // of keys with work in progress
}

// NewConcurrency returns a limit without work.
func NewConcurrency(most, mostPerKey int) *Concurrency {
	return &Concurrency{max: most, maxPerKey: mostPerKey, byKey: map[string]int{}}
}

// Acquire counts work for a key; call leave at its end. Without a place leave is nil; own reports
// whether it is the key that has used up its share.
func (c *Concurrency) Acquire(key string) (leave func(), own bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if own = c.byKey[key] >= c.maxPerKey; own || c.all >= c.max {
		return nil, own
	}
	c.all++
	c.byKey[key]++
	return func() { c.release(key) }, false
}

func (c *Concurrency) release(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.byKey[key]--; c.byKey[key] == 0 {
		delete(c.byKey, key)
	}
}
