package store

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/schemas"
)

const (
	selectEvents query = `SELECT at, id, action, user_id, application_id, execution_id, trace_id, detail
		FROM events ORDER BY at DESC, id DESC LIMIT ?`

	insertEvent query = `INSERT INTO events (at, id, action, user_id, application_id, execution_id, trace_id, detail)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
)

// Events returns at most limit events of the audit log, newest first.
func (s *Store) Events(ctx context.Context, limit int) (events []schemas.Event, err error) {
	err = s.each(ctx, selectEvents, func(row scanner) error {
		var e schemas.Event
		var at int64
		var detail []byte
		err := row.Scan(&at, &e.ID, &e.Action, &e.UserID, &e.ApplicationID, &e.ExecutionID, &e.TraceID, &detail)
		if err != nil {
			return err
		}
		e.At = moment(at)
		err = parse(detail, &e.Detail)
		events = append(events, e)
		return err
	}, limit)
	if err != nil {
		return nil, fmt.Errorf("store: reading events: %w", err)
	}
	return events, nil
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
	_, err = t.exec(insertEvent, micros(e.At), e.ID, e.Action, e.UserID, e.ApplicationID, e.ExecutionID, e.TraceID, detail)
	if err != nil {
		return fmt.Errorf("store: recording an event: %w", err)
	}
	return nil
}
