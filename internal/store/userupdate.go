package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	// A transaction that reads a user to write it blocks others that do.
	lockUser query = `UPDATE users SET updated_at = updated_at WHERE id = ?
		RETURNING id, type, ou_id, attributes, status, locked_until, created_at, updated_at`

	updateUserAttributes query = `UPDATE users SET attributes = ?, updated_at = ? WHERE id = ?`

	deleteIdentifiers  query = `DELETE FROM user_identifiers WHERE user_id = ?`
	deleteUniqueValues query = `DELETE FROM user_unique_values WHERE user_id = ?`
	deleteEmails       query = `DELETE FROM user_emails WHERE user_id = ?`
)

// lockUser returns the user and blocks other callers until the transaction ends. An unknown
// one is user_not_found.
func (t *tx) lockUser(id string) (*schemas.User, error) {
	var u schemas.User
	err := scanUserRow(t.row(lockUser, id), &u)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errNoUser()
	}
	if err != nil {
		return nil, fmt.Errorf("store: locking a user: %w", err)
	}
	return &u, nil
}

// updateUser changes attributes of the current state of a user, so that concurrent changes of
// others stay.
func (t *tx) updateUser(c schemas.UpdateUser) error {
	u, err := t.lockUser(c.UserID)
	if err != nil {
		return err
	}
	u = u.With(c.Attributes)
	if unfit := u.CheckIdentifiers(); len(unfit) > 0 {
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest,
			"The %s cannot be kept: %s", unfit[0].Path, unfit[0].Message).WithProblems(unfit)
	}
	if err := t.writeAttributes(u, c.At); err != nil {
		return err
	}
	return t.reindexUser(u)
}

// writeAttributes replaces the attributes of a locked user.
func (t *tx) writeAttributes(u *schemas.User, at time.Time) error {
	text, err := marshalJSON(u.Attributes)
	if err != nil {
		return err
	}
	u.UpdatedAt = notBefore(at, u.UpdatedAt)
	if _, err := t.exec(updateUserAttributes, text, toMicros(u.UpdatedAt), u.ID); err != nil {
		return fmt.Errorf("store: changing a user: %w", err)
	}
	return nil
}

// reindexUser releases and claims the user's identifiers and unique values.
func (t *tx) reindexUser(u *schemas.User) error {
	for _, q := range []query{deleteIdentifiers, deleteUniqueValues, deleteEmails} {
		if _, err := t.exec(q, u.ID); err != nil {
			return fmt.Errorf("store: giving up the claims of a user: %w", err)
		}
	}
	return t.claim(u)
}
