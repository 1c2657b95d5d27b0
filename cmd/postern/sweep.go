package main

import (
	"context"
	"errors"
	"time"
)

// sweepExpired removes what has expired, once a minute.
func (h *app) sweepExpired(ctx context.Context) {
	started := time.Now()
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			h.sweepOnce(ctx, now.UTC())
			h.warnOfInstances(ctx, started, now)
		}
	}
}

func (h *app) sweepOnce(ctx context.Context, now time.Time) {
	_ = h.store.Ping(ctx) // counts this instance; readiness reports a failure
	n, err := h.store.Sweep(ctx, now)
	old, trimming := h.trimEvents(ctx, now)
	if err := errors.Join(err, trimming, h.recount(ctx, now)); err != nil && !errors.Is(err, context.Canceled) {
		h.log.Error("sweeping what has expired", "error", err)
	}
	if n+old > 0 {
		h.log.Debug("swept", "rows", n, "events", old)
	}
}

// trimEvents removes the events of the audit log that are older than it keeps them. They
// go by whole days (UTC), so that the log says once a day that it was trimmed.
func (h *app) trimEvents(ctx context.Context, now time.Time) (removed int, err error) {
	keep := time.Duration(h.cfg.Audit.Retention)
	if keep == 0 {
		return 0, nil
	}
	return h.store.TrimEvents(ctx, now.Add(-keep).Truncate(24*time.Hour), now)
}
