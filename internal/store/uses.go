package store

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/schemas"
)

// Use is something that refers to a resource.
type Use struct {
	schemas.ResourceRef
	Name string // what people call it
	How  string // "belongs to it": what follows its name
}

// mostUses is how many uses are looked up: one is enough to refuse, a few tell
// what to do.
const mostUses = 20

// Uses returns what refers to the resource with the id, as far as that keeps it
// from being deleted; mostUses at most.
func Uses(ctx context.Context, r Reader, noun, id string) (uses []Use, err error) {
	for _, ref := range references()[noun] {
		q := "SELECT id, " + ref.label + " FROM " + ref.table + " WHERE " + ref.condition + " ORDER BY id LIMIT ?"
		err := rows(ctx, r, func(row scanner) error {
			u := Use{ResourceRef: schemas.ResourceRef{Type: ref.noun}, How: ref.how}
			err := row.Scan(&u.ID, &u.Name)
			uses = append(uses, u)
			return err
		}, q, id, mostUses-len(uses))
		if err != nil {
			return nil, fmt.Errorf("looking for what uses a %s: %w", noun, err)
		}
		if len(uses) == mostUses {
			break
		}
	}
	return uses, nil
}

// reference is one way of referring to a resource: rows of table that meet the
// condition, of which the parameter is the resource's id.
type reference struct{ noun, table, label, condition, how string }

// references lists, for each noun, who may refer to it.
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
		"group": {
			{"role", "roles", "name", "id IN (SELECT role_id FROM role_assignments WHERE group_id = ?)", "is assigned to it"},
			{"group", "user_groups", "name", "id IN (SELECT group_id FROM group_members WHERE member_id = ?)", "has it as a member"},
		},
	}
}
