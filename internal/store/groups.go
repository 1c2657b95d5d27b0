package store

import "github.com/postern-id/postern/schemas"

// Groups is the table of the groups, with their members.
func Groups() *Table[schemas.Group] {
	type group = schemas.Group
	table := newTable("group", "group_not_found", "user_groups", fields[group]{
		{column: "id", member: func(g *group) any { return &g.ID }},
		{column: "name", member: func(g *group) any { return &g.Name }, filter: "name", unique: true},
		{column: "description", member: func(g *group) any { return &g.Description }},
		{column: "ou_id", member: func(g *group) any { return &g.OUID }, filter: "ouId"},
		{column: "created_at", member: func(g *group) any { return (*microTime)(&g.CreatedAt) }},
		{column: "updated_at", member: func(g *group) any { return (*microTime)(&g.UpdatedAt) }},
	})
	table.principals = &principals[group]{"group_members", "group_id", map[schemas.PrincipalType]string{
		schemas.UserPrincipal: "user_id", schemas.GroupPrincipal: "member_id",
	}, func(g *group) *[]schemas.Principal { return &g.Members }}
	return table
}
