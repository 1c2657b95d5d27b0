package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Table stores the resources of one noun. It is read through a Reader and written through a
// Tx. UpdatedAt identifies the state of a resource: every change increases it.
type Table[T any] struct {
	noun     string                 // "group", as errors say it
	code     string                 // of the error that there is none: "group_not_found"
	name     string                 // of the table
	columns  []string               // "id" first; "updated_at" among them
	filters  map[string]string      // member → the condition that selects by it, for which there is an index
	absent   map[string]string      // member → the condition that "" selects by: the resources without the member
	prefixes map[string]prefixIndex // member → the index that finds its values by a prefix
	counted  []string               // members by whose values its rows are counted in row_counts; "" for all
	join     string                 // "LEFT JOIN …": another table that is read along with it …
	joined   []string               // … and the columns of that one

	id     func(*T) string
	values func(*T) ([]any, error) // of the columns, in their order
	scan   func(scanner, *T) error // reads the columns, then those joined
	// complete reads the data of found resources from other tables; write replaces it. Both
	// may be nil.
	complete func(ctx context.Context, r Reader, byID map[string]*T) error
	write    func(t *Tx, v *T) error
	// deleted runs after a resource was deleted. May be nil.
	deleted func(t *Tx, id string) error
	// principals is the table of the principals of a resource; nil if it has none.
	principals *principals[T]
	// key maps the value of a member to the key that the conditions compare. Nil means the value.
	key func(member, value string) string
}

// Page selects a part of a list in the order of creation: the resources after the ID After, or
// after the first Offset ones.
type Page struct {
	After         string
	Limit, Offset int
	// Member and Value select the resources whose member, one of Filters, has the value. The parent
	// "" selects the units without one.
	// Member "" selects all.
	Member, Value string
	// Prefix selects the resources whose member, one of Prefixes, starts with Value, in the order
	// of that member. After is not used. An empty prefix selects nothing.
	Prefix bool
}

// Filters lists the members that a list can be filtered by, sorted.
func (of *Table[T]) Filters() []string { return slices.Sorted(maps.Keys(of.filters)) }

// Prefixes lists the members that a list can be filtered by a prefix of, sorted.
func (of *Table[T]) Prefixes() []string { return slices.Sorted(maps.Keys(of.prefixes)) }

// Get returns the resource with the id. If there is none, the error has Class
// NotFound.
func (of *Table[T]) Get(ctx context.Context, r Reader, id string) (*T, error) {
	found, err := of.where(ctx, r, "id = ?", id)
	if err == nil && len(found) == 0 {
		err = of.notFound(id)
	}
	return firstOf(found), err
}

func (of *Table[T]) notFound(id string) error {
	return schemas.Errorf(schemas.NotFound, of.code, "there is no %s with the id %.64q", of.noun, id)
}

// Find returns the resource whose member, one of Filters, has the value; nil if there is none,
// and the oldest of several.
func (of *Table[T]) Find(ctx context.Context, r Reader, member, value string) (*T, error) {
	found, err := of.List(ctx, r, Page{Limit: 1, Member: member, Value: value})
	return firstOf(found), err
}

// List returns one page of the resources.
func (of *Table[T]) List(ctx context.Context, r Reader, p Page) ([]T, error) {
	if p.Prefix {
		return of.listPrefix(ctx, r, p)
	}
	condition, args, err := of.selected(p)
	if err != nil {
		return nil, err
	}
	return of.where(ctx, r, condition+" ORDER BY id LIMIT ? OFFSET ?", append(args, p.Limit, p.Offset)...)
}

// Count returns the number of resources in the list that a page belongs to, for a list by a prefix
// at most MaxPrefixCount.
func (of *Table[T]) Count(ctx context.Context, r Reader, p Page) (n int, err error) {
	if p.Prefix {
		return of.countPrefix(ctx, r, p)
	}
	condition, args, err := of.selected(Page{Member: p.Member, Value: p.Value})
	if err != nil {
		return 0, err
	}
	if slices.Contains(of.counted, p.Member) {
		if p.Member == "" {
			p.Value = ""
		}
		return readValue[int](ctx, r, "SELECT COALESCE(SUM(n), 0) FROM row_counts WHERE name = ? AND member = ? AND value = ?",
			of.name, p.Member, p.Value)
	}
	return readValue[int](ctx, r, "SELECT COUNT(*) FROM "+of.name+" WHERE "+condition, args...)
}

// ID returns the id of a resource.
func (of *Table[T]) ID(v *T) string { return of.id(v) }

