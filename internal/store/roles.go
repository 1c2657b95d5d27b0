package store

import (
	"context"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// Roles is the table of the roles, with their permissions and assignments.
func Roles() *Table[schemas.Role] {
	type role = schemas.Role
	table := newTable("role", "role_not_found", "roles", fields[role]{
		{column: "id", member: func(v *role) any { return &v.ID }},
		{column: "name", member: func(v *role) any { return &v.Name }, filter: "name", unique: true},
		{column: "description", member: func(v *role) any { return &v.Description }},
		{column: "ou_id", member: func(v *role) any { return &v.OUID }, filter: "ouId"},
		{column: "created_at", member: func(v *role) any { return (*microTime)(&v.CreatedAt) }},
		{column: "updated_at", member: func(v *role) any { return (*microTime)(&v.UpdatedAt) }},
	})
	table.complete, table.write = readGrants, writeGrants
	table.principals = &principals[role]{"role_assignments", "role_id", map[schemas.PrincipalType]string{
		schemas.UserPrincipal: "user_id", schemas.GroupPrincipal: "group_id", schemas.ApplicationPrincipal: "application_id",
	}, func(v *role) *[]schemas.Principal { return &v.Assignments }}
	return table
}

func readGrants(ctx context.Context, r Reader, byID map[string]*schemas.Role) error {
	for _, v := range byID {
		v.Permissions = []string{}
	}
	err := eachOwned(ctx, r, byID, func(row scanner) error {
		var id, permission string
		if err := row.Scan(&id, &permission); err != nil {
			return err
		}
		byID[id].Permissions = append(byID[id].Permissions, permission)
		return nil
	}, "SELECT role_id, permission FROM role_permissions WHERE role_id IN (?)")
	for _, v := range byID {
		slices.Sort(v.Permissions)
	}
	return err
}

func writeGrants(t *Tx, v *schemas.Role) error {
	if _, err := t.exec("DELETE FROM role_permissions WHERE role_id = ?", v.ID); err != nil {
		return err
	}
	for _, permission := range v.Permissions {
		if _, err := t.exec("INSERT INTO role_permissions (role_id, permission) VALUES (?, ?)", v.ID, permission); err != nil {
			return err
		}
	}
	return nil
}
