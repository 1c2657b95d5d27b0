package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

const (
	userColumns = `u.id, u.type, u.ou_id, u.attributes, u.status, u.locked_until, u.created_at, u.updated_at`

	selectUser query = `SELECT ` + userColumns + ` FROM users u WHERE u.id = ?`

	selectUserByIdentifier query = `SELECT ` + userColumns + ` FROM user_identifiers i
		JOIN users u ON u.id = i.user_id WHERE i.value = ` + scopedValue

	selectPassword query = `SELECT hash, id FROM passwords WHERE user_id = ?`

	insertUser query = `INSERT INTO users (id, type, ou_id, attributes, status, locked_until, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`

	upsertPassword query = `INSERT INTO passwords (user_id, id, hash, set_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (user_id) DO UPDATE SET id = excluded.id, hash = excluded.hash, set_at = excluded.set_at`

	updatePasswordHash query = `UPDATE passwords SET hash = ? WHERE user_id = ? AND hash = ?`
)

// User returns the user; an unknown one is user_not_found, Class NotFound.
func (s *Store) User(ctx context.Context, id string) (*schemas.User, error) {
	if !isStorable(id) {
		return nil, errNoUser()
	}
	return scanUser(s.row(ctx, selectUser, id))
}

// UserByAttribute returns the user that the identifying attribute identifies
// (schemas.User.Identifier), compared by schemas.IdentifierKey, in the identifier scope of the
// user type; "" is the global scope. It fails with user_not_found if there is none, also if the
// value identifies a user under another attribute.
func (s *Store) UserByAttribute(ctx context.Context, userType, attribute, value string) (*schemas.User, error) {
	if !slices.Contains(schemas.IdentifyingAttributes(), attribute) {
		return nil, fmt.Errorf("store: attribute %q does not identify a user: expected one of %q",
			attribute, schemas.IdentifyingAttributes())
	}
	key := schemas.IdentifierKey(value)
	if key == "" || strings.Contains(key, scopeSeparator) || !isStorable(userType) {
		return nil, errNoUser()
	}
	u, err := scanUser(s.row(ctx, selectUserByIdentifier, userType, key))
	if err != nil {
		return nil, err
	}
	if schemas.IdentifierKey(u.Identifier(attribute)) != key { // it is another attribute that has the value
		return nil, errNoUser()
	}
	return u, nil
}

// PasswordHash returns the hash of the user's password in PHC string format and the ID of the
// password (see schemas.SetPassword). The hash is "" if the user is unknown or has no
// password.
func (s *Store) PasswordHash(ctx context.Context, userID string) (hash, id string, err error) {
	if !isStorable(userID) {
		return "", "", nil
	}
	err = s.row(ctx, selectPassword, userID).Scan(&hash, &id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", "", fmt.Errorf("store: reading a password hash: %w", err)
	}
	return hash, id, nil
}

func scanUser(row scanner) (*schemas.User, error) {
	var u schemas.User
	err := scanUserRow(row, &u)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errNoUser()
	}
	if err != nil {
		return nil, fmt.Errorf("store: reading a user: %w", err)
	}
	return &u, nil
}

func scanUserRow(row scanner, u *schemas.User) error {
	var attributes []byte
	var locked sql.NullInt64
	err := row.Scan(&u.ID, &u.Type, &u.OUID, &attributes, &u.Status, &locked, (*microTime)(&u.CreatedAt), (*microTime)(&u.UpdatedAt))
	if err != nil {
		return err
	}
	u.LockedUntil = optionalFromMicros(locked)
	return parse(attributes, &u.Attributes)
}

func userValues(u *schemas.User) ([]any, error) {
	attributes := "{}"
	if u.Attributes != nil {
		var err error
		if attributes, err = marshalJSON(u.Attributes); err != nil {
			return nil, err
		}
	}
	status := cmp.Or(u.Status, schemas.UserActive)
	return []any{u.ID, u.Type, u.OUID, attributes, status, optionalMicros(u.LockedUntil), toMicros(u.CreatedAt), toMicros(u.UpdatedAt)}, nil
}

func errNoUser() error {
	return schemas.Errorf(schemas.NotFound, schemas.CodeUserNotFound, "There is no such user.")
}

func (t *tx) createUser(u schemas.User) error {
	if unfit := u.CheckIdentifiers(); len(unfit) > 0 {
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest,
			"The %s cannot be kept: %s", unfit[0].Path, unfit[0].Message).WithProblems(unfit)
	}
	values, err := userValues(&u)
	if err != nil {
		return err
	}
	n, err := t.exec(insertUser, values...)
	if isForeignKeyViolation(err) {
		return schemas.Errorf(schemas.Conflict, schemas.CodeConflict,
			"There is no user type %q, or no organization unit %q; they may have been deleted. Name others.", u.Type, u.OUID)
	}
	if err != nil {
		return fmt.Errorf("store: creating a user: %w", err)
	}
	if n == 0 {
		return schemas.Errorf(schemas.Conflict, "user_exists", "There is a user with the id %s already.", u.ID)
	}
	return t.claim(&u)
}

// setPassword ends the runs and sessions that someone with the old password may have started.
func (t *tx) setPassword(c schemas.SetPassword) error {
	if _, err := t.lockUser(c.UserID); err != nil {
		return err
	}
	if _, err := t.exec(upsertPassword, c.UserID, cmp.Or(c.ID, schemas.NewID()), c.Hash, toMicros(c.At)); err != nil {
		return fmt.Errorf("store: setting a password: %w", err)
	}
	if err := t.endRuns(c.UserID); err != nil {
		return err
	}
	if err := t.endOtherSessions(c.UserID, newPassword, c.At); err != nil {
		return err
	}
	return t.endSessionsOn(c.UserID, schemas.Proof{Kind: schemas.PasswordProof}, c.At) // those that live on forget the old one
}

// rehashPassword replaces a hash unless the stored one has changed. It does not lock the user,
// because the password stays the same.
func (t *tx) rehashPassword(c schemas.RehashPassword) error {
	if _, err := t.exec(updatePasswordHash, c.Hash, c.UserID, c.Verified); err != nil {
		return fmt.Errorf("store: replacing a password hash: %w", err)
	}
	return nil
}
