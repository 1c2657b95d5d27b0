package store

import (
	"github.com/postern-id/postern/schemas"
)

// Users is the table of the users without their credentials. Writing a user claims the
// identifiers and unique values; a value of another user is attribute_taken, Class Conflict.
func Users() *Table[schemas.User] {
	return &Table[schemas.User]{
		noun: "user", code: schemas.CodeUserNotFound, name: "users",
		columns: []string{"id", "type", "ou_id", "attributes", "status", "locked_until", "created_at", "updated_at"},
		filters: map[string]string{
			"id": "id = ?", "type": "type = ?", "ouId": "ou_id = ?",
			"username": "id IN (SELECT user_id FROM user_identifiers WHERE value IN (" + scopedValues + "))",
			"email":    "id IN (SELECT user_id FROM user_emails WHERE value IN (" + scopedValues + "))",
		},
		counted: []string{"", "type", "ouId"},
		id:      func(u *schemas.User) string { return u.ID },
		values:  userValues,
		scan:    scanUserRow,
		write:   ReindexUser,
		exact: func(member, value string) (string, func(*schemas.User) bool) {
			key := schemas.IdentifierKey(value)
			switch member {
			case "email":
				return key, nil
			case "username":
				return key, func(u *schemas.User) bool { return schemas.IdentifierKey(u.Text(member)) == key }
			}
			return value, nil
		},
	}
}
