package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/postern-id/postern/schemas"
)

const (
	eventColumns = `at, id, action, user_id, application_id, execution_id, trace_id, detail, actor_type, actor_id,
		actor_client, resource_type, resource_id, before_digest, after_digest`

	insertEvent query = `INSERT INTO events (` + eventColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
)

// Events returns the events of the audit log that are asked for, newest first.
func (s *Store) Events(ctx context.Context, q schemas.EventQuery) ([]schemas.Event, error) {
	return events(ctx, s, q)
}

func events(ctx context.Context, r Reader, q schemas.EventQuery) (found []schemas.Event, err error) {
	condition, args, possible := eventCondition(q)
	if !possible {
		return nil, nil
	}
	err = rows(ctx, r, func(row scanner) error {
		found = append(found, schemas.Event{})
		return scanEvent(row, &found[len(found)-1])
	}, "SELECT "+eventColumns+" FROM events"+condition+" ORDER BY at DESC, id DESC LIMIT ?", append(args, q.Limit)...)
	if err != nil {
		return nil, fmt.Errorf("reading events: %w", err)
	}
	return found, nil
}

// eventCondition is the WHERE clause that selects the events, with its
// parameters; it is not possible that any event meets one that no column can
// hold.
func eventCondition(q schemas.EventQuery) (where string, args []any, possible bool) {
	var conditions []string
	add := func(condition string, values ...any) {
		conditions, args = append(conditions, condition), append(args, values...)
	}
	for _, member := range []struct{ column, value string }{
		{"action", q.Action}, {"actor_id", q.ActorID}, {"user_id", q.UserID}, {"resource_type", q.ResourceType},
		{"resource_id", q.ResourceID}, {"application_id", q.ApplicationID}, {"trace_id", q.TraceID},
	} {
		if !storable(member.value) {
			return "", nil, false
		}
		if member.value != "" {
			// The second half says what the value shows: that the index, which
			// leaves out the empty texts, has all there is.
			add(member.column+" = ? AND "+member.column+" <> ''", member.value)
		}
	}
	if q.Before != (schemas.EventKey{}) {
		add("(at, id) < (?, ?)", micros(q.Before.At), q.Before.ID)
	}
	if !q.From.IsZero() {
		add("at >= ?", micros(q.From))
	}
	if !q.To.IsZero() {
		add("at < ?", micros(q.To))
	}
	if len(conditions) > 0 {
		where = " WHERE " + strings.Join(conditions, " AND ")
	}
	return where, args, storable(q.Before.ID)
}

func scanEvent(row scanner, e *schemas.Event) error {
	var detail []byte
	err := row.Scan((*instant)(&e.At), &e.ID, &e.Action, &e.UserID, &e.ApplicationID, &e.ExecutionID, &e.TraceID, &detail,
		(*string)(&e.Actor.Type), &e.Actor.ID, &e.Actor.Client, &e.Resource.Type, &e.Resource.ID, &e.Before, &e.After)
	if err != nil {
		return err
	}
	return parse(detail, &e.Detail)
}

// recordEvent appends to the audit log. An event without an id gets one.
func (t *tx) recordEvent(e schemas.Event) error {
	if e.ID == "" {
		e.ID = schemas.NewID()
	}
	detail, err := optionalDocument(e.Detail)
	if err != nil {
		return err
	}
	_, err = t.exec(insertEvent, micros(e.At), e.ID, e.Action, e.UserID, e.ApplicationID, e.ExecutionID, e.TraceID, detail,
		string(e.Actor.Type), e.Actor.ID, e.Actor.Client, e.Resource.Type, e.Resource.ID, e.Before, e.After)
	if err != nil {
		return fmt.Errorf("store: recording an event: %w", err)
	}
	return nil
}
