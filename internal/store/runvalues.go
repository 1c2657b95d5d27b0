package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/postern-id/postern/schemas"
)

const (
	// The values of a sign-in never change.
	insertRunValues = `INSERT INTO run_values (request_id, session_id, contents) VALUES (?, ?, ?) ON CONFLICT (request_id, session_id) DO NOTHING`
	selectRunValues = `SELECT contents FROM run_values WHERE request_id = ? AND session_id = ?`
	moveRunValues   = `UPDATE run_values SET session_id = ? WHERE request_id = ? AND session_id = ?`
	deleteRunValues = `DELETE FROM run_values WHERE request_id = ?`
)

func (t *Tx) keepRunValues(c schemas.KeepRunValues) error {
	err := t.later(insertRunValues, c.RequestID, c.SessionID, asJSON(c.Values))
	if isForeignKeyViolation(err) {
		return schemas.ErrSuperseded()
	}
	return err
}

// RunValues returns the values of the run that answered an authorization request, with the session of the tokens; nil
// if there are none.
func (s *Store) RunValues(ctx context.Context, requestID, sessionID string) (values schemas.RunValues, err error) {
	err = s.row(ctx, selectRunValues, requestID, sessionID).Scan(asJSON(&values))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return values, err
}
