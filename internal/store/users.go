package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	userColumns = `u.id, u.type, u.ou_id, u.attributes, u.status, u.locked_until, u.created_at, u.updated_at,
		COALESCE((SELECT identifier_scope FROM user_types WHERE name = u.type), '')`

	selectUser = `SELECT ` + userColumns + ` FROM users u WHERE u.id = ?`

	selectUserByIdentifier = `SELECT ` + userColumns + ` FROM user_identifiers i
		JOIN users u ON u.id = i.user_id WHERE i.value = ` + scopedValue

	selectPassword = `SELECT hash, id, added_by FROM passwords WHERE user_id = ?`

	insertUser = `INSERT INTO users (id, type, ou_id, attributes, status, locked_until, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`

	upsertPassword = `INSERT INTO passwords (user_id, id, hash, set_at, added_by) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (user_id) DO UPDATE SET id = excluded.id, hash = excluded.hash, set_at = excluded.set_at, added_by = excluded.added_by`

	updatePasswordHash = `UPDATE passwords SET hash = ? WHERE user_id = ? AND hash = ?`
)

// User returns the user; an unknown one is user_not_found, Class NotFound.
func (s *Store) User(ctx context.Context, id string) (*schemas.User, error) {
	if u := aheadOf(ctx).takeUser(id); u != nil {
		return u, nil
	}
	return readOne(s.row(ctx, selectUser, id), scanUser, errNoUser)
}

// UserOf is User for a Reader.
func UserOf(ctx context.Context, r Reader, id string) (*schemas.User, error) {
	if u := aheadIn(ctx, r).takeUser(id); u != nil {
		return u, nil
	}
	return Users().Get(ctx, r, id)
}

const selectSessionUser = selectUser + ` AND EXISTS (SELECT 1 FROM sessions s WHERE s.id = ?)`

// SessionUser returns the user while the session has not ended. Otherwise, and if the user is unknown,
// the error is user_not_found, Class NotFound.
func (s *Store) SessionUser(ctx context.Context, sessionID, userID string) (*schemas.User, error) {
	if u := aheadOf(ctx).takeSessionUser(sessionID, userID); u != nil {
		return u, nil
	}
	return readOne(s.row(ctx, selectSessionUser, userID, sessionID), scanUser, errNoUser)
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
	if key == "" || strings.Contains(key, scopeSeparator) {
		return nil, errNoUser()
	}
	u, err := readOne(s.row(ctx, selectUserByIdentifier, userType, key), scanUser, errNoUser)
	if err != nil {
		return nil, err
	}
	if schemas.IdentifierKey(u.Identifier(attribute)) != key { // it is another attribute that has the value
		return nil, errNoUser()
	}
	return u, nil
}

// Password returns the user's password, the zero value if the user is unknown or has none.
func (s *Store) Password(ctx context.Context, userID string) (p schemas.Password, err error) {
	err = s.row(ctx, selectPassword, userID).Scan(&p.Hash, &p.ID, provenance{&p.AddedBy})
	if errors.Is(err, sql.ErrNoRows) {
		return p, nil
	}
	return p, err
}

func scanUser(row scanner, u *schemas.User) error { return row.Scan(userDestinations(u)...) }

func userDestinations(u *schemas.User) []any {
	return []any{&u.ID, &u.Type, &u.OUID, asJSON(&u.Attributes), &u.Status, (*nullTime)(&u.LockedUntil), (*microTime)(&u.CreatedAt), (*microTime)(&u.UpdatedAt), &u.IdentifierScope}
}

func userValues(u *schemas.User) ([]any, error) {
	attributes := u.Attributes
	if attributes == nil {
		attributes = map[string]any{}
	}
	return []any{u.ID, u.Type, u.OUID, asJSON(attributes), cmp.Or(u.Status, schemas.UserActive), (*nullTime)(&u.LockedUntil),
		toMicros(u.CreatedAt), toMicros(u.UpdatedAt)}, nil
}

func errNoUser() error {
	return schemas.Errorf(schemas.NotFound, schemas.CodeUserNotFound, "there is no such user")
}

func (t *Tx) createUser(u schemas.User) error {
	if err := checkIdentifiers(&u); err != nil {
		return err
	}
	values, err := userValues(&u)
	if err != nil {
		return err
	}
	err = t.change(func() error {
		return schemas.Errorf(schemas.Conflict, "user_exists", "there is a user with the id %s already", u.ID)
	}, insertUser, values...)
	if isForeignKeyViolation(err) {
		return schemas.Errorf(schemas.Conflict, schemas.CodeConflict,
			"there is no user type %q, or no organization unit %q; they may have been deleted", u.Type, u.OUID)
	}
	if err != nil {
		return err
	}
	t.createdUser = u.ID
	return t.claim(&u)
}

