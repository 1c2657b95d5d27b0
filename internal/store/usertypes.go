package store

import (
	"database/sql/driver"

	"github.com/postern-id/postern/schemas"
)

// UserTypes is the table of the user types.
func UserTypes() *Table[schemas.UserType] {
	type userType = schemas.UserType
	return newTable("user type", "user_type_not_found", "user_types", fields[userType]{
		{column: "id", member: func(v *userType) any { return &v.ID }},
		{column: "name", member: func(v *userType) any { return &v.Name }, filter: "name", unique: true},
		{column: "description", member: func(v *userType) any { return &v.Description }},
		{column: "ou_id", member: func(v *userType) any { return &v.OUID }, filter: "ouId"},
		{column: "definition", member: func(v *userType) any { return (*rawText)(&v.Schema) }},
		{column: "unique_attributes", member: func(v *userType) any { return (*uniqueAttributes)(v) }},
		{column: "identifier_scope", member: func(v *userType) any { return &v.IdentifierScope }},
		{column: "created_at", member: func(v *userType) any { return (*microTime)(&v.CreatedAt) }},
		{column: "updated_at", member: func(v *userType) any { return (*microTime)(&v.UpdatedAt) }},
	})
}

// uniqueAttributes stores what follows from the schema, so that statements can use it.
type uniqueAttributes schemas.UserType

// Value implements driver.Valuer.
func (u *uniqueAttributes) Value() (driver.Value, error) {
	unique := lines((*schemas.UserType)(u).UniqueAttributes())
	return unique.Value()
}

// Scan implements sql.Scanner.
func (*uniqueAttributes) Scan(any) error { return nil }
