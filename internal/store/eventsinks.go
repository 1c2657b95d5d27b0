package store

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	insertSink = `INSERT INTO event_sinks (name, seq, holder, held_until) VALUES (?, 0, '', 0) ON CONFLICT (name) DO NOTHING`

	// PostgreSQL evaluates the condition again on the row it writes, so one of several concurrent
	// claims succeeds.
	claimSink = `UPDATE event_sinks SET holder = ?, held_until = ? WHERE name = ? AND (holder = ? OR held_until <= ?) RETURNING seq`

	sinkLag = `SELECT COALESCE(MAX(seq), 0) - COALESCE((SELECT seq FROM event_sinks WHERE name = ?), 0) FROM event_chain`

	hasNews = `SELECT 1 FROM event_chain WHERE seq > COALESCE((SELECT seq FROM event_sinks WHERE name = ?), 0)`

	advanceSink = `UPDATE event_sinks SET seq = ? WHERE name = ? AND seq < ?`
	releaseSink = `UPDATE event_sinks SET held_until = ? WHERE name = ? AND holder = ? AND held_until > ?`
)

// SealedEvent is an event of the audit log with its seal, as sinks receive it.
type SealedEvent struct {
	Seq  int64  `json:"seq"`  // grows by one with each event
	Hash string `json:"hash"` // of the seal, in hexadecimal
	schemas.Event
}

// SealedEvents returns the events of the seals after a number, at most limit, and the number of
// the last seal that was read, which is after if there is none. Events that the retention time has
// removed are missing.
func (s *Store) SealedEvents(ctx context.Context, after int64, limit int) (events []SealedEvent, last int64, err error) {
	seals, err := readAll(ctx, s, scanSeal, selectSeals, after, limit)
	if err != nil || len(seals) == 0 {
		return nil, after, err
	}
	last = seals[len(seals)-1].seq
	list, err := sealedEvents(ctx, s, after, last)
	for i := range seals {
		if e := list[schemas.EventKey{At: seals[i].at, ID: seals[i].id}]; e != nil {
			events = append(events, SealedEvent{seals[i].seq, hex.EncodeToString(seals[i].hash), *e})
		}
	}
	return events, last, err
}

// sealedEvents returns the events of the seals after a number, up to another.
func sealedEvents(ctx context.Context, r Reader, after, last int64) (map[schemas.EventKey]*schemas.Event, error) {
	list, err := readAll(ctx, r, scanEvent, selectSealed, after, last)
	events := map[schemas.EventKey]*schemas.Event{}
	for i := range list {
		events[schemas.EventKey{At: list[i].At, ID: list[i].ID}] = &list[i]
	}
	return events, err
}

// ClaimSink has this instance forward events to a sink until the given time, and returns the number
// of the last seal that the sink has received. ok is false while another instance does so, and if
// there is nothing to forward.
func (s *Store) ClaimSink(ctx context.Context, name string, now, until time.Time) (seq int64, ok bool, err error) {
	if news, err := exists(ctx, s, hasNews, name); err != nil || !news {
		return 0, false, err
	}
	err = s.writer.write(ctx, func(t *Tx) error {
		if _, err := t.exec(insertSink, name); err != nil {
			return err
		}
		found, err := readAll(t.ctx, t, scanValue[int64], claimSink, s.instance, toMicros(until), name, s.instance, toMicros(now))
		if ok = len(found) > 0; ok {
			seq = found[0]
		}
		return err
	})
	return seq, ok, err
}

// SinkLag returns how many sealed events a sink has not received.
func (s *Store) SinkLag(ctx context.Context, name string) (int64, error) {
	found, err := readAll(ctx, s, scanValue[int64], sinkLag, name)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return max(0, found[0]), nil
}

// AdvanceSink records that a sink has received the events up to a seal.
func (s *Store) AdvanceSink(ctx context.Context, name string, seq int64) error {
	return s.writer.write(ctx, func(t *Tx) error {
		_, err := t.exec(advanceSink, seq, name, seq)
		return err
	})
}

// ReleaseSink lets other instances forward to a sink from the given time on.
func (s *Store) ReleaseSink(ctx context.Context, name string, now time.Time) error {
	return s.writer.write(ctx, func(t *Tx) error {
		_, err := t.exec(releaseSink, toMicros(now), name, s.instance, toMicros(now))
		return err
	})
}
