package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

// principals describes a table of the principals of an owner: one row each, with the ID in the
// column of its type.
type principals[T any] struct {
	table, owner string
	columns      map[schemas.PrincipalType]string
	of           func(*T) *[]schemas.Principal
}

// read reads the principals of the owners, sorted.
func (in *principals[T]) read(ctx context.Context, r Reader, owners map[string]*T) error {
	types := slices.Sorted(maps.Keys(in.columns))
	columns := in.owner
	for _, kind := range types {
		columns += ", " + in.columns[kind]
	}
	for _, v := range owners {
		*in.of(v) = []schemas.Principal{}
	}
	ids := make([]nullText, len(types)) // one of them has a value
	err := eachOwned(ctx, r, owners, func(row scanner) error {
		var owner string
		into := []any{&owner}
		for i := range ids {
			into = append(into, &ids[i])
		}
		if err := row.Scan(into...); err != nil {
			return err
		}
		list := in.of(owners[owner])
		i := slices.IndexFunc(ids, func(id nullText) bool { return id != "" })
		*list = append(*list, schemas.Principal{Type: types[i], ID: string(ids[i])})
		return nil
	}, "SELECT "+columns+" FROM "+in.table+" WHERE "+in.owner+" IN (?)")
	for _, v := range owners {
		slices.SortFunc(*in.of(v), schemas.Principal.Compare)
	}
	return err
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
	in := of.principals
	found, err := readAll(ctx, r, scanValue[int],
		"SELECT (SELECT COUNT(*) FROM "+in.table+" WHERE "+in.owner+" = ?) FROM "+of.name+" WHERE id = ?", id, id)
	if err != nil {
		return nil, 0, err
	}
	if len(found) == 0 {
		return nil, 0, of.notFound(id)
	}
	page, err = in.page(ctx, r, id, p)
	return page, found[0], err
}

// page reads one type after the other, each with its index, until the page is full.
func (in *principals[T]) page(ctx context.Context, r Reader, owner string, p PrincipalPage) (page []schemas.Principal, err error) {
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

// RemovePrincipal updates the time of the last change of the groups and roles of a user or an
// application that is about to be deleted, because the deletion changes them. The rows of the
// memberships are deleted with the user or application.
func RemovePrincipal(t *Tx, p schemas.Principal, at time.Time) error {
	column := "user_id"
	if p.Type == schemas.ApplicationPrincipal {
		column = "application_id"
	} else if err := t.touch("user_groups", "SELECT group_id FROM group_members WHERE user_id = ?", p.ID, at); err != nil {
		return err
	}
	return t.touch("roles", "SELECT role_id FROM role_assignments WHERE "+column+" = ?", p.ID, at)
}

// touch sets the time of the last change of rows, or a time just after their current one if that is
// later: no entity tag may repeat.
func (t *Tx) touch(table, which, id string, at time.Time) error {
	now := toMicros(at)
	_, err := t.exec("UPDATE "+table+" SET updated_at = CASE WHEN updated_at < ? THEN ? ELSE updated_at + 1 END WHERE id IN ("+which+")", now, now, id)
	return err
}

// write replaces the principals of the owner. It does not touch unchanged rows: a list may
// be long, and most changes are small.
func (in *principals[T]) write(t *Tx, owner string, v *T) error {
	was := new(T)
	if err := in.read(t.ctx, t, map[string]*T{owner: was}); err != nil {
		return err
	}
	gone := map[schemas.Principal]bool{}
	for _, p := range *in.of(was) {
		gone[p] = true
	}
	for _, p := range *in.of(v) {
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
