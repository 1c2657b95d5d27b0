package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/postern-id/postern/server"
)

// readinessChecks returns the checks of GET /health/readiness: the server is ready if all of them
// succeed. The names are part of the reply.
func (h *app) readinessChecks() []server.Check {
	return []server.Check{
		{Name: "store", Run: holdSuccess(h.store.Ping, storeCheckPeriod)},
		{Name: "server", Run: h.checkNotDraining},
		{Name: "keys", Run: func(context.Context) error { return h.tokens.Ready() }},
	}
}

// storeCheckPeriod is how long a successful check of the store counts, so that a flood of requests
// writes little.
const storeCheckPeriod = 100 * time.Millisecond

// holdSuccess returns a check that does not run again for a period after a success.
func holdSuccess(run func(context.Context) error, period time.Duration) func(context.Context) error {
	begun := time.Now() // durations since then do not depend on changes of the clock
	var until atomic.Int64
	return func(ctx context.Context) error {
		if int64(time.Since(begun)) < until.Load() {
			return nil
		}
		err := run(ctx)
		if err == nil {
			until.Store(int64(time.Since(begun) + period))
		}
		return err
	}
}

// errDraining is why a draining server is not ready.
var errDraining = errors.New("the server is shutting down")

// checkNotDraining is the readiness check of the server itself.
func (h *app) checkNotDraining(context.Context) error {
	if h.draining.Load() {
		return errDraining
	}
	return nil
}
