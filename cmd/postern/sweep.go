package main

import (
	"context"
	"errors"
	"time"
)

// sweepExpired removes expired data once a minute.
func (h *app) sweepExpired(ctx context.Context) {
	started := time.Now()
	repeat(ctx, time.Minute, func(now time.Time) {
		h.sweepOnce(ctx, now.UTC())
		h.warnOfInstances(ctx, started, now)
	})
}

// repeat calls do in an interval until ctx is done.
func repeat(ctx context.Context, interval time.Duration, do func(now time.Time)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			do(now)
		}
	}
}

func (h *app) sweepOnce(ctx context.Context, now time.Time) {
	_ = h.store.Ping(ctx) // registers this instance; readiness reports a failure
	n, err := h.store.Sweep(ctx, now)
	old, trimming := h.trimEvents(ctx, now)
	if err := errors.Join(err, trimming, h.countPending(ctx, now)); err != nil && !errors.Is(err, context.Canceled) {
		h.log.Error("removing expired data", "error", err)
	}
	if n+old > 0 {
		h.log.Debug("swept", "rows", n, "events", old)
	}
}

// trimEvents removes audit events that are older than the retention. It removes whole days
// (UTC), so that the log contains one trim event per day.
func (h *app) trimEvents(ctx context.Context, now time.Time) (removed int, err error) {
	keep := h.cfg.Audit.Retention
	if keep == 0 {
		return 0, nil
	}
	if _, err := h.eventChain().Seal(ctx); err != nil {
		return 0, err
	}
	return h.store.TrimEvents(ctx, now.Add(-keep).Truncate(24*time.Hour), now)
}