// setPassword ends the runs and sessions that someone with the old password may have started.
func (t *Tx) setPassword(c schemas.SetPassword) error {
	if _, err := t.lockUser(c.UserID); err != nil {
		return err
	}
	id := cmp.Or(c.ID, schemas.NewID())
	if err := t.leavePassword(c.UserID, id, c.At, c.Confirmed); err != nil {
		return err
	}
	if _, err := t.exec(upsertPassword, c.UserID, id, c.Hash, toMicros(c.At), provenance{&c.AddedBy}); err != nil {
		return err
	}
	if err := t.replaceSecret(c.UserID, schemas.PasswordSecret); err != nil {
		return err
	}
	if err := t.endRuns(c.UserID); err != nil {
		return err
	}
	if err := t.endSessions(c.UserID, newPassword, c.At, t.actor.sessions...); err != nil {
		return err
	}
	return t.endSessionsOn(c.UserID, schemas.Proof{Kind: schemas.PasswordProof}, c.At) // those that continue lose the old proof
}

// rehashPassword replaces a hash unless the stored one has changed. It does not lock the user,
// because the password stays the same.
func (t *Tx) rehashPassword(c schemas.RehashPassword) error {
	_, err := t.exec(updatePasswordHash, c.Hash, c.UserID, c.Verified)
	return err
}

// Users is the table of the users without their credentials. Writing a user claims the
// identifiers and unique values; a value of another user is attribute_taken, Class Conflict.
func Users() *Table[schemas.User] {
	return &Table[schemas.User]{
		noun: "user", code: schemas.CodeUserNotFound, name: "users",
		columns: []string{"id", "type", "ou_id", "attributes", "status", "locked_until", "created_at", "updated_at"},
		filters: map[string]string{
			"id": "id = ?", "type": "type = ?", "ouId": "ou_id = ?",
			"username": "id IN (SELECT user_id FROM user_identifiers WHERE username = ?)",
			"email":    "id IN (SELECT user_id FROM user_emails WHERE address = ?)",
		},
		prefixes: map[string]prefixIndex{
			"username": {table: "user_identifiers", column: "username", id: "user_id", order: "username, user_id"},
			"email":    {table: "user_emails", column: "address", id: "user_id", order: "address, user_id"},
		},
		counted: []string{"", "type", "ouId"},
		id:      func(u *schemas.User) string { return u.ID },
		joined:  []string{scopeOfType},
		values:  userValues,
		scan:    scanUser,
		write:   ReindexUser,
		deleted: reserveUserID,
		key: func(member, value string) string {
			if slices.Contains(schemas.IdentifyingAttributes(), member) {
				return schemas.IdentifierKey(value)
			}
			return value
		},
	}
}

// reserveUserID keeps the ID of a deleted user from being assigned to another one.
func reserveUserID(t *Tx, id string) error {
	_, err := t.exec("INSERT INTO deleted_users (id) VALUES (?) ON CONFLICT (id) DO NOTHING", id)
	return err
}

func checkIdentifiers(u *schemas.User) error {
	unfit := u.CheckIdentifiers()
	if len(unfit) == 0 {
		return nil
	}
	return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest,
		"The %s cannot be kept: %s", unfit[0].Path, unfit[0].Message).WithProblems(unfit)
}

const (
	// A transaction that reads a user in order to write it blocks other such transactions.
	lockUser = `UPDATE users SET updated_at = updated_at WHERE id = ?
		RETURNING id, type, ou_id, attributes, status, locked_until, created_at, updated_at, ` + scopeOfType

	// scopeOfType is the identifier scope of a user's type.
	scopeOfType = `COALESCE((SELECT identifier_scope FROM user_types WHERE name = users.type), '')`

	updateUserAttributes = `UPDATE users SET attributes = ?, updated_at = ? WHERE id = ?`

	deleteIdentifiers  = `DELETE FROM user_identifiers WHERE user_id = ?`
	deleteUniqueValues = `DELETE FROM user_unique_values WHERE user_id = ?`
	deleteEmails       = `DELETE FROM user_emails WHERE user_id = ?`
)

// lockUser returns the user and blocks other callers until the transaction ends. An unknown
// one is user_not_found.
func (t *Tx) lockUser(id string) (*schemas.User, error) {
	t.forget()
	return readOne(t.row(lockUser, id), scanUser, errNoUser)
}

// updateUser changes attributes of the current state of a user, so that concurrent changes of
// others stay.
func (t *Tx) updateUser(c schemas.UpdateUser) error {
	if err := t.checkOwners(c.UserID, slices.Sorted(maps.Keys(c.Attributes)), c.By); err != nil {
		return err
	}
	return t.changeAttributes(c)
}

// changeAttributes is updateUser for attributes of any owner.
func (t *Tx) changeAttributes(c schemas.UpdateUser) error {
	u, err := t.lockUser(c.UserID)
	if err != nil {
		return err
	}
	old := u
	u = u.With(c.Attributes)
	if err := checkIdentifiers(u); err != nil {
		return err
	}
	if err := t.writeAttributes(u, c.At); err != nil {
		return err
	}
	if err := RecordAddressChange(t, old, u, c.AddedBy, c.At); err != nil {
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
