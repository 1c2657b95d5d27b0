package main

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// How long an event of this process waits to be sealed together with others, and how often the
// queue is read for the events of other processes.
const (
	sealDelay  = time.Second
	sealPeriod = 10 * time.Second
)

// sealEvents seals the recorded events, about a second after they were recorded.
func (h *app) sealEvents(ctx context.Context) {
	if err := h.rememberForwarded(); err != nil {
		h.log.Error("cannot read the last event in audit.file", "error", err)
	}
	for {
		h.sealOnce(ctx)
		select {
		case <-ctx.Done():
			return
		case <-h.store.Recorded():
		case <-time.After(sealPeriod):
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(sealDelay):
		}
	}
}

// sealOnce seals the recorded events, and writes the end of the log to the data folder.
func (h *app) sealOnce(ctx context.Context) {
	_, err := h.chain.Seal(ctx)
	h.reportBroken(ctx, sealerAlarm, err)
	switch end := h.chain.Known(); {
	case err != nil && !isBroken(err) && ctx.Err() == nil:
		h.log.Error("cannot seal the audit log", "error", err)
	case err == nil && end.Seq > 0:
		if err := h.recordEnd(end); err != nil {
			h.audit.warnOnce.Do(func() {
				h.log.Warn("the end of the audit log is not kept in the data folder: a server that starts does not notice that its newest events are missing", "error", err)
			})
		}
	}
}

// auditAlarm is why the audit log is not sealed or not forwarded.
type auditAlarm struct {
	mu       sync.Mutex
	broken   map[string]alarm // by the task that found it
	warnOnce sync.Once
}

type alarm struct {
	*store.ChainBroken
	reported time.Time
}

// sealerAlarm is the task that seals. The others are the sinks.
const sealerAlarm = "sealer"

// alarmPeriod is how often the log of the server repeats that the audit log is broken.
const alarmPeriod = time.Hour

// check is the check of readiness.
func (a *auditAlarm) check(context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, found := range a.broken {
		return found
	}
	return nil
}

// set sets the result of a task. It reports whether the problem is new, and whether to log it.
func (a *auditAlarm) set(task string, broken *store.ChainBroken) (isNew, logs bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before, was := a.broken[task]
	if broken == nil {
		delete(a.broken, task)
		return false, was
	}
	if a.broken == nil {
		a.broken = map[string]alarm{}
	}
	isNew = !was || before.Fault.Problem != broken.Fault.Problem
	if logs = isNew || time.Since(before.reported) > alarmPeriod; logs {
		before.reported = time.Now()
	}
	a.broken[task] = alarm{broken, before.reported}
	return isNew, logs
}

// reportBroken reports that a task has found a broken audit log, or no longer does. Users can still sign in.
func (h *app) reportBroken(ctx context.Context, task string, err error) {
	broken, is := errors.AsType[*store.ChainBroken](err)
	if err != nil && !is {
		return
	}
	isNew, logs := h.audit.set(task, broken)
	h.telemetry.Counted().SetAuditBroken(h.audit.check(ctx) != nil)
	switch {
	case is && logs:
		h.log.Error("the audit log was changed: it is neither sealed nor forwarded; users can still sign in", "task", task, "seal", broken.Fault.Seq, "problem", broken.Fault.Problem,
			"fix", "compare the log with its copies, then run `postern audit reanchor`")
	case logs:
		h.log.Info("the audit log goes on", "task", task)
	}
	if isNew {
		h.recordBroken(ctx, broken)
	}
}

// recordBroken records that the audit log is broken, unless that was recorded within a day.
func (h *app) recordBroken(ctx context.Context, broken *store.ChainBroken) {
	detail := map[string]string{"seal": strconv.FormatInt(broken.Fault.Seq, 10), "problem": broken.Fault.Problem}
	now := time.Now().UTC()
	last, err := h.store.Events(ctx, schemas.EventQuery{Action: "audit.broken", From: now.AddDate(0, 0, -1), Limit: 1})
	if err == nil && len(last) > 0 && last[0].Detail["problem"] == detail["problem"] {
		return
	}
	if err == nil {
		err = h.store.Apply(ctx, []schemas.Change{schemas.RecordEvent{Event: schemas.Event{
			ID: schemas.NewID(), At: now, Action: "audit.broken", Actor: schemas.Actor{Type: schemas.SystemActor}, Detail: detail,
		}}})
	}
	if err != nil && ctx.Err() == nil {
		h.log.Error("cannot record that the audit log is broken", "error", err)
	}
}

// reportLate reports events that were sealed much later than recorded: see store.SealGrace.
func (h *app) reportLate(from, to time.Time) {
	h.log.Error("audit events were sealed much later than they were recorded; unless no server ran, they may have been sealed before and queued again, to hide that another was removed",
		"from", from, "to", to, "fix", "compare the log with its copies; `postern audit verify` reports the place")
}
