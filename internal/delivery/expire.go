package delivery

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	expiryPeriod = time.Minute
	expiryBatch  = 100
)

// errExpired is the reason for giving up an expired delivery.
var errExpired = errors.New("it has expired")

// expire gives up expired deliveries once a minute, including those that no instance was
// running to send.
func (q *Queue) expire(ctx context.Context) {
	tick := time.NewTicker(expiryPeriod)
	defer tick.Stop()
	for {
		if err := q.giveUpExpired(ctx); err != nil && !errors.Is(err, context.Canceled) {
			q.Log.ErrorContext(ctx, "cannot expire deliveries", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (q *Queue) giveUpExpired(ctx context.Context) error {
	for {
		expired, err := q.Store.ExpiredDeliveries(ctx, q.now(), expiryBatch)
		if err != nil {
			return err
		}
		for _, d := range expired {
			if err := q.giveUp(ctx, d, errExpired); err != nil {
				return err
			}
		}
		if len(expired) < expiryBatch {
			return nil
		}
	}
}

// giveUp removes an undelivered delivery and records the event.
func (q *Queue) giveUp(ctx context.Context, d schemas.Delivery, why error) error {
	reason := "expired"
	if errors.Is(why, ErrRefused) {
		reason = "refused"
	}
	given, err := q.Store.GiveUpDelivery(ctx, d, schemas.Event{
		ID: schemas.NewID(), At: q.now(), Action: "delivery.given_up", Actor: schemas.Actor{Type: schemas.SystemActor},
		Resource: schemas.ResourceRef{Type: "delivery", ID: d.ID},
		Detail:   map[string]string{"kind": d.Kind, "target": d.Target, "attempts": strconv.Itoa(d.Attempts), "reason": reason},
	})
	if given {
		q.Log.WarnContext(ctx, "gave up a delivery", slog.Group("delivery", logAttributes(d)...), "error", why)
	}
	return err
}

// logAttributes are the loggable attributes of a delivery.
func logAttributes(d schemas.Delivery) []any {
	return []any{slog.String("id", d.ID), slog.String("kind", d.Kind), slog.String("target", d.Target), slog.Int("attempts", d.Attempts)}
}