// selected returns the condition for the list that a page belongs to. The lower bound is always
// present: "" precedes every ID.
func (of *Table[T]) selected(p Page) (condition string, args []any, err error) {
	if p.Member == "" {
		return "id > ?", []any{p.After}, nil
	}
	condition, known := of.filters[p.Member]
	if !known {
		return "", nil, fmt.Errorf("store: %ss cannot be found by %q: expected one of %q", of.noun, p.Member, of.Filters())
	}
	if absent, found := of.absent[p.Member]; found && p.Value == "" {
		return absent + " AND id > ?", []any{p.After}, nil
	}
	return condition + " AND id > ?", []any{of.keyOf(p), p.After}, nil
}

// keyOf returns the form in which the value of a page is compared.
func (of *Table[T]) keyOf(p Page) string {
	if of.key == nil {
		return p.Value
	}
	return of.key(p.Member, p.Value)
}

func (of *Table[T]) where(ctx context.Context, r Reader, condition string, args ...any) ([]T, error) {
	found, err := readAll(ctx, r, of.scan, "SELECT "+strings.Join(slices.Concat(of.columns, of.joined), ", ")+" FROM "+of.name+" "+of.join+" WHERE "+condition, args...)
	byID := make(map[string]*T, len(found))
	for i := range found {
		byID[of.id(&found[i])] = &found[i]
	}
	if err == nil && of.complete != nil {
		err = of.complete(ctx, r, byID)
	}
	if err == nil && of.principals != nil {
		err = of.principals.read(ctx, r, byID)
	}
	return found, err
}

// Insert adds a resource.
func (of *Table[T]) Insert(t *Tx, v *T) error {
	values, err := of.values(v)
	if err == nil {
		_, err = t.exec("INSERT INTO "+of.name+" ("+strings.Join(of.columns, ", ")+") VALUES ("+placeholders(len(of.columns))+")", values...)
	}
	return of.finish(t, v, err)
}

// Replace replaces the resource with the same ID if its UpdatedAt equals was; otherwise the error
// has Class Precondition.
func (of *Table[T]) Replace(t *Tx, v *T, was time.Time) error {
	t.forget()
	values, err := of.values(v)
	if err == nil {
		set := strings.Join(of.columns[1:], " = ?, ") + " = ?"
		err = t.change(of.errStale, "UPDATE "+of.name+" SET "+set+" WHERE id = ? AND updated_at = ?",
			append(values[1:], values[0], toMicros(was))...)
	}
	return of.finish(t, v, err)
}

// Delete removes the resource with the ID and its dependent data if its UpdatedAt equals was, like
// Replace.
func (of *Table[T]) Delete(t *Tx, id string, was time.Time) error {
	t.forget()
	err := t.change(of.errStale, "DELETE FROM "+of.name+" WHERE id = ? AND updated_at = ?", id, toMicros(was))
	if err == nil && of.deleted != nil {
		err = of.deleted(t, id)
	}
	return of.refused(err)
}

// finish writes the data of a resource in other tables, unless writing its row failed.
func (of *Table[T]) finish(t *Tx, v *T, err error) error {
	if err == nil && of.write != nil {
		err = of.write(t, v)
	}
	if err == nil && of.principals != nil {
		err = of.principals.write(t, of.id(v), v)
	}
	return of.refused(err)
}

// refused converts errors of the database. The directory's rules report such errors first,
// with their place; only concurrent changes reach this point.
func (of *Table[T]) refused(err error) error {
	switch {
	case isUniqueViolation(err):
		return schemas.Errorf(schemas.Conflict, schemas.CodeConflict,
			"another %s has the same id or name; choose another", of.noun)
	case isForeignKeyViolation(err):
		return schemas.Errorf(schemas.Conflict, schemas.CodeConflict,
			"the %s refers to a resource that does not exist, or another resource refers to it", of.noun)
	}
	return err
}

// placeholders returns n parameters.
func placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// maxOwners is the number of IDs in one query, below the parameter limit of both databases.
const maxOwners = 1000

// eachOwned calls scan with every row that belongs to one of the owners. In q, (?) is replaced
// by the list of their IDs.
func eachOwned[T any](ctx context.Context, r Reader, owners map[string]*T, scan func(scanner) error, q string) error {
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(owners)), maxOwners) {
		if err := rows(ctx, r, scan, strings.Replace(q, "(?)", "("+placeholders(len(ids))+")", 1), toArgs(ids)...); err != nil {
			return err
		}
	}
	return nil
}

func (of *Table[T]) errStale() error {
	return schemas.Errorf(schemas.Precondition, schemas.CodePreconditionFailed,
		"the %s has changed since it was read; read it again, and repeat the change", of.noun)
}
