package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
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

// PrincipalPage selects a part of the principals of a resource, sorted by type and id: those after
// After if it is set, otherwise those after the first Offset ones.
type PrincipalPage struct {
	After         schemas.Principal
	Limit, Offset int
}

// Principals returns a page of the principals of the resource with the id, and the number of all of
// them. A page that starts at After reads only its own rows. If the resource does not exist, the
// error has Class NotFound.
func (of *Table[T]) Principals(ctx context.Context, r Reader, id string, p PrincipalPage) (page []schemas.Principal, total int, err error) {
	if !isStorable(id) {
		return nil, 0, of.notFound(id)
	}
	total = -1
	in := of.principals
	err = rows(ctx, r, func(row scanner) error { return row.Scan(&total) },
		"SELECT (SELECT COUNT(*) FROM "+in.table+" WHERE "+in.owner+" = ?) FROM "+of.name+" WHERE id = ?", id, id)
	if err == nil && total < 0 {
		return nil, 0, of.notFound(id)
	}
	if err == nil {
		page, err = in.page(ctx, r, id, p)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("reading the principals of a %s: %w", of.noun, err)
	}
	return page, total, nil
}

// page reads one type after the other, each with its index, until the page is full.
func (in principals) page(ctx context.Context, r Reader, owner string, p PrincipalPage) (page []schemas.Principal, err error) {
	if !isStorable(p.After.ID) {
		return nil, nil
	}
	skip := p.Offset
	for _, kind := range slices.Sorted(maps.Keys(in.columns)) {
		left, after := skip+p.Limit-len(page), ""
		if order := cmp.Compare(kind, p.After.Type); order < 0 || left <= 0 {
			continue
		} else if order == 0 {
			after = p.After.ID
		}
		column := in.columns[kind]
		err = rows(ctx, r, func(row scanner) error {
			if skip > 0 {
				skip--
				return nil
			}
			page = append(page, schemas.Principal{Type: kind})
			return row.Scan(&page[len(page)-1].ID)
		}, "SELECT "+column+" FROM "+in.table+" WHERE "+in.owner+" = ? AND "+column+" > ? ORDER BY "+column+" LIMIT ?",
			owner, after, left)
		if err != nil {
			return nil, err
		}
	}
	return page, nil
}

func sortPrincipals(list []schemas.Principal) { slices.SortFunc(list, schemas.Principal.Compare) }
