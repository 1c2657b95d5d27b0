package oauth

import (
	"context"
	"errors"
	"sync"
	"time"
)

// fetchGroup deduplicates fetches of documents. Concurrent requests for a document share one fetch,
// and a recent failure is returned again, so that a client cannot use this server to flood another.
type fetchGroup struct {
	mu      sync.Mutex
	running map[string]*documentFetch
}

// documentFetch is one fetch. Err is its result once done is closed.
type documentFetch struct {
	done chan struct{}
	err  error
	over time.Time // time of the next try
}

const (
	retryAfter = 5 * time.Second // how long a failure is remembered
	maxFetches = 1000            // remembered fetches
)

// once fetches a document unless a fetch is in progress. The fetch continues for the others if its
// first caller leaves.
func (m *fetchGroup) once(ctx context.Context, id string, do func(context.Context) error) error {
	at, mine := m.join(id)
	if mine {
		defer m.leave(id, at)
		at.err = do(context.WithoutCancel(ctx))
		return at.err
	}
	select {
	case <-at.done:
		return at.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join returns the fetch for an id, and whether the caller must do it.
func (m *fetchGroup) join(id string) (at *documentFetch, mine bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at = m.running[id]; at != nil && !at.ended() {
		return at, false
	}
	m.removeFinished()
	at = &documentFetch{done: make(chan struct{}), err: errUnfinishedReply}
	m.running[id] = at
	return at, true
}

// errUnfinishedReply is the result of a fetch that panicked.
var errUnfinishedReply = errors.New("fetching a client's metadata document has broken off")

func (m *fetchGroup) leave(id string, at *documentFetch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at.over = time.Now().Add(retryAfter)
	close(at.done)
	if at.err == nil {
		delete(m.running, id)
	}
}

// ended reports whether it is over and can be tried again.
func (at *documentFetch) ended() bool {
	select {
	case <-at.done:
		return !time.Now().Before(at.over)
	default:
		return false
	}
}

// removeFinished removes old results if there are many.
func (m *fetchGroup) removeFinished() {
	if m.running == nil {
		m.running = map[string]*documentFetch{}
	}
	if len(m.running) < maxFetches {
		return
	}
	for id, at := range m.running {
		select {
		case <-at.done:
			delete(m.running, id)
		default:
		}
	}
}
