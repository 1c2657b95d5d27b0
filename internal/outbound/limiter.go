package outbound

import (
	"sync"
	"time"

	"github.com/postern-id/postern/schemas"
)

// limiter bounds the concurrent requests, in all and per host. Callers never wait: a
// waiting caller would keep its own request open.
type limiter struct {
	mu      sync.Mutex
	max     int
	all     int
	perHost map[string]int
}

func newLimiter(most int) *limiter { return &limiter{max: most, perHost: make(map[string]int)} }

// acquire takes a place. leave releases it.
func (l *limiter) acquire(host string) (leave func(), err error) {
	const share = 8 // one host gets an eighth of all places
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= l.max || l.perHost[host] >= max(1, l.max/share) {
		busy := schemas.Errorf(schemas.Unavailable, schemas.CodeOverloaded, "too many requests to other servers are in progress: try again in a moment")
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
