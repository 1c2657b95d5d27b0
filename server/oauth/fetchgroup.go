package oauth

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// fetchGroup deduplicates fetches of documents. Concurrent requests for a document share one fetch,
// and a recent failure is returned again, so that a client cannot use this server to flood another.
type fetchGroup struct {
	running  singleflight.Group
	mu       sync.Mutex
	failures map[string]fetchFailure // by id
}

type fetchFailure struct {
	err   error
	until time.Time // time of the next try
}

const (
	retryAfter  = 5 * time.Second // how long a failure is remembered
	maxFailures = 1000            // remembered failures
)

// once fetches a document unless a fetch is in progress. The fetch continues for the others if its
// first caller leaves.
func (g *fetchGroup) once(ctx context.Context, id string, fetch func(context.Context) error) error {
	if err := g.lastFailure(id); err != nil {
		return err
	}
	_, err, _ := g.running.Do(id, func() (any, error) {
		err := fetch(context.WithoutCancel(ctx))
		if err != nil {
			g.remember(id, err)
		}
		return nil, err
	})
	return err
}

func (g *fetchGroup) lastFailure(id string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if last := g.failures[id]; time.Now().Before(last.until) {
		return last.err
	}
	return nil
}

// remember stores a failure. With too many it forgets the others.
func (g *fetchGroup) remember(id string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failures == nil || len(g.failures) >= maxFailures {
		g.failures = map[string]fetchFailure{}
	}
	g.failures[id] = fetchFailure{err, time.Now().Add(retryAfter)}
}
