package store

import (
	"cmp"
	"database/sql"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// principal is the one of the three columns that has a value.
func principal(user, group, application sql.NullString) schemas.Principal {
	switch {
	case user.Valid:
		return schemas.Principal{Type: schemas.UserPrincipal, ID: user.String}
	case group.Valid:
		return schemas.Principal{Type: schemas.GroupPrincipal, ID: group.String}
	}
	return schemas.Principal{Type: schemas.ApplicationPrincipal, ID: application.String}
}

// columnsOf are the three columns of a principal, two of them NULL.
func columnsOf(p schemas.Principal) (user, group, application sql.NullString) {
	id := sql.NullString{String: p.ID, Valid: true}
	switch p.Type {
	case schemas.UserPrincipal:
		user = id
	case schemas.GroupPrincipal:
		group = id
	case schemas.ApplicationPrincipal:
		application = id
	}
	return user, group, application
}

func sortPrincipals(list []schemas.Principal) {
	slices.SortFunc(list, func(a, b schemas.Principal) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID))
	})
}
