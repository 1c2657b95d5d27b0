package server

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Check is a condition for readiness. cmd/postern/readiness.go lists the conditions.
type Check struct {
	Name string // in the reply: "store", "keys"
	Run  func(ctx context.Context) error
	// Holds is how long a success counts, so that a flood of requests causes little work.
	Holds time.Duration
	// Local states that Run waits for nothing. Other checks end after two seconds, and concurrent
	// requests share one run.
	Local bool
	// Advisory states that the server is ready even if the check fails. The reply shows the failure.
	Advisory bool
}

// heldCheck is a check with its last success.
type heldCheck struct {
	Check
	since time.Time    // durations since then do not depend on changes of the clock
	holds atomic.Int64 // until when the success counts, as a duration since then
}

func newHeldChecks(checks []Check) []*heldCheck {
	list := make([]*heldCheck, len(checks))
	for i, c := range checks {
		list[i] = &heldCheck{Check: c, since: time.Now()}
	}
	return list
}

// checkTimeout is the time after which a check fails.
const checkTimeout = 2 * time.Second

const (
	statusUp   = "UP"
	statusDown = "DOWN"
)

// health is the body of both health endpoints.
type health struct {
	Status        string          `json:"status"`
	ServiceStatus []serviceHealth `json:"serviceStatus,omitempty"`
}

type serviceHealth struct {
	ServiceName string `json:"serviceName"`
	Status      string `json:"status"`
}

// liveness reports that the process answers. It checks nothing else: a restart would not repair an
// unavailable store.
func (s *server) liveness(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, health{Status: statusUp})
}

// readiness reports whether requests can be served, and which checks fail. The log has the reasons.
func (s *server) readiness(w http.ResponseWriter, r *http.Request) error {
	h := health{Status: statusUp, ServiceStatus: make([]serviceHealth, len(s.checks))}
	status := http.StatusOK
	for i, c := range s.checks {
		h.ServiceStatus[i] = s.check(r, c)
		if h.ServiceStatus[i].Status == statusDown && !c.Advisory {
			h.Status, status = statusDown, http.StatusServiceUnavailable
		}
	}
	return writeJSON(w, status, h)
}

// check reports whether a check succeeds.
func (s *server) check(r *http.Request, c *heldCheck) serviceHealth {
	err := s.runCheck(r.Context(), c)
	switch {
	case err != nil && c.Advisory:
		return serviceHealth{c.Name, statusDown}
	case err != nil:
		s.Log.WarnContext(r.Context(), "not ready", slog.String("service", c.Name), slog.String("traceId", exchangeOf(r).traceID), slog.Any("error", cmp.Or(schemas.AsError(err).Err, err)))
		return serviceHealth{c.Name, statusDown}
	}
	return serviceHealth{c.Name, statusUp}
}

// runCheck runs a check unless its last success counts.
func (s *server) runCheck(ctx context.Context, c *heldCheck) error {
	if c.Local {
		return c.Run(ctx)
	}
	if int64(time.Since(c.since)) < c.holds.Load() {
		return nil
	}
	done := s.checking.DoChan(c.Name, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout) // others may wait for it too
		defer cancel()
		err := c.Run(ctx)
		if err == nil {
			c.holds.Store(int64(time.Since(c.since) + c.Holds))
		}
		return nil, err
	})
	select {
	case result := <-done:
		return result.Err
	case <-time.After(2 * checkTimeout): // a write that has begun does not end with its context
		return fmt.Errorf("there is no result after %v", 2*checkTimeout)
	}
}
