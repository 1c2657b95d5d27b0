package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/postern-id/postern/schemas"
)

const (
	userColumns = `u.id, u.type, u.ou_id, u.attributes, u.created_at, u.updated_at`

	selectUser query = `SELECT ` + userColumns + ` FROM users u WHERE u.id = ?`

	selectUserByIdentifier query = `SELECT ` + userColumns + ` FROM user_identifiers i
		JOIN users u ON u.id = i.user_id WHERE i.value = ?`

	selectPassword    query = `SELECT hash FROM passwords WHERE user_id = ?`
	selectPermissions query = `WITH RECURSIVE belongs (id) AS (
			SELECT group_id FROM group_members WHERE user_id = ?
			UNION SELECT m.group_id FROM group_members m JOIN belongs b ON m.member_id = b.id),
		has (role_id) AS (
			SELECT role_id FROM role_assignments WHERE user_id = ?
			UNION SELECT a.role_id FROM role_assignments a JOIN belongs b ON a.group_id = b.id)
		SELECT p.permission FROM has JOIN role_permissions p ON p.role_id = has.role_id
		UNION SELECT permission FROM user_permissions WHERE user_id = ? ORDER BY permission`

	insertUser query = `INSERT INTO users (id, type, ou_id, attributes, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`

	insertIdentifier query = `INSERT INTO user_identifiers (value, user_id) VALUES (?, ?)
		ON CONFLICT (value) DO NOTHING`

	upsertPassword query = `INSERT INTO passwords (user_id, hash, set_at) VALUES (?, ?, ?)
		ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, set_at = excluded.set_at`

	insertPermission query = `INSERT INTO user_permissions (user_id, permission) VALUES (?, ?)
		ON CONFLICT (user_id, permission) DO NOTHING`
)

// User returns the user; an unknown one is user_not_found, Class NotFound.
func (s *Store) User(ctx context.Context, id string) (*schemas.User, error) {
	if !storable(id) {
		return nil, errNoUser()
	}
	return scanUser(s.row(ctx, selectUser, id))
}

// UserByAttribute returns the user whose identifying attribute has the value,
// compared by schemas.IdentifierKey; user_not_found when there is none, also if
// another identifying attribute of somebody has it.
func (s *Store) UserByAttribute(ctx context.Context, attribute, value string) (*schemas.User, error) {
	if !slices.Contains(schemas.IdentifyingAttributes(), attribute) {
		return nil, fmt.Errorf("store: attribute %q does not identify a user: expected one of %q",
			attribute, schemas.IdentifyingAttributes())
	}
	key := schemas.IdentifierKey(value)
	if key == "" {
		return nil, errNoUser()
	}
	u, err := scanUser(s.row(ctx, selectUserByIdentifier, key))
	if err != nil {
		return nil, err
	}
	if schemas.IdentifierKey(u.Text(attribute)) != key { // it is another attribute that has the value
		return nil, errNoUser()
	}
	return u, nil
}

// PasswordHash returns the hash of the user's password in PHC string format, ""
// when the user has none or is unknown.
func (s *Store) PasswordHash(ctx context.Context, userID string) (hash string, err error) {
	if !storable(userID) {
		return "", nil
	}
	err = s.row(ctx, selectPassword, userID).Scan(&hash)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("store: reading a password hash: %w", err)
	}
	return hash, nil
}

// Permissions returns what the user may do ("system"), sorted; none for an
// unknown user.
func (s *Store) Permissions(ctx context.Context, userID string) (permissions []string, err error) {
	if !storable(userID) {
		return nil, nil
	}
	err = s.each(ctx, selectPermissions, func(row scanner) error {
		var p string
		err := row.Scan(&p)
		permissions = append(permissions, p)
		return err
	}, userID, userID, userID)
	if err != nil {
		return nil, fmt.Errorf("store: reading permissions: %w", err)
	}
	return permissions, nil
}

func scanUser(row scanner) (*schemas.User, error) {
	var u schemas.User
	var attributes []byte
	var created, updated int64
	err := row.Scan(&u.ID, &u.Type, &u.OUID, &attributes, &created, &updated)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errNoUser()
	}
	if err != nil {
		return nil, fmt.Errorf("store: reading a user: %w", err)
	}
	if err := parse(attributes, &u.Attributes); err != nil {
		return nil, err
	}
	u.CreatedAt, u.UpdatedAt = moment(created), moment(updated)
	return &u, nil
}

func errNoUser() error {
	return schemas.Errorf(schemas.NotFound, schemas.CodeUserNotFound, "There is no such user.")
}

func (t *tx) createUser(u schemas.User) error {
	if unfit := u.CheckIdentifiers(); len(unfit) > 0 {
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest,
			"The %s cannot be kept: %s", unfit[0].Path, unfit[0].Message).WithProblems(unfit)
	}
	if u.Attributes == nil {
		u.Attributes = map[string]any{}
	}
	attributes, err := document(u.Attributes)
	if err != nil {
		return err
	}
	n, err := t.exec(insertUser, u.ID, u.Type, u.OUID, attributes, micros(u.CreatedAt), micros(u.UpdatedAt))
	if err != nil {
		return fmt.Errorf("store: creating a user: %w", err)
	}
	if n == 0 {
		return schemas.Errorf(schemas.Conflict, "user_exists", "There is a user with the id %s already.", u.ID)
	}
	return t.claimIdentifiers(&u)
}

// claimIdentifiers claims every value the user can be found by, and tells of all
// that are taken. The values go in their order: two users who want the same ones
// must not wait for each other.
func (t *tx) claimIdentifiers(u *schemas.User) error {
	wanted := map[string][]string{} // value → the attributes that have it
	for _, attribute := range schemas.IdentifyingAttributes() {
		if key := schemas.IdentifierKey(u.Text(attribute)); key != "" {
			wanted[key] = append(wanted[key], attribute)
		}
	}
	var taken []string
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		n, err := t.exec(insertIdentifier, key, u.ID)
		if err != nil {
			return fmt.Errorf("store: claiming an identifier of a user: %w", err)
		}
		if n == 0 {
			taken = append(taken, wanted[key]...)
		}
	}
	if len(taken) > 0 {
		return errTaken(taken)
	}
	return nil
}

// errTaken tells which attributes have values of other users.
func errTaken(attributes []string) error {
	var problems []schemas.Problem
	for _, attribute := range schemas.IdentifyingAttributes() {
		if slices.Contains(attributes, attribute) {
			problems = append(problems, schemas.Problem{Path: attribute, Message: "is taken by another user; choose another"})
		}
	}
	return schemas.Errorf(schemas.Conflict, schemas.CodeAttributeTaken,
		"Another user has this %s already. Choose another, or sign in.", problems[0].Path).WithProblems(problems)
}

func (t *tx) setPassword(c schemas.SetPassword) error {
	_, err := t.exec(upsertPassword, c.UserID, c.Hash, micros(c.At))
	if isForeignKeyViolation(err) {
		return errNoUser()
	}
	if err != nil {
		return fmt.Errorf("store: setting a password: %w", err)
	}
	return nil
}

func (t *tx) grant(userID string, permissions []string) error {
	for _, permission := range permissions {
		_, err := t.exec(insertPermission, userID, permission)
		if isForeignKeyViolation(err) {
			return errNoUser()
		}
		if err != nil {
			return fmt.Errorf("store: granting a permission: %w", err)
		}
	}
	return nil
}
