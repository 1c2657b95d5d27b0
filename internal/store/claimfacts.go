package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// selectClaimFacts selects in one statement what claims state about a user: a row for each group, for each
// membership of a group in a group, for each permission of a role, with NULL for a role without any, and for
// each unit.
const selectClaimFacts = withUserRoles + `, units (id, parent_id, height) AS (
		SELECT o.id, o.parent_id, 0 FROM users u JOIN organization_units o ON o.id = u.ou_id WHERE u.id = ?
		UNION ALL SELECT o.id, o.parent_id, w.height + 1 FROM units w JOIN organization_units o ON o.id = w.parent_id WHERE w.height < 100)
	SELECT 'group', g.id, g.name, NULL, CASE WHEN g.id IN (SELECT group_id FROM group_members WHERE user_id = ?) THEN 1 ELSE 0 END
		FROM belongs b CROSS JOIN user_groups g WHERE g.id = b.id
	UNION ALL SELECT 'membership', m.member_id, m.group_id, NULL, 0 FROM belongs b CROSS JOIN group_members m WHERE m.member_id = b.id
	UNION ALL SELECT 'role', r.id, r.name, p.permission, 0 FROM has h CROSS JOIN roles r LEFT JOIN role_permissions p ON p.role_id = r.id WHERE r.id = h.role_id
	UNION ALL SELECT 'unit', o.id, o.name, o.handle, w.height FROM units w CROSS JOIN organization_units o WHERE o.id = w.id`

// ClaimFacts returns what claims state about a user besides the attributes; nothing for an unknown user.
func (s *Store) ClaimFacts(ctx context.Context, userID string) (*schemas.ClaimFacts, error) {
	facts := &schemas.ClaimFacts{}
	above, held := map[string][]string{}, map[string]*schemas.ClaimRole{}
	heights := map[string]int{}
	err := rows(ctx, s, func(row scanner) error {
		var kind, id, name string
		var more nullText
		var number int // 1 for a group that the user is a direct member of; the height of a unit
		if err := row.Scan(&kind, &id, &name, &more, &number); err != nil {
			return err
		}
		switch kind {
		case "group":
			if len(facts.Groups) == schemas.MaxClaimGroups {
				facts.TooManyGroups = true
				return nil
			}
			facts.Groups = append(facts.Groups, schemas.ClaimGroup{ID: id, Name: name, Direct: number == 1})
		case "membership":
			if !facts.TooManyGroups {
				above[id] = append(above[id], name)
			}
		case "role":
			addPermission(held, id, name, string(more))
		case "unit":
			heights[id] = number
			facts.Units = append(facts.Units, schemas.ClaimUnit{ID: id, Name: name, Handle: string(more)})
		}
		return nil
	}, selectClaimFacts, userID, userID, userID, userID)
	if err != nil {
		return nil, err
	}
	if facts.TooManyGroups {
		facts.Groups = nil
	}
	for i := range facts.Groups {
		facts.Groups[i].Above = above[facts.Groups[i].ID]
	}
	for _, r := range held {
		slices.Sort(r.Permissions)
		facts.Roles = append(facts.Roles, *r)
	}
	slices.SortFunc(facts.Groups, func(a, b schemas.ClaimGroup) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(facts.Roles, func(a, b schemas.ClaimRole) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(facts.Units, func(a, b schemas.ClaimUnit) int { return cmp.Compare(heights[a.ID], heights[b.ID]) })
	return facts, nil
}

// addPermission adds a permission, "" for none, to a role.
func addPermission(held map[string]*schemas.ClaimRole, id, name, permission string) {
	r := held[id]
	if r == nil {
		r = &schemas.ClaimRole{ID: id, Name: name}
		held[id] = r
	}
	if permission != "" {
		r.Permissions = append(r.Permissions, permission)
	}
}
