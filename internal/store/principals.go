package store

import (
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

// principals is how the principals that belong to an owner are kept: one row
// each, with the id in the column of its type.
type principals struct {
	table, owner string
	columns      map[schemas.PrincipalType]string
}

// rewrite makes the principals of the owner those wanted. Rows that stay are left
// alone: a list may be long, and most changes of it are small.
func (in principals) rewrite(t *Tx, owner string, was, wanted []schemas.Principal) error {
	gone := make(map[schemas.Principal]bool, len(was))
	for _, p := range was {
		gone[p] = true
	}
	for _, p := range wanted {
		if gone[p] {
			delete(gone, p)
			continue
		}
		if _, err := t.exec("INSERT INTO "+in.table+" ("+in.owner+", "+in.columns[p.Type]+") VALUES (?, ?)", owner, p.ID); err != nil {
			return err
		}
	}
	for p := range gone {
		if _, err := t.exec("DELETE FROM "+in.table+" WHERE "+in.owner+" = ? AND "+in.columns[p.Type]+" = ?", owner, p.ID); err != nil {
			return err
		}
	}
	return nil
}

func sortPrincipals(list []schemas.Principal) { slices.SortFunc(list, schemas.Principal.Compare) }
