package store

import (
	"database/sql"

	"github.com/postern-id/postern/schemas"
)

// Units is the table of the organization units.
func Units() *Table[schemas.OrganizationUnit] {
	return &Table[schemas.OrganizationUnit]{
		noun: "organization unit", code: "organization_unit_not_found", name: "organization_units",
		columns: []string{"id", "handle", "name", "description", "parent_id", "created_at", "updated_at"},
		filters: map[string]string{"handle": "handle = ?", "parentId": "parent_id = ?"},
		id:      func(u *schemas.OrganizationUnit) string { return u.ID },
		values: func(u *schemas.OrganizationUnit) ([]any, error) {
			return []any{u.ID, u.Handle, u.Name, u.Description, nullable(u.ParentID), toMicros(u.CreatedAt), toMicros(u.UpdatedAt)}, nil
		},
		scan: scanUnit,
	}
}

func scanUnit(row scanner, u *schemas.OrganizationUnit) error {
	var parent sql.NullString
	err := row.Scan(&u.ID, &u.Handle, &u.Name, &u.Description, &parent, (*microTime)(&u.CreatedAt), (*microTime)(&u.UpdatedAt))
	u.ParentID = parent.String
	return err
}
