package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Table stores the resources of one noun. It is read through a Reader and written through a
// Tx. UpdatedAt identifies the state of a resource: every change increases it.
type Table[T any] struct {
	noun    string            // "group", as errors say it
	code    string            // of the error that there is none: "group_not_found"
	name    string            // of the table
	columns []string          // "id" first; "updated_at" among them
	filters map[string]string // member → the condition that selects by it, for which there is an index
	counted []string          // members by whose values its rows are counted in row_counts; "" for all
	join    string            // "LEFT JOIN …": another table that is read along with it …
	joined  []string          // … and the columns of that one

	id     func(*T) string
	values func(*T) ([]any, error) // of the columns, in their order
	scan   func(scanner, *T) error // reads the columns, then those joined
	// complete reads the data of found resources from other tables; write replaces it. Both
	// may be nil.
	complete func(ctx context.Context, r Reader, found []T) error
	write    func(t *Tx, v *T) error
	// principals is the table of the principals of a resource; the zero value if there are none.
	principals principals
	// exact maps the value of a member to the key that the condition compares, and returns
	// whether a resource really has the value. At most one row then meets the condition. exact
	// and has may be nil.
	exact func(member, value string) (key string, has func(*T) bool)
}

// Page selects a part of a list in the order of creation: the resources after the ID After, or
// after the first Offset ones.
type Page struct {
	After         string
	Limit, Offset int
	// Member and Value select the resources whose member, one of Filters, has the value.
	// Member "" selects all.
	Member, Value string
}

// Filters lists the members that a list can be filtered by, sorted.
func (of *Table[T]) Filters() []string {
	var members []string
	for member := range of.filters {
		members = append(members, member)
	}
	slices.Sort(members)
	return members
}

// Get returns the resource with the id. If there is none, the error has Class
// NotFound.
func (of *Table[T]) Get(ctx context.Context, r Reader, id string) (*T, error) {
	found, err := of.where(ctx, r, "id = ?", id)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, of.notFound(id)
	}
	return &found[0], nil
}

func (of *Table[T]) notFound(id string) error {
	return schemas.Errorf(schemas.NotFound, of.code, "There is no %s with the id %.64q.", of.noun, id)
}

