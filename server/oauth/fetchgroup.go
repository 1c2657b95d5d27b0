package oauth

import (
	"context"
	"errors"
	"sync"
	"time"
)

// fetchGroup are the documents that are being fetched. Who asks for one that is on
// its way waits for it; who asks for one that has just failed is told so again, so
// that this server is nobody's means to call another one without end.
type fetchGroup struct {
	mu      sync.Mutex
	running map[string]*documentFetch
}

// documentFetch is one fetch. Err is what came of it once done is closed.
type documentFetch struct {
	done chan struct{}
	err  error
	over time.Time // when it may be tried again
}

const (
	retryAfter = 5 * time.Second // a fetch that has failed
	maxFetches = 1000            // that are remembered
)

// once does what is to be done for an id, unless that is being done already. It goes
// on for those who wait when the first of them goes away.
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

// join returns the fetch for an id, and whether the caller is to make it.
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

// errUnfinishedReply is what those are told who wait for one that panics.
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

// ended reports whether it is over, and may be tried again.
func (at *documentFetch) ended() bool {
	select {
	case <-at.done:
		return !time.Now().Before(at.over)
	default:
		return false
	}
}

// removeFinished forgets those that are over when there are many.
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
