package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

const (
	// The column execution_id holds the digest of the id: see schemas.DigestExecution.
	eventColumns = `at, id, action, user_id, application_id, execution_id, trace_id, detail, actor_type, actor_id,
		actor_client, resource_type, resource_id, before_digest, after_digest,
		address, user_agent, session_id, changes`

	eventRow    = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertEvent = `INSERT INTO events (` + eventColumns + `) VALUES ` + eventRow
	moreEvents  = `, ` + eventRow

	// Each number of rows is a statement of its own, which connections keep.
	maxEventRows = 8
)

// maxScanned is how many events a page examines.
const maxScanned = 20_000

// EventPage is Events with a bounded cost: of the members that have no index it examines the newest events
// only. more, unless zero, is the last that it examined: the next page begins there.
func (s *Store) EventPage(ctx context.Context, q schemas.EventQuery) (list []schemas.Event, more schemas.EventKey, err error) {
	indexed, rest := splitQuery(q)
	if rest == (schemas.EventQuery{}) {
		list, err = s.Events(ctx, q)
		return list, more, err
	}
	var inner, outer conditions
	inner.add(indexed)
	outer.add(rest)
	scanned := inner.query() + " ORDER BY at DESC, id DESC"
	text := "SELECT " + eventColumns + " FROM (" + scanned + " LIMIT ?) scanned WHERE " + strings.Join(outer.list, " AND ") + " ORDER BY at DESC, id DESC LIMIT ?"
	list, err = readAll(ctx, s, scanEvent, text, slices.Concat(inner.args, []any{maxScanned}, outer.args, []any{q.Limit})...)
	if err != nil || len(list) >= q.Limit {
		return list, more, err
	}
	last := "SELECT at, id" + strings.TrimPrefix(scanned, "SELECT "+eventColumns) + " LIMIT 1 OFFSET ?"
	keys, err := readAll(ctx, s, scanEventKey, last, append(inner.args, maxScanned-1)...)
	if len(keys) > 0 {
		more = keys[0]
	}
	return list, more, err
}

// splitQuery splits a query by an index from the members that it leaves. A query by a user, an actor or a
// resource, and one for failures, is left whole.
func splitQuery(q schemas.EventQuery) (indexed, rest schemas.EventQuery) {
	if q.UserID != "" || q.ActorID != "" || q.ResourceID != "" || q.Failures && q.Action == "" {
		return q, rest
	}
	indexed = schemas.EventQuery{Before: q.Before, From: q.From, To: q.To, Action: q.Action, ResourceType: q.ResourceType}
	rest = schemas.EventQuery{ApplicationID: q.ApplicationID, TraceID: q.TraceID, ExecutionDigest: q.ExecutionDigest}
	if unlessSignIn(q.Action) == "" {
		indexed.Action, rest.Action = "", q.Action
	} else if q.Action != "" {
		indexed.ResourceType, rest.ResourceType = "", q.ResourceType
	}
	return indexed, rest
}

// Events returns the matching events of the audit log, newest first. User, actor, resource and
// most actions are indexed; a query by other members alone scans the log.
func (s *Store) Events(ctx context.Context, q schemas.EventQuery) ([]schemas.Event, error) {
	if !q.Failures || q.Action != "" {
		return events(ctx, s, q)
	}
	return failures(ctx, s, q)
}

// failures returns the events that record failures. It reads each action by its index.
func failures(ctx context.Context, r Reader, q schemas.EventQuery) (all []schemas.Event, err error) {
	for _, q.Action = range schemas.FailureActions() {
		found, err := events(ctx, r, q)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b schemas.Event) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID)) })
	return all[:min(len(all), q.Limit)], nil
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
func (t *Tx) recordEvent(e schemas.Event) error { return t.recordEvents(e) }

// recordEvents is recordEvent for several events.
func (t *Tx) recordEvents(events ...schemas.Event) error {
	for _, e := range events {
		if n := schemas.NoticeOf(e); n != nil {
			if err := t.queueNotice(*n); err != nil {
				return err
			}
		}
	}
	return t.insertEvents(events...)
}

// insertEvents appends to the audit log. An event without an id gets one, and an event without an
// origin that of the request.
func (t *Tx) insertEvents(events ...schemas.Event) error {
	t.did.recorded = t.did.recorded || len(events) > 0
	for list := range slices.Chunk(events, maxEventRows) {
		var args []any
		for _, e := range list {
			args = append(args, t.eventValues(e)...)
		}
		if err := t.later(insertEvent+strings.Repeat(moreEvents, len(list)-1), args...); err != nil {
			return err
		}
	}
	return nil
}

// eventValues returns the parameters that store an event.
func (t *Tx) eventValues(e schemas.Event) []any {
	if e.ID == "" {
		e.ID = schemas.NewID()
	}
	if e.Origin == (schemas.Origin{}) && t.origin != nil {
		e.Origin = *t.origin
	}
	return []any{toMicros(e.At), e.ID, e.Action, e.UserID, e.ApplicationID, e.ExecutionDigest, e.TraceID,
		jsonColumn{e.Detail, len(e.Detail) == 0}, string(e.Actor.Type), e.Actor.ID, e.Actor.Client, e.Resource.Type, e.Resource.ID, e.Before, e.After,
		e.Address, e.UserAgent, e.SessionID, jsonColumn{e.Changes, len(e.Changes) == 0}}
}
