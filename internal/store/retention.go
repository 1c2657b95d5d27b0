package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	// Of several that raise it to one time, one does.
	raiseKeptFrom query = `UPDATE event_retention SET kept_from = ? WHERE one = 1 AND kept_from < ?`

	deleteOldEvents query = `DELETE FROM events WHERE at < ? AND (at, id) IN
		(SELECT at, id FROM events WHERE at < ? ORDER BY at, id LIMIT ?)`
)

// trimBatch is how many events one transaction removes. Each is in several indexes,
// and watched over by a trigger.
const trimBatch = 100

// TrimEvents removes the events from before a time from the audit log, a few at a
// time so that other writes come in between, and returns how many there were. The
// log says that it was trimmed, once for each such time, and how many events were to
// go: audit.trimmed. It may be called on any number of instances at once, and goes on
// where an earlier call was interrupted.
func (s *Store) TrimEvents(ctx context.Context, before, now time.Time) (removed int, err error) {
	old, err := s.countEvents(ctx, before)
	if err != nil || old == 0 {
		return 0, err
	}
	if err := s.announceTrim(ctx, before, now, old); err != nil {
		return 0, fmt.Errorf("store: trimming the audit log: %w", err)
	}
	removed, err = s.sweep(ctx, deleteOldEvents, before, trimBatch)
	if err != nil {
		err = fmt.Errorf("store: trimming the audit log: %w", err)
	}
	return removed, err
}

func (s *Store) countEvents(ctx context.Context, before time.Time) (n int, err error) {
	err = rows(ctx, s, func(row scanner) error { return row.Scan(&n) }, "SELECT COUNT(*) FROM events WHERE at < ?", toMicros(before))
	return n, err
}

// announceTrim lets the events from before a time go, and records that they do.
func (s *Store) announceTrim(ctx context.Context, before, now time.Time, events int) error {
	return s.writer.write(ctx, func(t *tx) error {
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
