package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

const selectClientRevision query = `SELECT id, updated_at FROM applications WHERE client_id = ?`

// ClientRevision names the state of the application that is the OAuth client:
// its id, and when it got there. As long as both are the same, so is what
// ApplicationByClientID returns, and errors are its errors.
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
