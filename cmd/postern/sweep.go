package main

import (
	"context"
	"errors"
	"time"

	"github.com/postern-id/postern/internal/store"
)

// firstSweep is how long a sweep waits after a start: little, because a server that is killed every few seconds
// must remove expired data too, but not at once, because the first requests come then.
const firstSweep = 2 * time.Second

// sweepExpired removes expired data soon after the start, and then once a minute.
func (h *app) sweepExpired(ctx context.Context) {
	started := time.Now()
	select {
	case <-ctx.Done():
		return
	case <-time.After(firstSweep):
		h.sweepOnce(ctx, time.Now().UTC())
	}
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
	if isBroken(trimming) {
		trimming = nil // sealOnce reports it
	}
	if err := errors.Join(err, trimming, h.countPending(ctx, now)); err != nil && !errors.Is(err, context.Canceled) {
		h.log.Error("cannot remove expired data", "error", err)
	}
	if n+old > 0 {
		h.log.Debug("swept", "rows", n, "events", old)
	}
}

// trimEvents removes audit events that are older than the retention, once the sinks have received
// them. Events that are older by the grace too are removed in any case. It removes whole days (UTC),
// so that the log contains one trim event per day. It removes nothing from a broken log, which is evidence.
func (h *app) trimEvents(ctx context.Context, now time.Time) (removed int, err error) {
	keep := h.cfg.Audit.Retention
	if keep == 0 {
		return 0, nil
	}
	if _, err := h.chain.Seal(ctx); err != nil {
		return 0, err
	}
	trim := store.Trim{Now: now, Retention: keep, Before: now.Add(-keep).Truncate(24 * time.Hour), UndeliveredBefore: now.Add(-keep - h.cfg.Audit.SinkGrace).Truncate(24 * time.Hour)}
	for _, sink := range h.eventSinks() {
		trim.Sinks = append(trim.Sinks, sink.name)
	}
	done, err := h.chain.Trim(ctx, trim)
	for sink, events := range done.Undelivered {
		h.log.Error("removed audit events that a sink has not received: they were older than audit.retention and audit.sink_grace",
			"sink", sink, "events", events)
	}
	return done.Events, err
}
