package store

import (
	"context"
	"fmt"
	"slices"
)

// ExistingKeys returns the values that exist, in as few queries as possible. The values of
// "user", "group" and "application" are IDs, those of "userType" names, and those of
// "permission" the permissions.
func ExistingKeys(ctx context.Context, r Reader, noun string, values []string) (map[string]bool, error) {
	column, table := "id", ""
	switch noun {
	case "user":
		table = "users"
	case "group":
		table = "user_groups"
	case "application":
		table = "applications"
	case "userType":
		column, table = "name", "user_types"
	case "permission":
		column, table = "permission", "permissions"
	default:
		return nil, fmt.Errorf("store: no list of keys for a %s", noun)
	}
	known := make(map[string]bool, len(values))
	values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !isStorable(v) })
	for some := range slices.Chunk(values, maxOwners) {
		err := rows(ctx, r, func(row scanner) error {
			var value string
			err := row.Scan(&value)
			known[value] = true
			return err
		}, "SELECT "+column+" FROM "+table+" WHERE "+column+" IN ("+placeholders(len(some))+")", toArgs(some)...)
		if err != nil {
			return nil, fmt.Errorf("looking for %ss: %w", noun, err)
		}
	}
	return known, nil
}

// NounOf returns the noun of the resource with the ID, "" if there is none. A client ID
// identifies its application, because both occur as actors.
func NounOf(ctx context.Context, r Reader, id string) (noun string, err error) {
	if !isStorable(id) {
		return "", nil
	}
	err = rows(ctx, r, func(row scanner) error { return row.Scan(&noun) }, `
		SELECT 'organizationUnit' FROM organization_units WHERE id = ?
		UNION ALL SELECT 'userType' FROM user_types WHERE id = ?
		UNION ALL SELECT 'resourceServer' FROM resource_servers WHERE id = ?
		UNION ALL SELECT 'flow' FROM flows WHERE id = ?
		UNION ALL SELECT 'application' FROM applications WHERE id = ? OR client_id = ?
		UNION ALL SELECT 'user' FROM users WHERE id = ?
		UNION ALL SELECT 'group' FROM user_groups WHERE id = ?
		UNION ALL SELECT 'role' FROM roles WHERE id = ?
		UNION ALL SELECT 'identityProvider' FROM identity_providers WHERE id = ?`, id, id, id, id, id, id, id, id, id, id)
	if err != nil {
		return "", fmt.Errorf("looking for whose id it is: %w", err)
	}
	return noun, nil
}

// maxNames limits the permissions that are compared for a suggestion.
const maxNames = 5000

// PermissionNames returns at most maxNames of the existing permissions.
func PermissionNames(ctx context.Context, r Reader) (names []string, err error) {
	err = rows(ctx, r, into(&names), "SELECT permission FROM permissions ORDER BY permission LIMIT ?", maxNames)
	if err != nil {
		return nil, fmt.Errorf("listing permissions: %w", err)
	}
	return names, nil
}

// GroupsAbove returns the IDs of the groups that contain a group directly or through others.
func GroupsAbove(ctx context.Context, r Reader, id string) (above []string, err error) {
	err = rows(ctx, r, into(&above), `WITH RECURSIVE above (id) AS (SELECT group_id FROM group_members WHERE member_id = ?
		UNION SELECT m.group_id FROM above a CROSS JOIN group_members m WHERE m.member_id = a.id)
		SELECT id FROM above ORDER BY id`, id)
	if err != nil {
		return nil, fmt.Errorf("looking for what a group is a part of: %w", err)
	}
	return above, nil
}

// toArgs converts texts to parameters.
func toArgs(texts []string) []any {
	args := make([]any, len(texts))
	for i, text := range texts {
		args[i] = text
	}
	return args
}
