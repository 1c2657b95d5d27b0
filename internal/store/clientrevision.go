package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

const selectClientRevision query = `SELECT id, updated_at FROM applications WHERE client_id = ?`

// ClientRevision identifies the state of the application that is the OAuth client: its ID and
// the time of its last change. If both are unchanged, so is the result of
// ApplicationByClientID. Errors are the same as of that method.
func (s *Store) ClientRevision(ctx context.Context, clientID string) (id string, updated time.Time, err error) {
	if !isStorable(clientID) {
		return "", time.Time{}, errNoClient(clientID)
	}
	err = s.row(ctx, selectClientRevision, clientID).Scan(&id, (*microTime)(&updated))
	if errors.Is(err, sql.ErrNoRows) {
		return "", time.Time{}, errNoClient(clientID)
	}
	if err != nil {
		return "", time.Time{}, fmt.Errorf("store: reading an application: %w", err)
	}
	return id, updated, nil
}
