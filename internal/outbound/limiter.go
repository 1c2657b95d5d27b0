package outbound

import (
	"sync"
	"time"

	"github.com/postern-id/postern/schemas"
)

// limiter bounds how many requests are made at once, in all and to one host.
// Nobody waits in it: who waited would hold a request of their own meanwhile.
type limiter struct {
	mu      sync.Mutex
	max     int
	all     int
	perHost map[string]int
}

func newLimiter(most int) *limiter { return &limiter{max: most, perHost: make(map[string]int)} }

// acquire takes a place, which leave gives back.
func (l *limiter) acquire(host string) (leave func(), err error) {
	const share = 8 // of all places one host gets an eighth
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= l.max || l.perHost[host] >= max(1, l.max/share) {
		busy := schemas.Errorf(schemas.Unavailable, schemas.CodeOverloaded, "too many requests to other servers are under way: try again in a moment")
		busy.RetryAfter = time.Second
		return nil, busy
	}
	l.all++
	l.perHost[host]++
	return func() { l.release(host) }, nil
}

func (l *limiter) release(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.perHost[host]--; l.perHost[host] == 0 {
		delete(l.perHost, host)
	}
}
