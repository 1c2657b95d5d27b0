package store

import (
	"context"
	"strconv"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	raiseKeptFrom = `UPDATE event_retention SET kept_from = ? WHERE one = 1 AND kept_from < ?`

	countOldEvents = `SELECT COUNT(*) FROM events WHERE at < ?`
	existOldEvents = `SELECT 1 FROM events WHERE at < ? LIMIT 1`

	deleteOldEvents = `DELETE FROM events WHERE at < ? AND (at, id) IN
		(SELECT at, id FROM events WHERE at < ? ORDER BY at, id LIMIT ?)`

	deleteOldUnsealed = `DELETE FROM unsealed_events WHERE at < ? AND (at, id) IN
		(SELECT at, id FROM unsealed_events WHERE at < ? ORDER BY at, id LIMIT ?)`

	// The seals before the first kept event are removed except the last of them, from which the
	// rest of the chain continues. A seal among kept events stays too.
	selectFirstKept = `SELECT seq FROM event_seals WHERE at >= ? ORDER BY seq LIMIT 1`
	deleteOldSeals  = `DELETE FROM event_seals WHERE seq < ? AND seq IN (SELECT seq FROM event_seals WHERE seq < ? ORDER BY seq LIMIT ?)`

	// The events before a time that a sink has not received and that no earlier call has removed. An
	// event without a seal has not been forwarded to any sink.
	undeliveredSeals    = ` FROM event_seals WHERE seq > ? AND at < ? AND at >= (SELECT kept_from FROM event_retention)`
	undeliveredUnsealed = ` FROM unsealed_events WHERE at < ? AND at >= (SELECT kept_from FROM event_retention)`

	firstUndelivered = `SELECT at FROM (SELECT MIN(at) AS at` + undeliveredSeals + ` UNION ALL SELECT MIN(at) AS at` + undeliveredUnsealed + `) firsts
		WHERE at IS NOT NULL ORDER BY at LIMIT 1`
	countUndelivered = `SELECT (SELECT COUNT(*)` + undeliveredSeals + `) + (SELECT COUNT(*)` + undeliveredUnsealed + `)`

	selectActiveSinks = `SELECT name FROM event_sinks WHERE held_until >= ?`
	selectSinkSeq     = `SELECT seq FROM event_sinks WHERE name = ?`
)

const (
	// trimBatch is how many events one transaction removes. Each is in several indexes and guarded
	// by a trigger.
	trimBatch = 100

	// sinkAbsence is how long this instance waits for a sink that only other instances have in
	// their configuration, after the last attempt to forward to it. A removed sink therefore delays
	// the removal of events by a day at most.
	sinkAbsence = 24 * time.Hour
)

// Trim describes which events to remove from the audit log.
type Trim struct {
	Now    time.Time
	Before time.Time // events before this time are removed once the sinks have received them
	// UndeliveredBefore is not after Before. Events before this time are removed even if a sink has
	// not received them.
	UndeliveredBefore time.Time
	Retention         time.Duration // that the configuration has; the record of the removal contains it
	Sinks             []string      // the configured sinks of this instance
}

// Trimmed is the result of EventChain.Trim.
type Trimmed struct {
	Events int
	// Undelivered is how many of the events to remove a sink had not received, by the name of the
	// sink. It is set by the call that records the loss.
	Undelivered map[string]int
}

// Trim removes old events from the audit log in small batches, in whole days (UTC) if the
// times of the Trim are. It waits for the sinks of this instance and for those that another
// instance has forwarded to within a day. Once for each time before which it removes events, it
// records audit.trimmed with their number and the code of the key, and audit.undelivered for each sink that
// had not received some of them. Any number of instances may call it concurrently, and a later call
// continues an interrupted one. It fails with ChainBroken if the chain may not be extended.
func (c *EventChain) Trim(ctx context.Context, trim Trim) (done Trimmed, err error) {
	s := c.store
	old, err := exists(ctx, s, existOldEvents, toMicros(trim.Before))
	if err != nil || !old {
		return done, err
	}
	before, sinks, err := s.trimLimit(ctx, trim)
	if err != nil {
		return done, err
	}
	first := int64(0)
	if done.Undelivered, first, err = c.announceTrim(ctx, before, trim, sinks); err != nil {
		return done, err
	}
	if done.Events, err = s.sweep(ctx, deleteOldEvents, before, trimBatch); err != nil {
		return done, err
	}
	for _, q := range []string{deleteOldUnsealed, deleteOldCounts} {
		if _, err := s.sweep(ctx, q, before, sweepBatch); err != nil {
			return done, err
		}
	}
	_, err = s.sweepRows(ctx, sweepBatch, deleteOldSeals, first, first, sweepBatch)
	return done, err
}

