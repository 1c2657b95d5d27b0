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
}

func (l *worker) run(ctx context.Context) {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	tick := time.NewTicker(l.queue.Poll)
	defer tick.Stop()
	for {
		l.fill(ctx, sending)
		select {
		case target := <-l.done:
			l.finish(target)
		case <-tick.C:
		case <-ctx.Done():
			hurry := time.AfterFunc(l.queue.Grace, cancel)
			defer hurry.Stop()
			for l.running > 0 {
				l.finish(<-l.done)
			}
			return
		}
	}
}

func (l *worker) finish(target string) {
	l.running--
	if l.busy[target]--; l.busy[target] == 0 {
		delete(l.busy, target)
	}
}

// fill starts sending due deliveries up to the limit.
func (l *worker) fill(ctx, sending context.Context) {
	q := l.queue
	for l.running < q.Parallel && ctx.Err() == nil {
		now := q.now()
		d, err := q.Store.ClaimDelivery(ctx, l.kind, l.busyTargets(), now, now.Add(q.lease()))
		if err != nil && !errors.Is(err, context.Canceled) {
			q.Log.ErrorContext(ctx, "claiming deliveries", "kind", l.kind, "error", err)
		}
		if d == nil {
			return
		}
		l.running++
		l.busy[d.Target]++
		go func() {
			l.send(sending, *d)
			l.done <- d.Target
		}()
	}
}

// busyTargets returns the targets that are at their limit.
func (l *worker) busyTargets() (targets []string) {
	for target, n := range l.busy {
		if target != "" && n >= l.queue.PerTarget {
			targets = append(targets, target)
		}
	}
	return targets
}

// send makes one attempt and records the result. If the result cannot be recorded, the
// delivery is due again when the claim expires.
func (l *worker) send(ctx context.Context, d schemas.Delivery) {
	q := l.queue
	bounded, cancel := context.WithTimeout(ctx, q.Timeout)
	defer cancel()
	sent := l.sender.Send(bounded, d)
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
		q.Log.InfoContext(ctx, "a delivery failed and will be retried", slog.Group("delivery", logAttributes(d)...), "again", again, "error", sent)
		noting = q.Store.PutOffDelivery(ctx, d, again)
	}
	if noting != nil {
		q.Log.ErrorContext(ctx, "recording the result of a delivery", slog.Group("delivery", logAttributes(d)...), "error", noting)
	}
}
