package throttle

import "sync"

// checking knows which counters have guesses that this process is checking.
type checking struct {
	mu    sync.Mutex
	going map[string]int
}

// enter starts a check, whose end is leave. alone reports whether it is the only one at the counter.
func (c *checking) enter(counter string) (leave func(), alone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.going == nil {
		c.going = map[string]int{}
	}
	c.going[counter]++
	return func() { c.leave(counter) }, c.going[counter] == 1
}

func (c *checking) leave(counter string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.going[counter]--; c.going[counter] == 0 {
		delete(c.going, counter)
	}
}