// trimLimit returns the time before which events are removed, and the number of the last seal that
// each sink to wait for has received.
func (s *Store) trimLimit(ctx context.Context, trim Trim) (before time.Time, sinks map[string]int64, err error) {
	names, err := readAll(ctx, s, scanValue[string], selectActiveSinks, toMicros(trim.Now.Add(-sinkAbsence)))
	if err != nil {
		return before, nil, err
	}
	before, sinks = trim.Before, map[string]int64{}
	for _, name := range append(names, trim.Sinks...) {
		if sinks[name], err = readValue[int64](ctx, s, selectSinkSeq, name); err != nil {
			return before, nil, err
		}
		first, err := readAll(ctx, s, scanValue[microTime], firstUndelivered, sinks[name], toMicros(before), toMicros(before))
		if err != nil {
			return before, nil, err
		}
		if len(first) > 0 {
			before = time.Time(first[0]).Truncate(24 * time.Hour)
		}
	}
	if before.Before(trim.UndeliveredBefore) {
		before = trim.UndeliveredBefore
	}
	return before, sinks, nil
}

// announceTrim permits the removal of the events before the given time, and records it with the
// number of events that each sink has not received. It does nothing if there are none to remove, or
// if that was recorded before. It returns the number of the first seal to keep.
func (c *EventChain) announceTrim(ctx context.Context, before time.Time, trim Trim, sinks map[string]int64) (lost map[string]int, first int64, err error) {
	var last link
	err = c.store.writer.write(ctx, func(t *Tx) (err error) {
		if last, err = c.lock(t); err != nil {
			return err
		}
		state, err := c.latestState(t.ctx, t)
		if err != nil {
			return err
		}
		lost, first = nil, state.First
		old, err := readValue[int](t.ctx, t, countOldEvents, toMicros(before))
		if err != nil || old == 0 || !before.After(state.KeptFrom) {
			return err
		}
		if lost, err = t.undelivered(before, sinks); err != nil {
			return err
		}
		if state.First, err = t.firstKept(before, last); err != nil {
			return err
		}
		state.KeptFrom, first = before, state.First
		last, err = c.recordTrim(t, last, state, trim, old)
		if err != nil {
			return err
		}
		if _, err := t.exec(raiseKeptFrom, toMicros(before), toMicros(before)); err != nil {
			return err
		}
		return t.recordLosses(before, trim.Now, lost)
	})
	if err == nil {
		c.learn(last)
	}
	return lost, first, err
}

// firstKept returns the number of the last seal before the first that is kept.
func (t *Tx) firstKept(before time.Time, last link) (int64, error) {
	kept, err := readAll(t.ctx, t, scanValue[int64], selectFirstKept, toMicros(before))
	if err != nil || len(kept) > 0 {
		return append(kept, 1)[0] - 1, err
	}
	return last.Seq, nil
}

func (c *EventChain) recordTrim(t *Tx, last link, state chainState, trim Trim, events int) (link, error) {
	return c.append(t, last, 0, actionTrimmed, trim.Now, state, map[string]string{"events": strconv.Itoa(events), detailRetention: trim.Retention.String()})
}

// recordLosses records the events that sinks have not received before their removal.
func (t *Tx) recordLosses(before, now time.Time, lost map[string]int) error {
	for sink, events := range lost {
		err := t.recordEvent(schemas.Event{
			ID: schemas.NewID(), At: now, Action: "audit.undelivered", Actor: schemas.Actor{Type: schemas.SystemActor},
			Detail: map[string]string{"sink": sink, "before": before.UTC().Format(time.RFC3339), "events": strconv.Itoa(events)},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// undelivered returns how many events before a time each sink has not received, without the sinks
// that have received all.
func (t *Tx) undelivered(before time.Time, sinks map[string]int64) (map[string]int, error) {
	missed := map[string]int{}
	for sink, seq := range sinks {
		n, err := readValue[int](t.ctx, t, countUndelivered, seq, toMicros(before), toMicros(before))
		if err != nil {
			return nil, err
		}
		if n > 0 {
			missed[sink] = n
		}
	}
	return missed, nil
}
