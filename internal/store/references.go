package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Use is a reference to a resource.
type Use struct {
	schemas.ResourceRef
	Name string // what people call it
	How  string // "belongs to it": what follows its name
}

// maxUses limits the references in an error.
const maxUses = 20

// Uses returns at most maxUses references that prevent the deletion of the resource. For
// resource servers see PermissionUses.
func Uses(ctx context.Context, r Reader, noun, id string) (uses []Use, err error) {
	for _, ref := range references()[noun] {
		q := "SELECT id, " + ref.label + " FROM " + ref.table + " WHERE " + ref.condition + " ORDER BY id LIMIT ?"
		err := rows(ctx, r, func(row scanner) error {
			u := Use{ResourceRef: schemas.ResourceRef{Type: ref.noun}, How: ref.how}
			err := row.Scan(&u.ID, &u.Name)
			uses = append(uses, u)
			return err
		}, q, id, maxUses-len(uses))
		if err != nil {
			return nil, err
		}
		if len(uses) == maxUses {
			break
		}
	}
	return uses, nil
}

// reference describes one kind of reference: the rows of table that meet the condition, whose
// parameter is the resource's ID.
type reference struct{ noun, table, label, condition, how string }

// references lists the references to each noun. A user is shown by ID only: an administrator
// of units need not know user names.
func references() map[string][]reference {
	return map[string][]reference{
		"organizationUnit": {
			{"organizationUnit", "organization_units", "handle", "parent_id = ?", "is a part of it"},
			{"userType", "user_types", "name", "ou_id = ?", "belongs to it"},
			{"application", "applications", "name", "ou_id = ?", "belongs to it"},
			{"group", "user_groups", "name", "ou_id = ?", "belongs to it"},
			{"role", "roles", "name", "ou_id = ?", "belongs to it"},
			{"resourceServer", "resource_servers", "handle", "ou_id = ?", "belongs to it"},
			{"user", "users", "id", "ou_id = ?", "belongs to it"},
		},
		"userType": {
			// Package directory finds the applications that allow it outside of the transaction.
			{"user", "users", "id", "type = (SELECT t.name FROM user_types t WHERE t.id = ?)", "is of it"},
		},
		"flow": {
			{"application", "applications", "name", "auth_flow_id = ?", "signs people in with it"},
			{"application", "applications", "name", "registration_flow_id = ?", "registers people with it"},
			{"application", "applications", "name", "recovery_flow_id = ?", "recovers accounts with it"},
			{"application", "applications", "name", "invitation_flow_id = ?", "invites people with it"},
			{"application", "applications", "name", "address_flow_id = ?", "changes addresses with it"},
			{"flow", "flows", "handle", "id IN (SELECT f.id FROM flow_uses u JOIN flows f ON f.id = u.flow_id AND f.active_version = u.version " +
				"WHERE u.used_id = ?)", "uses it"},
		},
		"group": {
			{"role", "roles", "name", "id IN (SELECT role_id FROM role_assignments WHERE group_id = ?)", "is assigned to it"},
			{"group", "user_groups", "name", "id IN (SELECT group_id FROM group_members WHERE member_id = ?)", "has it as a member"},
		},
	}
}

// containsLine is the condition that a column of lines contains a word, in SQL that both
// databases support.
func containsLine(column, word string) string {
	const newline = "'\n'"
	all := newline + " || " + column
	return "REPLACE(" + all + ", " + newline + " || " + word + " || " + newline + ", '') <> " + all
}

// PermissionUses returns at most maxUses roles that grant one of the permissions and clients
// that have one as a registered scope.
func PermissionUses(ctx context.Context, r Reader, permissions []string) (uses []Use, err error) {
	if len(permissions) == 0 {
		return nil, nil
	}
	for some := range slices.Chunk(permissions, maxOwners) {
		err := rows(ctx, r, func(row scanner) error {
			u, permission := Use{ResourceRef: schemas.ResourceRef{Type: "role"}}, ""
			err := row.Scan(&u.ID, &u.Name, &permission)
			u.How = fmt.Sprintf("grants %q", permission)
			uses = append(uses, u)
			return err
		}, `SELECT r.id, r.name, p.permission FROM role_permissions p JOIN roles r ON r.id = p.role_id
			WHERE p.permission IN (`+placeholders(len(some))+`) ORDER BY r.id, p.permission LIMIT ?`,
			append(toArgs(some), maxUses-len(uses))...)
		if err != nil {
			return nil, err
		}
	}
	return appendScopeUses(ctx, r, uses, permissions)
}

