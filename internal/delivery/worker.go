package delivery

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/postern-id/postern/schemas"
)

// worker sends the deliveries of one kind. Its members belong to the goroutine that runs
// it; senders report the target of a finished delivery over done.
type worker struct {
	queue   *Queue
	kind    string
	sender  Sender
	running int
	busy    map[string]int // concurrent deliveries by target
	done    chan string
	wake    chan struct{} // holds a value when a delivery may be due
}

// wakeUp lets the worker look for due deliveries.
func (w *worker) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default: // it will look anyway
	}
}

func (w *worker) run(ctx context.Context) {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	tick := time.NewTicker(w.queue.Poll)
	defer tick.Stop()
	for {
		w.fill(ctx, sending)
		select {
		case target := <-w.done:
			w.finish(target)
		case <-w.wake:
		case <-tick.C:
		case <-ctx.Done():
			hurry := time.AfterFunc(w.queue.Grace, cancel)
			defer hurry.Stop()
			for w.running > 0 {
				w.finish(<-w.done)
			}
			return
		}
	}
}

func (w *worker) finish(target string) {
	w.running--
	if w.busy[target]--; w.busy[target] == 0 {
		delete(w.busy, target)
	}
}

// fill starts sending due deliveries up to the limit.
func (w *worker) fill(ctx, sending context.Context) {
	q := w.queue
	for w.running < q.Parallel && ctx.Err() == nil {
		now := q.now()
		d, err := q.Store.ClaimDelivery(ctx, w.kind, w.busyTargets(), now, now.Add(q.lease()))
		if err != nil && !errors.Is(err, context.Canceled) {
			q.Log.ErrorContext(ctx, "cannot claim deliveries", "kind", w.kind, "error", err)
		}
		if d == nil {
			return
		}
		w.running++
		w.busy[d.Target]++
		go func() {
			w.send(sending, *d)
			w.done <- d.Target
		}()
	}
}

// busyTargets returns the targets that are at their limit.
func (w *worker) busyTargets() (targets []string) {
	for target, n := range w.busy {
		if target != "" && n >= w.queue.PerTarget {
			targets = append(targets, target)
		}
	}
	return targets
}

// send makes one attempt and records the result. If the result cannot be recorded, the
// delivery is due again when the claim expires.
func (w *worker) send(ctx context.Context, d schemas.Delivery) {
	q := w.queue
	bounded, cancel := context.WithTimeout(ctx, q.Timeout)
	defer cancel()
	sent := w.sender.Send(bounded, d)
	ctx = context.WithoutCancel(ctx) // the result is recorded even during shutdown
	var noting error
	switch again := q.now().Add(q.Backoff(d.Attempts)); {
	case sent == nil:
		noting = q.Store.EndDelivery(ctx, d.ID)
	case errors.Is(sent, ErrRefused):
		noting = q.giveUp(ctx, d, sent)
	case !again.Before(d.ExpiresAt):
		noting = q.giveUp(ctx, d, sent)
	default:
		if noting = q.Store.PutOffDelivery(ctx, d, again); noting == nil {
			time.AfterFunc(again.Sub(q.now()), w.wakeUp)
			q.Log.InfoContext(ctx, "a delivery failed and will be retried", slog.Group("delivery", logAttributes(d)...), "again", again, "error", sent)
		}
	}
	if noting != nil {
		q.Log.ErrorContext(ctx, "cannot record the result of a delivery", slog.Group("delivery", logAttributes(d)...), "error", noting)
	}
}
