package store

import "github.com/postern-id/postern/schemas"

// Units is the table of the organization units.
func Units() *Table[schemas.OrganizationUnit] {
	type unit = schemas.OrganizationUnit
	table := newTable("organization unit", "organization_unit_not_found", "organization_units", fields[unit]{
		{column: "id", member: func(u *unit) any { return &u.ID }},
		{column: "handle", member: func(u *unit) any { return &u.Handle }, filter: "handle", unique: true},
		{column: "name", member: func(u *unit) any { return &u.Name }},
		{column: "description", member: func(u *unit) any { return &u.Description }},
		{column: "logo_url", member: func(u *unit) any { return &u.LogoURL }},
		{column: "parent_id", member: func(u *unit) any { return (*nullText)(&u.ParentID) }, filter: "parentId"},
		{column: "created_at", member: func(u *unit) any { return (*microTime)(&u.CreatedAt) }},
		{column: "updated_at", member: func(u *unit) any { return (*microTime)(&u.UpdatedAt) }},
	})
	table.absent = map[string]string{"parentId": "parent_id IS NULL"}
	return table
}
