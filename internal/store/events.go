package store

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	// The column execution_id holds the digest of the id: see schemas.DigestExecution.
	eventColumns = `at, id, action, user_id, application_id, execution_id, trace_id, detail, actor_type, actor_id,
		actor_client, resource_type, resource_id, before_digest, after_digest,
		address, user_agent, session_id, changes`

	insertEvent = `INSERT INTO events (` + eventColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
)

// Events returns the matching events of the audit log, newest first. User, actor, resource and
// most actions are indexed; a query by other members alone scans the log.
func (s *Store) Events(ctx context.Context, q schemas.EventQuery) ([]schemas.Event, error) {
	return events(ctx, s, q)
}

func events(ctx context.Context, r Reader, q schemas.EventQuery) ([]schemas.Event, error) {
	var c conditions
	c.add(q)
	text, args := c.selection(q.ActorID)
	return readAll(ctx, r, scanEvent, text+" ORDER BY at DESC, id DESC LIMIT ?", append(args, q.Limit)...)
}

// conditions select events. The indexes are partial, so a condition also includes the
// predicate of its index.
type conditions struct {
	list []string
	args []any
}

func (c *conditions) where(condition string, args ...any) {
	c.list, c.args = append(c.list, condition), append(c.args, args...)
}

// add adds the conditions of a query except the actor.
func (c *conditions) add(q schemas.EventQuery) {
	for _, member := range []struct{ column, value, follows string }{
		{"user_id", q.UserID, "user_id <> ''"},
		{"resource_type", q.ResourceType, "resource_type <> ''"},
		{"resource_id", q.ResourceID, "resource_id <> ''"},
		{"action", q.Action, unlessSignIn(q.Action)},
		{"application_id", q.ApplicationID, ""},
		{"trace_id", q.TraceID, ""},
		{"execution_id", q.ExecutionDigest, ""},
	} {
		if member.value == "" {
			continue
		}
		c.where(member.column+" = ?", member.value)
		if member.follows != "" {
			c.where(member.follows)
		}
	}
	if q.Before != (schemas.EventKey{}) {
		c.where("(at, id) < (?, ?)", toMicros(q.Before.At), q.Before.ID)
	}
	if !q.From.IsZero() {
		c.where("at >= ?", toMicros(q.From))
	}
	if !q.To.IsZero() {
		c.where("at < ?", toMicros(q.To))
	}
}

// unlessSignIn returns the index predicate for an action that is not recorded at every
// sign-in, "" for one that is.
func unlessSignIn(action string) string {
	if slices.Contains([]string{"passkey.used", "password.used", "user.signed_in"}, action) {
		return ""
	}
	return "action NOT IN ('passkey.used', 'password.used', 'user.signed_in')"
}

// selection selects the events that meet the conditions and whose actor, unless "", acted on
// their own account or on another.
func (c *conditions) selection(actor string) (text string, args []any) {
	if actor == "" {
		return c.query(), c.args
	}
	own, others := conditions{slices.Clone(c.list), slices.Clone(c.args)}, conditions{slices.Clone(c.list), slices.Clone(c.args)}
	own.where("user_id = ? AND user_id <> '' AND actor_id = user_id", actor)
	others.where("actor_id = ? AND actor_id <> '' AND actor_id <> user_id", actor)
	return own.query() + " UNION ALL " + others.query(), append(own.args, others.args...)
}

func (c *conditions) query() string {
	text := "SELECT " + eventColumns + " FROM events"
	if len(c.list) > 0 {
		text += " WHERE " + strings.Join(c.list, " AND ")
	}
	return text
}

func scanEvent(row scanner, e *schemas.Event) error {
	return row.Scan((*microTime)(&e.At), &e.ID, &e.Action, &e.UserID, &e.ApplicationID, &e.ExecutionDigest, &e.TraceID, asJSON(&e.Detail),
		(*string)(&e.Actor.Type), &e.Actor.ID, &e.Actor.Client, &e.Resource.Type, &e.Resource.ID, &e.Before, &e.After,
		&e.Address, &e.UserAgent, &e.SessionID, asJSON(&e.Changes))
}

// recordEvent appends to the audit log and queues the notice of the event.
func (t *Tx) recordEvent(e schemas.Event) error {
	if n := schemas.NoticeOf(e); n != nil {
		if err := t.queueNotice(*n); err != nil {
			return err
		}
	}
	return t.insertEvent(e)
}

// insertEvent appends to the audit log. An event without an id gets one, and an event without an
// origin that of the request.
func (t *Tx) insertEvent(e schemas.Event) error {
	if e.ID == "" {
		e.ID = schemas.NewID()
	}
	if e.Origin == (schemas.Origin{}) && t.origin != nil {
		e.Origin = *t.origin
	}
	_, err := t.exec(insertEvent, toMicros(e.At), e.ID, e.Action, e.UserID, e.ApplicationID, e.ExecutionDigest, e.TraceID,
		jsonColumn{e.Detail, len(e.Detail) == 0}, string(e.Actor.Type), e.Actor.ID, e.Actor.Client, e.Resource.Type, e.Resource.ID, e.Before, e.After,
		e.Address, e.UserAgent, e.SessionID, jsonColumn{e.Changes, len(e.Changes) == 0})
	return err
}

const (
	// Only one of several concurrent updates to the same time changes the row.
	raiseKeptFrom = `UPDATE event_retention SET kept_from = ? WHERE one = 1 AND kept_from < ?`

	deleteOldEvents = `DELETE FROM events WHERE at < ? AND (at, id) IN
		(SELECT at, id FROM events WHERE at < ? ORDER BY at, id LIMIT ?)`

	deleteOldUnsealed = `DELETE FROM unsealed_events WHERE at < ? AND (at, id) IN
		(SELECT at, id FROM unsealed_events WHERE at < ? ORDER BY at, id LIMIT ?)`

	// The seals before the first event that is kept go, but the last of them stays: the rest of
	// the chain continues from it. A seal among kept events stays too.
	deleteOldSeals = `DELETE FROM event_seals WHERE at < ? AND seq IN (SELECT seq FROM event_seals WHERE seq <
		COALESCE((SELECT MIN(seq) FROM event_seals WHERE at >= ?), (SELECT MAX(seq) + 1 FROM event_seals)) - 1 ORDER BY seq LIMIT ?)`
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
	if removed, err = s.sweep(ctx, deleteOldEvents, before, trimBatch); err != nil {
		return removed, err
	}
	for _, q := range []string{deleteOldUnsealed, deleteOldSeals} {
		if _, err := s.sweep(ctx, q, before, sweepBatch); err != nil {
			return removed, err
		}
	}
	return removed, nil
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
