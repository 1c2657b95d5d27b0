package store

import (
	"context"
	"database/sql"

	"github.com/postern-id/postern/schemas"
)

// Groups is the table of the groups, with their members.
func Groups() *Table[schemas.Group] {
	type group = schemas.Group
	table := newTable("group", "group_not_found", "user_groups", fields[group]{
		{column: "id", member: func(g *group) any { return &g.ID }},
		{column: "name", member: func(g *group) any { return &g.Name }, filter: "name"},
		{column: "description", member: func(g *group) any { return &g.Description }},
		{column: "ou_id", member: func(g *group) any { return &g.OUID }, filter: "ouId"},
		{column: "created_at", member: func(g *group) any { return (*microTime)(&g.CreatedAt) }},
		{column: "updated_at", member: func(g *group) any { return (*microTime)(&g.UpdatedAt) }},
	})
	table.complete, table.write, table.principals = readMembers, writeMembers, members()
	return table
}

func members() principals {
	return principals{"group_members", "group_id", map[schemas.PrincipalType]string{
		schemas.UserPrincipal: "user_id", schemas.GroupPrincipal: "member_id"}}
}

func groupID(g *schemas.Group) string { return g.ID }

func readMembers(ctx context.Context, r Reader, groups []schemas.Group) error {
	byID := byIDs(groups, groupID)
	for _, g := range byID {
		g.Members = []schemas.Principal{}
	}
	err := eachOwned(ctx, r, byID, func(row scanner) error {
		var owner string
		var user, group sql.NullString
		if err := row.Scan(&owner, &user, &group); err != nil {
			return err
		}
		g := byID[owner]
		g.Members = append(g.Members, principal(user, group, sql.NullString{}))
		return nil
	}, "SELECT group_id, user_id, member_id FROM group_members WHERE group_id IN (?)")
	for i := range groups {
		sortPrincipals(groups[i].Members)
	}
	return err
}

func writeMembers(t *Tx, g *schemas.Group) error {
	was := []schemas.Group{{ID: g.ID}}
	if err := readMembers(t.ctx, t, was); err != nil {
		return err
	}
	return members().rewrite(t, g.ID, was[0].Members, g.Members)
}
