package store

import (
	"context"
	"slices"
	"strings"
)

// FlowReach is what users and applications can obtain through flows.
type FlowReach struct {
	// Applications are the permissions of the applications that use the flows: those of their
	// roles and their registered scopes, including standard ones.
	Applications []string
	// Users are the permissions of all users who may sign in through these applications.
	Users []string
}

// ReachOf returns the reach of flows through the applications that use them directly or as
// sub-flows. An application without a type restriction counts as using each flow in anyones,
// given as type and handle: the flows that applications use by default.
func ReachOf(ctx context.Context, r Reader, flowIDs []string, anyones [][2]string) (reach FlowReach, err error) {
	if len(flowIDs) == 0 || slices.ContainsFunc(flowIDs, func(id string) bool { return !isStorable(id) }) {
		return reach, nil
	}
	text := `WITH RECURSIVE flow_ids (id) AS (SELECT id FROM flows WHERE id IN (` + placeholders(len(flowIDs)) + `)
			UNION SELECT f.id FROM flow_ids i CROSS JOIN flow_uses u CROSS JOIN flows f
			WHERE u.used_id = i.id AND f.id = u.flow_id AND f.active_version = u.version),
		apps (id, types) AS (SELECT a.id, a.allowed_user_types FROM flow_ids i CROSS JOIN applications a
			WHERE a.auth_flow_id = i.id OR a.registration_flow_id = i.id OR a.recovery_flow_id = i.id
				OR a.invitation_flow_id = i.id OR a.address_flow_id = i.id
			UNION ALL SELECT '', NULL FROM flow_ids i CROSS JOIN flows f WHERE f.id = i.id AND (` + oneOf(len(anyones)) + `)),
		allowed (type) AS (SELECT t.name FROM user_types t
			WHERE EXISTS (SELECT 1 FROM apps a WHERE a.types IS NULL OR a.types = '' OR ` + containsLine("a.types", "t.name") + `)),
		` + holders(`u.type IN (SELECT type FROM allowed)`) + `
		SELECT 'user', p.permission FROM holders h CROSS JOIN role_permissions p WHERE p.role_id = h.role_id
		UNION SELECT 'application', p.permission FROM apps a CROSS JOIN role_assignments r CROSS JOIN role_permissions p
			WHERE r.application_id = a.id AND p.role_id = r.role_id
		UNION SELECT 'application', o.scopes FROM apps a CROSS JOIN oauth_profiles o WHERE o.application_id = a.id AND o.scopes IS NOT NULL`
	args := toArgs(flowIDs)
	for _, one := range anyones {
		args = append(args, one[0], one[1])
	}
	err = rows(ctx, r, func(row scanner) error {
		var of, lines string
		err := row.Scan(&of, &lines)
		found := strings.Fields(lines) // scopes are lines
		if of == "user" {
			reach.Users = append(reach.Users, found...)
		} else {
			reach.Applications = append(reach.Applications, found...)
		}
		return err
	}, text, args...)
	if err != nil {
		return reach, err
	}
	reach.Applications, reach.Users = sortedSet(reach.Applications), sortedSet(reach.Users)
	return reach, nil
}

// UserPermissions returns the permissions of all users of the types, or of all users if types
// is empty, sorted.
func UserPermissions(ctx context.Context, r Reader, types []string) ([]string, error) {
	allowed := "1 = 1"
	if len(types) > 0 {
		allowed = "u.type IN (" + placeholders(len(types)) + ")"
	}
	text := "WITH RECURSIVE " + holders(allowed) + ` SELECT DISTINCT p.permission FROM holders h CROSS JOIN role_permissions p
		WHERE p.role_id = h.role_id ORDER BY p.permission`
	args := toArgs(types)
	return readAll(ctx, r, scanValue[string], text, append(args, args...)...)
}

// holders defines a relation of the roles of the users who meet the condition, directly or
// through groups; u is the row of the user. Roles and their groups are few, so the query
// starts with them and stops at the first such user of each role: it does not scan the users.
// The condition >= ” uses the index on a column that is NULL in some rows; SQLite does not
// use it for IS NOT NULL.
func holders(condition string) string {
	return `granted (role_id, group_id) AS (SELECT a.role_id, a.group_id FROM roles r CROSS JOIN role_assignments a
			WHERE a.role_id = r.id AND a.group_id >= ''
			UNION SELECT g.role_id, m.member_id FROM granted g CROSS JOIN group_members m WHERE m.group_id = g.group_id AND m.member_id >= ''),
		holders (role_id) AS (SELECT r.id FROM roles r WHERE EXISTS (SELECT 1 FROM role_assignments a CROSS JOIN users u
				WHERE a.role_id = r.id AND a.user_id >= '' AND u.id = a.user_id AND ` + condition + `)
			OR EXISTS (SELECT 1 FROM granted g CROSS JOIN group_members m CROSS JOIN users u
				WHERE g.role_id = r.id AND m.group_id = g.group_id AND m.user_id >= '' AND u.id = m.user_id AND ` + condition + `))`
}

// oneOf is the condition that a flow has one of n types and handles.
func oneOf(n int) string {
	return strings.TrimSuffix("1 = 0 OR "+strings.Repeat("f.flow_type = ? AND f.handle = ? OR ", n), " OR ")
}

func sortedSet(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