// Find returns the resource whose member, one of Filters, has the value; nil if there is none,
// and the oldest of several.
func (of *Table[T]) Find(ctx context.Context, r Reader, member, value string) (*T, error) {
	found, err := of.List(ctx, r, Page{Limit: 1, Member: member, Value: value})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// List returns one page of the resources.
func (of *Table[T]) List(ctx context.Context, r Reader, p Page) ([]T, error) {
	condition, args, has, err := of.selected(p)
	if err != nil {
		return nil, err
	}
	found, err := of.where(ctx, r, condition+" ORDER BY id LIMIT ? OFFSET ?", append(args, p.Limit, p.Offset)...)
	if has != nil {
		found = slices.DeleteFunc(found, func(v T) bool { return !has(&v) })
	}
	return found, err
}

// Count returns the number of resources in the list that a page belongs to.
func (of *Table[T]) Count(ctx context.Context, r Reader, p Page) (n int, err error) {
	scan := func(row scanner) error { return row.Scan(&n) }
	p = Page{Limit: 1, Member: p.Member, Value: p.Value}
	condition, args, has, err := of.selected(p)
	if err != nil || !isStorable(p.Value) {
		return 0, err
	}
	if slices.Contains(of.counted, p.Member) {
		if p.Member == "" {
			p.Value = ""
		}
		return n, rows(ctx, r, scan, "SELECT COALESCE(SUM(n), 0) FROM row_counts WHERE name = ? AND member = ? AND value = ?",
			of.name, p.Member, p.Value)
	}
	if has != nil {
		p.Limit = math.MaxInt32 // one in each identifier scope
		found, err := of.List(ctx, r, p)
		return len(found), err
	}
	return n, rows(ctx, r, scan, "SELECT COUNT(*) FROM "+of.name+" WHERE "+condition, args...)
}

// ID returns the id of a resource.
func (of *Table[T]) ID(v *T) string { return of.id(v) }

// selected returns the condition for the list that a page belongs to, and has, which reports
// whether a matching resource is in the list; nil if all are. The lower bound is always
// present: "" precedes every ID.
func (of *Table[T]) selected(p Page) (condition string, args []any, has func(*T) bool, err error) {
	if p.Member == "" {
		return "id > ?", []any{p.After}, nil, nil
	}
	condition, known := of.filters[p.Member]
	if !known {
		return "", nil, nil, fmt.Errorf("store: %ss cannot be found by %q: expected one of %q", of.noun, p.Member, of.Filters())
	}
	key := p.Value
	if of.exact != nil {
		key, has = of.exact(p.Member, p.Value)
	}
	return condition + " AND id > ?", []any{key, p.After}, has, nil
}

func (of *Table[T]) where(ctx context.Context, r Reader, condition string, args ...any) ([]T, error) {
	if slices.ContainsFunc(args, isUnstorable) {
		return nil, nil // no row can have it
	}
	var found []T
	err := rows(ctx, r, func(row scanner) error {
		found = append(found, *new(T))
		return of.scan(row, &found[len(found)-1])
	}, "SELECT "+strings.Join(slices.Concat(of.columns, of.joined), ", ")+" FROM "+of.name+" "+of.join+" WHERE "+condition, args...)
	if err == nil && of.complete != nil && len(found) > 0 {
		err = of.complete(ctx, r, found)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %ss: %w", of.noun, err)
	}
	return found, nil
}

// Insert adds a resource.
func (of *Table[T]) Insert(t *Tx, v *T) error {
	values, err := of.values(v)
	if err != nil {
		return err
	}
	_, err = t.exec("INSERT INTO "+of.name+" ("+strings.Join(of.columns, ", ")+") VALUES ("+placeholders(len(of.columns))+")", values...)
	if err != nil {
		return of.refused(err)
	}
	return of.finish(t, v)
}

// Replace replaces the resource with the same ID if its UpdatedAt is still was; otherwise the
// error has Class Precondition.
func (of *Table[T]) Replace(t *Tx, v *T, was time.Time) error {
	values, err := of.values(v)
	if err != nil {
		return err
	}
	set := strings.Join(of.columns[1:], " = ?, ") + " = ?"
	n, err := t.exec("UPDATE "+of.name+" SET "+set+" WHERE id = ? AND updated_at = ?",
		append(values[1:], values[0], toMicros(was))...)
	if err != nil {
		return of.refused(err)
	}
	if n == 0 {
		return of.notFoundOrStale()
	}
	return of.finish(t, v)
}

// Delete removes the resource with the ID and its dependent data if its UpdatedAt is still
// was, like Replace.
func (of *Table[T]) Delete(t *Tx, id string, was time.Time) error {
	n, err := t.exec("DELETE FROM "+of.name+" WHERE id = ? AND updated_at = ?", id, toMicros(was))
	if err != nil {
		return of.refused(err)
	}
	if n == 0 {
		return of.notFoundOrStale()
	}
	return nil
}

func (of *Table[T]) finish(t *Tx, v *T) error {
	if of.write == nil {
		return nil
	}
	if err := of.write(t, v); err != nil {
		return of.refused(err)
	}
	return nil
}

func (of *Table[T]) notFoundOrStale() error {
	return schemas.Errorf(schemas.Precondition, schemas.CodePreconditionFailed,
		"The %s has changed since it was read. Read it again, and make the change to what it is now.", of.noun)
}

// refused converts errors of the database. The directory's rules report such errors first,
// with their place; only concurrent changes reach this point.
func (of *Table[T]) refused(err error) error {
	var reported *schemas.Error
	switch {
	case errors.As(err, &reported):
		return err
	case isUniqueViolation(err):
		return schemas.Errorf(schemas.Conflict, schemas.CodeConflict,
			"Another %s has the same id or name. Choose another.", of.noun)
	case isForeignKeyViolation(err):
		return schemas.Errorf(schemas.Conflict, schemas.CodeConflict,
			"The %s names something that does not exist, or something else names it. Look at what it refers to, and try again.", of.noun)
	}
	return fmt.Errorf("store: writing %ss: %w", of.noun, err)
}

// placeholders returns n parameters.
func placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }
