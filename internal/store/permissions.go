package store

import (
	"context"
	"slices"
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

	userRoles = `WITH RECURSIVE belongs (id) AS (SELECT group_id FROM group_members WHERE user_id = ?` +
		ofGroups + `SELECT role_id FROM role_assignments WHERE user_id = ?`

	// withUserRoles names the roles of a user.
	withUserRoles = userRoles + ` UNION SELECT a.role_id FROM belongs b CROSS JOIN role_assignments a WHERE a.group_id = b.id)
		`

	selectPermissions = userRoles + ofRoles

	// permissionsColumn are those of a user u, as JSON. Most users have none, and finding them is the most
	// expensive part of a query.
	permissionsColumn = `CASE WHEN EXISTS (SELECT 1 FROM group_members WHERE user_id = u.id) OR EXISTS (SELECT 1 FROM role_assignments WHERE user_id = u.id)
		THEN (SELECT JSON_AGG(permission) FROM (WITH RECURSIVE belongs (id) AS (SELECT group_id FROM group_members WHERE user_id = u.id` +
		ofGroups + `SELECT role_id FROM role_assignments WHERE user_id = u.id` + ofRoles + `) AS held) END`

	selectGroups = `WITH RECURSIVE belongs (id) AS (SELECT group_id FROM group_members WHERE user_id = ?
		UNION SELECT m.group_id FROM belongs b CROSS JOIN group_members m WHERE m.member_id = b.id)
		SELECT g.id, g.name, NOT EXISTS (SELECT 1 FROM group_members m WHERE m.group_id = g.id AND m.user_id = ?)
		FROM belongs b CROSS JOIN user_groups g WHERE g.id = b.id ORDER BY g.name`

	selectRoles = `WITH RECURSIVE belongs (id) AS (SELECT group_id FROM group_members WHERE user_id = ?` +
		ofGroups + `SELECT role_id FROM role_assignments WHERE user_id = ?
		UNION SELECT a.role_id FROM belongs b CROSS JOIN role_assignments a WHERE a.group_id = b.id)
		SELECT r.id, r.name, NOT EXISTS (SELECT 1 FROM role_assignments a WHERE a.role_id = r.id AND a.user_id = ?)
		FROM has h CROSS JOIN roles r WHERE r.id = h.role_id ORDER BY r.name`

	selectGroupPermissions = `WITH RECURSIVE belongs (id) AS (SELECT id FROM user_groups WHERE id = ?` +
		ofGroups + `SELECT role_id FROM role_assignments WHERE group_id = ?` + ofRoles

	selectProviderPermissions = `WITH RECURSIVE belongs (id) AS (
		SELECT m.group_id FROM identities i CROSS JOIN group_members m WHERE i.provider_id = ? AND m.user_id = i.user_id` +
		ofGroups + `SELECT a.role_id FROM identities i CROSS JOIN role_assignments a WHERE i.provider_id = ? AND a.user_id = i.user_id` + ofRoles

	selectRegisteredScopes = `SELECT scopes FROM oauth_profiles WHERE application_id = ?`

	selectApplicationPermissions = `SELECT p.permission FROM role_assignments a CROSS JOIN role_permissions p
		WHERE a.application_id = ? AND p.role_id = a.role_id GROUP BY p.permission ORDER BY p.permission`
)

// Permissions returns the permissions of the user ("system"), sorted; none for an unknown
// user.
func (s *Store) Permissions(ctx context.Context, userID string) ([]string, error) {
	if held := aheadOf(ctx).takePermissions(userID); held != nil {
		return slices.Concat(*held), nil // nil for none
	}
	return readAll(ctx, s, scanValue[string], selectPermissions, userID, userID)
}

// GroupNames returns the names of the groups of the user, direct or nested, sorted.
func (s *Store) GroupNames(ctx context.Context, userID string) ([]string, error) {
	return namesOf(GroupsOf(ctx, s, userID))
}

// RoleNames returns the names of the roles of the user and of the user's groups, sorted.
func (s *Store) RoleNames(ctx context.Context, userID string) ([]string, error) {
	return namesOf(RolesOf(ctx, s, userID))
}

func namesOf(list []schemas.Membership, err error) (names []string, _ error) {
	for _, m := range list {
		names = append(names, m.Name)
	}
	return names, err
}

// GroupsOf returns the groups of the user, direct or nested, sorted by name.
func GroupsOf(ctx context.Context, r Reader, userID string) ([]schemas.Membership, error) {
	return readAll(ctx, r, scanMembership, selectGroups, userID, userID)
}

// RolesOf returns the roles of the user and of the user's groups, sorted by name.
func RolesOf(ctx context.Context, r Reader, userID string) ([]schemas.Membership, error) {
	return readAll(ctx, r, scanMembership, selectRoles, userID, userID, userID)
}

func scanMembership(row scanner, m *schemas.Membership) error {
	return row.Scan(&m.ID, &m.Name, &m.Inherited)
}

// ApplicationPermissions returns the permissions that the application has on its own behalf,
// sorted; none for an unknown one.
func (s *Store) ApplicationPermissions(ctx context.Context, applicationID string) ([]string, error) {
	return readAll(ctx, s, scanValue[string], selectApplicationPermissions, applicationID)
}

// RegisteredScopes returns the scopes registered for the application as an OAuth client; none
// if it is unknown or not a client.
func (s *Store) RegisteredScopes(ctx context.Context, applicationID string) ([]string, error) {
	return readValue[lines](ctx, s, selectRegisteredScopes, applicationID)
}

// PermissionsOf returns the permissions of a user or an application, or those that a group
// gives its members, sorted.
func PermissionsOf(ctx context.Context, r Reader, p schemas.Principal) ([]string, error) {
	q := selectPermissions
	switch p.Type {
	case schemas.GroupPrincipal:
		q = selectGroupPermissions
	case schemas.ApplicationPrincipal:
		q = selectApplicationPermissions
	}
	args := slices.Repeat([]any{p.ID}, strings.Count(q, "?"))
	return readAll(ctx, r, scanValue[string], q, args...)
}

// ProviderPermissions returns the union of the permissions of all users with a linked identity
// at a provider, sorted.
func ProviderPermissions(ctx context.Context, r Reader, providerID string) ([]string, error) {
	return readAll(ctx, r, scanValue[string], selectProviderPermissions, providerID, providerID)
}

// PermissionHolders returns the IDs of at most limit users with a permission or one above it,
// oldest first, including disabled and locked users.
func PermissionHolders(ctx context.Context, r Reader, permission string, limit int) ([]string, error) {
	return findHolders(ctx, r, permission, "AS h ORDER BY user_id LIMIT ?", limit)
}

// ActiveHolders is PermissionHolders without the users who may not sign in at the given time.
func ActiveHolders(ctx context.Context, r Reader, permission string, at time.Time, limit int) ([]string, error) {
	return findHolders(ctx, r, permission, `AS h CROSS JOIN users u WHERE u.id = h.user_id AND u.status = 'active'
		AND (u.locked_until IS NULL OR u.locked_until <= ?) ORDER BY h.user_id LIMIT ?`, toMicros(at), limit)
}

// findHolders returns the IDs of the users with a permission or one above it that the rest of
// the query selects.
func findHolders(ctx context.Context, r Reader, permission, rest string, more ...any) ([]string, error) {
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
	return readAll(ctx, r, scanValue[string], q, append(args, more...)...)
}

// A permission of a resource or a resource server includes everything below it.
const selectPermissionWord = `SELECT CASE p.kind WHEN 'action' THEN p.name WHEN 'resource' THEN p.name || ': everything'
	ELSE s.name || ': everything' END FROM permissions p JOIN resource_servers s ON s.id = p.server_id WHERE p.permission = ?`

// PermissionNames returns the names of permissions in their resource servers. It omits permissions
// that do not exist.
func (s *Store) PermissionNames(ctx context.Context, permissions []string) (map[string]string, error) {
	words := map[string]string{}
	for _, permission := range permissions {
		word, err := readValue[string](ctx, s, selectPermissionWord, permission)
		if err != nil {
			return nil, err
		}
		if word != "" {
			words[permission] = word
		}
	}
	return words, nil
}
