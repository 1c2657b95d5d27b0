package store

import (
	"database/sql"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// principal returns the principal of the one column that has a value.
func principal(user, group, application sql.NullString) schemas.Principal {
	switch {
	case user.Valid:
		return schemas.Principal{Type: schemas.UserPrincipal, ID: user.String}
	case group.Valid:
		return schemas.Principal{Type: schemas.GroupPrincipal, ID: group.String}
	}
	return schemas.Principal{Type: schemas.ApplicationPrincipal, ID: application.String}
}

// principals describes a table of the principals of an owner: one row each, with the ID in the
// column of its type.
type principals struct {
	table, owner string
	columns      map[schemas.PrincipalType]string
}

// rewrite replaces the principals of the owner. It does not touch unchanged rows: a list may
// be long, and most changes are small.
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
