package store

import (
	"context"
	"strconv"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	// Only one of several concurrent updates to the same time changes the row.
	raiseKeptFrom = `UPDATE event_retention SET kept_from = ? WHERE one = 1 AND kept_from < ?`

	deleteOldEvents = `DELETE FROM events WHERE at < ? AND (at, id) IN
		(SELECT at, id FROM events WHERE at < ? ORDER BY at, id LIMIT ?)`
)

// trimBatch is how many events one transaction removes. Each is in several indexes and guarded
// by a trigger.
const trimBatch = 100

// TrimEvents removes the events before the given time from the audit log in small batches and
// returns their number. It records audit.trimmed, with the number of events to remove, once
// for each such time. Any number of instances may call it concurrently, and a later call
// continues an interrupted one.
func (s *Store) TrimEvents(ctx context.Context, before, now time.Time) (removed int, err error) {
	old, err := readValue[int](ctx, s, "SELECT COUNT(*) FROM events WHERE at < ?", toMicros(before))
	if err != nil || old == 0 {
		return 0, err
	}
	if err := s.announceTrim(ctx, before, now, old); err != nil {
		return 0, err
	}
	return s.sweep(ctx, deleteOldEvents, before, trimBatch)
}

// announceTrim permits the removal of the events before the given time, and records it.
func (s *Store) announceTrim(ctx context.Context, before, now time.Time, events int) error {
	return s.writer.write(ctx, func(t *Tx) error {
		raised, err := t.exec(raiseKeptFrom, toMicros(before), toMicros(before))
		if err != nil || raised == 0 {
			return err
		}
		return t.recordEvent(schemas.Event{
			ID: schemas.NewID(), At: now, Action: "audit.trimmed", Actor: schemas.Actor{Type: schemas.SystemActor},
			Detail: map[string]string{"before": before.UTC().Format(time.RFC3339), "events": strconv.Itoa(events)},
		})
	})
}
