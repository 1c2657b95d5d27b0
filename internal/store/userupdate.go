package store

import (
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	// A transaction that reads a user to write it blocks others that do.
	lockUser = `UPDATE users SET updated_at = updated_at WHERE id = ?
		RETURNING id, type, ou_id, attributes, status, locked_until, created_at, updated_at`

	updateUserAttributes = `UPDATE users SET attributes = ?, updated_at = ? WHERE id = ?`

	deleteIdentifiers  = `DELETE FROM user_identifiers WHERE user_id = ?`
	deleteUniqueValues = `DELETE FROM user_unique_values WHERE user_id = ?`
	deleteEmails       = `DELETE FROM user_emails WHERE user_id = ?`
)

// lockUser returns the user and blocks other callers until the transaction ends. An unknown
// one is user_not_found.
func (t *Tx) lockUser(id string) (*schemas.User, error) {
	return readOne(t.row(lockUser, id), scanUser, errNoUser)
}

// updateUser changes attributes of the current state of a user, so that concurrent changes of
// others stay.
func (t *Tx) updateUser(c schemas.UpdateUser) error {
	u, err := t.lockUser(c.UserID)
	if err != nil {
		return err
	}
	u = u.With(c.Attributes)
	if err := checkIdentifiers(u); err != nil {
		return err
	}
	if err := t.writeAttributes(u, c.At); err != nil {
		return err
	}
	return ReindexUser(t, u)
}

// writeAttributes replaces the attributes of a locked user.
func (t *Tx) writeAttributes(u *schemas.User, at time.Time) error {
	u.UpdatedAt = notBefore(at, u.UpdatedAt)
	_, err := t.exec(updateUserAttributes, asJSON(u.Attributes), toMicros(u.UpdatedAt), u.ID)
	return err
}

// ReindexUser releases and claims a user's identifiers and unique values. Call it after the
// unique attributes of the user's type change; the methods of Users call it themselves.
func ReindexUser(t *Tx, u *schemas.User) error {
	for _, q := range []string{deleteIdentifiers, deleteUniqueValues, deleteEmails} {
		if _, err := t.exec(q, u.ID); err != nil {
			return err
		}
	}
	return t.claim(u)
}
