package mcp

import (
	"cmp"
	"sync"
	"time"

	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
)

// The maximum number of concurrent requests. One takes about half a megabyte for a few
// milliseconds.
const (
	defaultMaxCalls          = 64
	defaultMaxCallsPerClient = 16
)

// limiter limits concurrent work. Requests above the limits fail at once: waiting would take the
// memory that the limit saves.
type limiter struct {
	max, maxPerClient int

	mu      *sync.Mutex
	all     int
	clients map[string]int // with a request in progress
}

func newLimiter(most, mostPerClient int) limiter {
	return limiter{
		max: cmp.Or(most, defaultMaxCalls), maxPerClient: cmp.Or(mostPerClient, defaultMaxCallsPerClient),
		mu: new(sync.Mutex), clients: map[string]int{},
	}
}

// acquire counts a request of a client; call leave at its end. The error has the class Throttled or
// Unavailable, with a retry time.
func (l *limiter) acquire(client string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.clients[client] >= l.maxPerClient:
		return nil, retryLaterError(schemas.Errorf(schemas.Throttled, throttle.CodeTooManyRequests,
			"%d requests of yours are under way; wait for one to be answered, then try again", l.maxPerClient))
	case l.all >= l.max:
		return nil, retryLaterError(schemas.Errorf(schemas.Unavailable, schemas.CodeOverloaded, "the tools have too much to do; try again in a second"))
	}
	l.all++
	l.clients[client]++
	return func() { l.release(client) }, nil
}

func (l *limiter) release(client string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.clients[client]--; l.clients[client] == 0 {
		delete(l.clients, client)
	}
}

func retryLaterError(e *schemas.Error) *schemas.Error {
	e.RetryAfter = time.Second
	return e
}
