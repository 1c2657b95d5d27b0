package store

import (
	"context"
	"slices"
)

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

// NounOf returns the noun of the resource with the ID, "" if there is none. A client ID
// identifies its application, because both occur as actors.
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
		UNION ALL SELECT 'identityProvider' FROM identity_providers WHERE id = ?`, id, id, id, id, id, id, id, id, id, id)
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
