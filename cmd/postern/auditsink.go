package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

const (
	sinkBatch = 100
	// sinkLease is how long an instance that was killed keeps others from forwarding.
	sinkLease = time.Minute
	// maxSinkDelay bounds the time until a failed batch is sent again.
	maxSinkDelay = time.Minute
)

// eventSink receives the events of the audit log in their order, each at least once. A batch that
// fails is sent again, also by another instance or after a restart.
type eventSink struct {
	name string                                             // of its place in the store
	last func() (end store.KnownEnd, found bool, err error) // returns the last event that it has; nil if that cannot be read
	send func(ctx context.Context, events []store.SealedEvent) error
}

// eventSinks returns the configured sinks.
func (h *app) eventSinks() (sinks []eventSink) {
	if file := h.cfg.Audit.File; file != "" {
		sinks = append(sinks, eventSink{name: "file", last: func() (store.KnownEnd, bool, error) { return lastForwarded(file) }, send: func(_ context.Context, events []store.SealedEvent) error { return appendEvents(file, events) }})
	}
	if target := h.cfg.Audit.Target; target != "" {
		sinks = append(sinks, eventSink{name: "target", send: func(ctx context.Context, events []store.SealedEvent) error { return h.postEvents(ctx, target, events) }})
	}
	return sinks
}

// checkSinks rejects sinks that can never receive an event.
func (h *app) checkSinks() error {
	if t := h.cfg.Audit.Target; t != "" && !slices.Contains(h.targets.Names(), t) {
		return fmt.Errorf("audit.target: there is no target %q: add it to http.targets%s", t, schemas.Hint(t, h.targets.Names()))
	}
	if h.cfg.Audit.File == "" {
		return nil
	}
	if err := appendEvents(h.cfg.Audit.File, nil); err != nil {
		return fmt.Errorf("audit.file: %w", err)
	}
	return nil
}

// forwardEvents forwards the sealed events to a sink every second until ctx is done.
func (h *app) forwardEvents(ctx context.Context, sink eventSink) {
	delay, next := time.Duration(0), time.Time{}
	repeat(ctx, time.Second, func(now time.Time) {
		if now.Before(next) {
			return
		}
		if err := h.forward(ctx, sink, now); err != nil && ctx.Err() == nil {
			delay = min(max(2*delay, time.Second), maxSinkDelay)
			next = now.Add(delay)
			h.log.Warn("cannot forward the audit log; the server tries again", "sink", sink.name, "error", err)
			return
		}
		delay, next = 0, time.Time{}
	})
	release, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = h.store.ReleaseSink(release, sink.name, time.Now()) // otherwise the lease ends by itself
}

// forward sends all events that the sink has not received. It renews the lease with each batch. It sends
// nothing from a log that no longer contains what the sink has.
func (h *app) forward(ctx context.Context, sink eventSink, now time.Time) error {
	if err := h.checkForwarded(ctx, sink); err != nil {
		return err
	}
	for {
		seq, ok, err := h.store.ClaimSink(ctx, sink.name, now, now.Add(sinkLease))
		if err != nil || !ok {
			return err
		}
		events, last, err := h.store.SealedEvents(ctx, seq, sinkBatch)
		if err != nil || last == seq {
			return err
		}
		if len(events) > 0 {
			err := sink.send(ctx, events)
			h.telemetry.Counted().CountForwarded(sink.name, err)
			if err != nil {
				return err
			}
		}
		if err := h.store.AdvanceSink(ctx, sink.name, last); err != nil {
			return err
		}
		now = time.Now()
	}
}

// checkForwarded checks that the log contains the last event that a sink has.
func (h *app) checkForwarded(ctx context.Context, sink eventSink) error {
	if sink.last == nil {
		return nil
	}
	end, found, err := sink.last()
	if err != nil || !found {
		return err
	}
	err = h.chain.Contains(ctx, end)
	h.reportBroken(ctx, sink.name, err)
	return err
}

// appendEvents appends events to a file as JSON lines and returns when they are on disk. Each
// call opens the file, so that it can be rotated. A line that an interrupted write left behind ends
// first.
func appendEvents(path string, events []store.SealedEvent) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	var lines bytes.Buffer
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > 0 && len(events) > 0 {
		end := make([]byte, 1)
		if _, err := f.ReadAt(end, info.Size()-1); err == nil && end[0] != '\n' {
			lines.WriteByte('\n')
		}
	}
	encoder := json.NewEncoder(&lines)
	for _, e := range events {
		if err := encoder.Encode(e); err != nil {
			return err
		}
	}
	if _, err := f.Write(lines.Bytes()); err != nil || lines.Len() == 0 {
		return err
	}
	return f.Sync()
}

// postEvents sends events to a target. Its status must be 2xx.
func (h *app) postEvents(ctx context.Context, target string, events []store.SealedEvent) error {
	body, err := json.Marshal(map[string]any{"auditEvents": events})
	if err != nil {
		return err
	}
	id := "audit-" + strconv.FormatInt(events[0].Seq, 10) + "-" + strconv.FormatInt(events[len(events)-1].Seq, 10)
	reply, err := h.targets.Call(ctx, schemas.Call{ID: id, Target: target, Method: http.MethodPost, Path: "/audit-events", Body: body})
	if err != nil {
		return err
	}
	if reply.Status < 200 || reply.Status > 299 {
		return fmt.Errorf("the target %q answered with %d, expected 2xx", target, reply.Status)
	}
	return nil
}
