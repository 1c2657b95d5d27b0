package main

import (
	"context"
	"errors"
	"time"

	"github.com/postern-id/postern/server"
)

// readinessChecks returns the checks of GET /health/readiness: the server is ready if all of them
// succeed, except advisory ones. The names are part of the reply.
func (h *app) readinessChecks() []server.Check {
	return []server.Check{
		{Name: "store", Run: h.store.Ping, Holds: storeCheckPeriod},
		{Name: "server", Run: h.checkNotDraining, Local: true},
		{Name: "keys", Run: func(context.Context) error { return h.tokens.Ready() }, Local: true},
		{Name: "audit", Run: h.audit.check, Local: true, Advisory: true},
	}
}

// storeCheckPeriod is how long a successful check of the store counts, so that a flood of requests
// writes little.
const storeCheckPeriod = 100 * time.Millisecond

// errDraining is why a draining server is not ready.
var errDraining = errors.New("the server is shutting down")

// checkNotDraining is the readiness check of the server itself.
func (h *app) checkNotDraining(context.Context) error {
	if h.draining.Load() {
		return errDraining
	}
	return nil
}