// appendScopeUses reads the scopes of every client, because they have no index. Permissions
// are rarely removed.
func appendScopeUses(ctx context.Context, r Reader, uses []Use, permissions []string) ([]Use, error) {
	wanted := make(map[string]bool, len(permissions))
	for _, permission := range permissions {
		wanted[permission] = true
	}
	err := rows(ctx, r, func(row scanner) error {
		var id, name, scopes string
		if err := row.Scan(&id, &name, &scopes); err != nil {
			return err
		}
		for scope := range strings.SplitSeq(scopes, "\n") {
			if wanted[scope] && len(uses) < maxUses {
				ref := schemas.ResourceRef{Type: "application", ID: id}
				uses = append(uses, Use{ref, name, fmt.Sprintf("has %q as a registered scope", scope)})
			}
		}
		return nil
	}, "SELECT a.id, a.name, o.scopes FROM oauth_profiles o JOIN applications a ON a.id = o.application_id WHERE o.scopes IS NOT NULL ORDER BY a.id")
	return uses, err
}

// ExistingKeys returns the values that exist, in as few queries as possible. The values of
// "user", "group" and "application" are IDs, those of "userType" names, and those of
// "permission" the permissions.
func ExistingKeys(ctx context.Context, r Reader, noun string, values []string) (map[string]bool, error) {
	from := map[string]string{
		"user": "id FROM users WHERE id", "group": "id FROM user_groups WHERE id", "application": "id FROM applications WHERE id",
		"userType": "name FROM user_types WHERE name", "permission": "permission FROM permissions WHERE permission",
	}[noun]
	known := make(map[string]bool, len(values))
	values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !isStorable(v) })
	for some := range slices.Chunk(values, maxOwners) {
		found, err := readAll(ctx, r, scanValue[string], "SELECT "+from+" IN ("+placeholders(len(some))+")", toArgs(some)...)
		if err != nil {
			return nil, err
		}
		for _, value := range found {
			known[value] = true
		}
	}
	return known, nil
}

// DeletedUser is the noun of the ID of a user who was deleted.
const DeletedUser = "deletedUser"

// NounOf returns the noun of the resource with the ID, "" if there is none. A client ID
// identifies its application, because both occur as actors. The ID of a deleted user stays that
// user's: other services may know the user by it (OpenID Connect Core §2).
func NounOf(ctx context.Context, r Reader, id string) (noun string, err error) {
	return readValue[string](ctx, r, `
		SELECT 'organizationUnit' FROM organization_units WHERE id = ?
		UNION ALL SELECT 'userType' FROM user_types WHERE id = ?
		UNION ALL SELECT 'resourceServer' FROM resource_servers WHERE id = ?
		UNION ALL SELECT 'flow' FROM flows WHERE id = ?
		UNION ALL SELECT 'application' FROM applications WHERE id = ? OR client_id = ?
		UNION ALL SELECT 'user' FROM users WHERE id = ?
		UNION ALL SELECT 'group' FROM user_groups WHERE id = ?
		UNION ALL SELECT 'role' FROM roles WHERE id = ?
		UNION ALL SELECT 'identityProvider' FROM identity_providers WHERE id = ?
		UNION ALL SELECT '`+DeletedUser+`' FROM deleted_users WHERE id = ?`, id, id, id, id, id, id, id, id, id, id, id)
}

// DeletedUsers returns those of the IDs that belonged to users who were deleted.
func DeletedUsers(ctx context.Context, r Reader, ids []string) (map[string]bool, error) {
	deleted := map[string]bool{}
	err := lookUp(ctx, r, "SELECT id FROM deleted_users WHERE id IN (?)", toArgs(ids), func(row scanner) error {
		var id string
		err := row.Scan(&id)
		deleted[id] = true
		return err
	})
	return deleted, err
}

// maxNames limits the permissions that are compared for a suggestion.
const maxNames = 5000

// PermissionNames returns at most maxNames of the existing permissions.
func PermissionNames(ctx context.Context, r Reader) ([]string, error) {
	return readAll(ctx, r, scanValue[string], "SELECT permission FROM permissions ORDER BY permission LIMIT ?", maxNames)
}

// GroupsAbove returns the IDs of the groups that contain a group directly or through others.
func GroupsAbove(ctx context.Context, r Reader, id string) ([]string, error) {
	return readAll(ctx, r, scanValue[string], `WITH RECURSIVE above (id) AS (SELECT group_id FROM group_members WHERE member_id = ?
		UNION SELECT m.group_id FROM above a CROSS JOIN group_members m WHERE m.member_id = a.id)
		SELECT id FROM above ORDER BY id`, id)
}

// toArgs converts texts to parameters.
func toArgs(texts []string) []any {
	args := make([]any, len(texts))
	for i, text := range texts {
		args[i] = text
	}
	return args
}
