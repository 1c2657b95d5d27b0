package store

import (
	"database/sql"

	"github.com/postern-id/postern/schemas"
)

// UserTypes is the table of the user types.
func UserTypes() *Table[schemas.UserType] {
	return &Table[schemas.UserType]{
		noun: "user type", code: "user_type_not_found", name: "user_types",
		columns: []string{"id", "name", "description", "ou_id", "definition", "unique_attributes", "identifier_scope", "created_at", "updated_at"},
		filters: map[string]string{"name": "name = ?", "ouId": "ou_id = ?"},
		id:      func(v *schemas.UserType) string { return v.ID },
		values: func(v *schemas.UserType) ([]any, error) {
			unique, err := joinLines(v.UniqueAttributes())
			return []any{v.ID, v.Name, v.Description, v.OUID, string(v.Schema), unique,
				v.IdentifierScope, toMicros(v.CreatedAt), toMicros(v.UpdatedAt)}, err
		},
		scan: func(row scanner, v *schemas.UserType) error {
			var unique sql.NullString // follows from the schema
			return row.Scan(&v.ID, &v.Name, &v.Description, &v.OUID, (*[]byte)(&v.Schema), &unique, &v.IdentifierScope,
				(*microTime)(&v.CreatedAt), (*microTime)(&v.UpdatedAt))
		},
	}
}
