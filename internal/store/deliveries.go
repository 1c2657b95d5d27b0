package store

import (
	"context"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	deliveryColumns = `id, kind, target, body, attempts, not_before, expires_at, created_at`

	insertDelivery = `INSERT INTO deliveries (` + deliveryColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`

	// PostgreSQL evaluates the condition again on the row it writes, so only one of several
	// concurrent claims succeeds.
	claimDelivery = `UPDATE deliveries SET attempts = attempts + 1, not_before = ?
		WHERE id = ? AND attempts = ? AND not_before <= ? RETURNING ` + deliveryColumns

	putOffDelivery = `UPDATE deliveries SET not_before = ? WHERE id = ? AND attempts = ?`
	deleteDelivery = `DELETE FROM deliveries WHERE id = ?`
	giveUpDelivery = `DELETE FROM deliveries WHERE id = ? AND attempts = ?`

	selectExpiredDeliveries = `SELECT ` + deliveryColumns + ` FROM deliveries WHERE expires_at <= ? AND not_before <= ?
		ORDER BY expires_at LIMIT ?`
)

func (t *Tx) queueDelivery(d schemas.Delivery) error {
	if d.NotBefore.IsZero() {
		d.NotBefore = d.CreatedAt
	}
	t.did.queued = true
	return t.later(insertDelivery, d.ID, d.Kind, d.Target, nonNilBytes(d.Body), d.Attempts, toMicros(d.NotBefore), toMicros(d.ExpiresAt), toMicros(d.CreatedAt))
}

// ClaimDelivery claims the delivery of a kind that has been due longest, except those to busy
// targets, until the given time. Then it is due again, in case the claiming instance died. It
// is nil if none is due at now.
func (s *Store) ClaimDelivery(ctx context.Context, kind string, busy []string, now, until time.Time) (*schemas.Delivery, error) {
	for {
		id, attempts, err := s.dueDelivery(ctx, kind, busy, now)
		if err != nil || id == "" {
			return nil, err
		}
		d, err := s.takeDelivery(ctx, id, attempts, now, until)
		if err != nil || d != nil {
			return d, err
		}
	}
}

// dueDelivery only reads, so polling an empty queue is cheap.
func (s *Store) dueDelivery(ctx context.Context, kind string, busy []string, now time.Time) (id string, attempts int, err error) {
	q, args := `SELECT id, attempts FROM deliveries WHERE kind = ? AND not_before <= ? AND expires_at > ?`, []any{kind, toMicros(now), toMicros(now)}
	if len(busy) > 0 {
		q += ` AND target NOT IN (` + placeholders(len(busy)) + `)`
	}
	for _, target := range busy {
		args = append(args, target)
	}
	err = rows(ctx, s, func(row scanner) error { return row.Scan(&id, &attempts) }, q+` ORDER BY not_before LIMIT 1`, args...)
	return id, attempts, err
}

func (s *Store) takeDelivery(ctx context.Context, id string, attempts int, now, until time.Time) (d *schemas.Delivery, err error) {
	err = s.writer.single(ctx, func(t *Tx) (err error) {
		d, err = readOne(t.row(claimDelivery, toMicros(until), id, attempts, toMicros(now)), scanDelivery, nil)
		return err
	})
	return d, err
}

func scanDelivery(row scanner, d *schemas.Delivery) error {
	return row.Scan(&d.ID, &d.Kind, &d.Target, &d.Body, &d.Attempts, (*microTime)(&d.NotBefore), (*microTime)(&d.ExpiresAt), (*microTime)(&d.CreatedAt))
}

// EndDelivery removes a delivery that arrived.
func (s *Store) EndDelivery(ctx context.Context, id string) error {
	return s.writer.single(ctx, func(t *Tx) error {
		_, err := t.exec(deleteDelivery, id)
		return err
	})
}

// PutOffDelivery reschedules a claimed delivery unless another instance has claimed it since.
func (s *Store) PutOffDelivery(ctx context.Context, d schemas.Delivery, until time.Time) error {
	return s.writer.single(ctx, func(t *Tx) error {
		_, err := t.exec(putOffDelivery, toMicros(until), d.ID, d.Attempts)
		return err
	})
}

// GiveUpDelivery removes a delivery that will not arrive and records the event. It returns
// false if another instance has claimed or removed the delivery since.
func (s *Store) GiveUpDelivery(ctx context.Context, d schemas.Delivery, e schemas.Event) (given bool, err error) {
	err = s.writer.write(ctx, func(t *Tx) error {
		n, err := t.exec(giveUpDelivery, d.ID, d.Attempts)
		if given = n == 1; !given {
			return err
		}
		return t.recordEvent(e)
	})
	return given, err
}

// ExpiredDeliveries returns at most limit deliveries of any kind that are expired at now and
// not claimed.
func (s *Store) ExpiredDeliveries(ctx context.Context, now time.Time, limit int) ([]schemas.Delivery, error) {
	return readAll(ctx, s, scanDelivery, selectExpiredDeliveries, toMicros(now), toMicros(now), limit)
}

// QueuedDeliveries describes the queue of deliveries, by kind.
func (s *Store) QueuedDeliveries(ctx context.Context) ([]schemas.QueuedDeliveries, error) {
	return readAll(ctx, s, func(row scanner, q *schemas.QueuedDeliveries) error {
		return row.Scan(&q.Kind, &q.Count, &q.Tried, (*microTime)(&q.Oldest))
	}, selectQueue)
}
