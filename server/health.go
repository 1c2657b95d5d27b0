package server

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Check is a condition for readiness. cmd/postern/readiness.go lists the conditions.
type Check struct {
	Name string // in the reply: "store", "keys"
	Run  func(ctx context.Context) error
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
	h := health{Status: statusUp, ServiceStatus: make([]serviceHealth, len(s.Checks))}
	status := http.StatusOK
	for i, check := range s.Checks {
		h.ServiceStatus[i] = s.check(r, check)
		if h.ServiceStatus[i].Status == statusDown {
			h.Status, status = statusDown, http.StatusServiceUnavailable
		}
	}
	return writeJSON(w, status, h)
}

// check runs a check. Concurrent requests share one run, so that a flood of them writes little.
func (s *server) check(r *http.Request, c Check) serviceHealth {
	ctx := r.Context()
	_, err, _ := s.checking.Do(c.Name, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout) // others may wait for it too
		defer cancel()
		return nil, c.Run(ctx)
	})
	if err != nil {
		s.Log.WarnContext(ctx, "not ready", slog.String("service", c.Name), slog.String("traceId", exchangeOf(r).traceID), slog.Any("error", cmp.Or(schemas.AsError(err).Err, err)))
		return serviceHealth{c.Name, statusDown}
	}
	return serviceHealth{c.Name, statusUp}
}
