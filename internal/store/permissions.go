package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// A principal has the permissions of its roles and of the roles of its groups, direct or
// nested. CROSS JOIN makes SQLite join in the given order, so that each step is an index
// lookup.
const (
	ofGroups = ` UNION SELECT m.group_id FROM belongs b CROSS JOIN group_members m WHERE m.member_id = b.id),
		has (role_id) AS (`
	ofRoles = ` UNION SELECT a.role_id FROM belongs b CROSS JOIN role_assignments a WHERE a.group_id = b.id)
		SELECT p.permission FROM has h CROSS JOIN role_permissions p WHERE p.role_id = h.role_id GROUP BY p.permission ORDER BY p.permission`

	selectPermissions query = `WITH RECURSIVE belongs (id) AS (SELECT group_id FROM group_members WHERE user_id = ?` +
		ofGroups + `SELECT role_id FROM role_assignments WHERE user_id = ?` + ofRoles

	selectGroupPermissions query = `WITH RECURSIVE belongs (id) AS (SELECT id FROM user_groups WHERE id = ?` +
		ofGroups + `SELECT role_id FROM role_assignments WHERE group_id = ?` + ofRoles

	selectProviderPermissions query = `WITH RECURSIVE belongs (id) AS (
		SELECT m.group_id FROM identities i CROSS JOIN group_members m WHERE i.provider_id = ? AND m.user_id = i.user_id` +
		ofGroups + `SELECT a.role_id FROM identities i CROSS JOIN role_assignments a WHERE i.provider_id = ? AND a.user_id = i.user_id` + ofRoles

	selectRegisteredScopes query = `SELECT scopes FROM oauth_profiles WHERE application_id = ?`

	selectApplicationPermissions query = `SELECT p.permission FROM role_assignments a CROSS JOIN role_permissions p
		WHERE a.application_id = ? AND p.role_id = a.role_id GROUP BY p.permission ORDER BY p.permission`
)

// Permissions returns the permissions of the user ("system"), sorted; none for an unknown
// user.
func (s *Store) Permissions(ctx context.Context, userID string) (permissions []string, err error) {
	if !isStorable(userID) {
		return nil, nil
	}
	err = s.each(ctx, selectPermissions, into(&permissions), userID, userID)
	if err != nil {
		return nil, fmt.Errorf("store: reading permissions: %w", err)
	}
	return permissions, nil
}

// ApplicationPermissions returns the permissions that the application has on its own behalf,
// sorted; none for an unknown one.
func (s *Store) ApplicationPermissions(ctx context.Context, applicationID string) (permissions []string, err error) {
	if !isStorable(applicationID) {
		return nil, nil
	}
	err = s.each(ctx, selectApplicationPermissions, into(&permissions), applicationID)
	if err != nil {
		return nil, fmt.Errorf("store: reading permissions: %w", err)
	}
	return permissions, nil
}

// RegisteredScopes returns the scopes registered for the application as an OAuth client; none
// if it is unknown or not a client.
func (s *Store) RegisteredScopes(ctx context.Context, applicationID string) ([]string, error) {
	if !isStorable(applicationID) {
		return nil, nil
	}
	var scopes sql.NullString
	err := s.row(ctx, selectRegisteredScopes, applicationID).Scan(&scopes)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("store: reading what an application is registered for: %w", err)
	}
	return list(scopes), nil
}

// PermissionsOf returns the permissions of a user or an application, or those that a group
// gives its members, sorted.
func PermissionsOf(ctx context.Context, r Reader, p schemas.Principal) (permissions []string, err error) {
	q := selectPermissions
	switch p.Type {
	case schemas.GroupPrincipal:
		q = selectGroupPermissions
	case schemas.ApplicationPrincipal:
		q = selectApplicationPermissions
	}
	if !isStorable(p.ID) {
		return nil, nil
	}
	args := make([]any, strings.Count(string(q), "?"))
	for i := range args {
		args[i] = p.ID
	}
	if err := rows(ctx, r, into(&permissions), string(q), args...); err != nil {
		return nil, fmt.Errorf("reading permissions: %w", err)
	}
	return permissions, nil
}

// ProviderPermissions returns the union of the permissions of all users with a linked identity
// at a provider, sorted.
func ProviderPermissions(ctx context.Context, r Reader, providerID string) (permissions []string, err error) {
	if err := rows(ctx, r, into(&permissions), string(selectProviderPermissions), providerID, providerID); err != nil {
		return nil, fmt.Errorf("looking for what users of an identity provider may do: %w", err)
	}
	return permissions, nil
}

// PermissionHolders returns the IDs of at most limit users with a permission or one above it,
// oldest first, including disabled and locked users.
func PermissionHolders(ctx context.Context, r Reader, permission string, limit int) (users []string, err error) {
	return findHolders(ctx, r, permission, "AS h ORDER BY user_id LIMIT ?", limit)
}

// ActiveHolders is PermissionHolders without the users who may not sign in at the given time.
func ActiveHolders(ctx context.Context, r Reader, permission string, at time.Time, limit int) (users []string, err error) {
	return findHolders(ctx, r, permission, `AS h CROSS JOIN users u WHERE u.id = h.user_id AND u.status = 'active'
		AND (u.locked_until IS NULL OR u.locked_until <= ?) ORDER BY h.user_id LIMIT ?`, toMicros(at), limit)
}

// findHolders returns the IDs of the users with a permission or one above it that the rest of
// the query selects.
func findHolders(ctx context.Context, r Reader, permission, rest string, more ...any) (users []string, err error) {
	if !isStorable(permission) {
		return nil, nil
	}
	var args []any
	for i := range len(permission) + 1 {
		if i == len(permission) || permission[i] == ':' {
			args = append(args, permission[:i])
		}
	}
	q := `WITH RECURSIVE grants (role_id) AS (SELECT role_id FROM role_permissions WHERE permission IN (` + placeholders(len(args)) + `)),
		granted (id) AS (
			SELECT a.group_id FROM grants g CROSS JOIN role_assignments a WHERE a.role_id = g.role_id AND a.group_id IS NOT NULL
			UNION SELECT m.member_id FROM granted g CROSS JOIN group_members m WHERE m.group_id = g.id AND m.member_id IS NOT NULL)
		SELECT user_id FROM (SELECT a.user_id FROM grants g CROSS JOIN role_assignments a WHERE a.role_id = g.role_id AND a.user_id IS NOT NULL
		UNION SELECT m.user_id FROM granted g CROSS JOIN group_members m WHERE m.group_id = g.id AND m.user_id IS NOT NULL) ` + rest
	if err := rows(ctx, r, into(&users), q, append(args, more...)...); err != nil {
		return nil, fmt.Errorf("looking for who has a permission: %w", err)
	}
	return users, nil
}

// into returns a scan function that appends the text of the only column to list.
func into(list *[]string) func(scanner) error {
	return func(row scanner) error {
		var text string
		err := row.Scan(&text)
		*list = append(*list, text)
		return err
	}
}
