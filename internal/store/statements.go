package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// row queries one row. A local database checks the context only
// before the query: watching it takes a goroutine, which costs more than the query.
func (s *Store) row(ctx context.Context, q string, args ...any) checkedRow {
	if slices.ContainsFunc(args, isUnstorable) {
		return checkedRow{}
	}
	ctx, q = s.beforeRead(s.uncanceled(ctx), q)
	return checkedRow{row: s.db.QueryRowContext(ctx, q, args...), q: q, reader: s}
}

// uncanceled returns the context of a short read.
func (s *Store) uncanceled(ctx context.Context) context.Context {
	if s.local && ctx.Err() == nil {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// checkedRow is the row of a query, none if a parameter cannot be stored.
type checkedRow struct {
	row    *sql.Row
	q      string
	reader Reader
	err    error // instead of a row
}

// Scan returns sql.ErrNoRows if there is no row.
func (r checkedRow) Scan(dest ...any) error {
	if r.row == nil {
		return cmp.Or(r.err, sql.ErrNoRows)
	}
	err := r.row.Scan(dest...)
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return r.reader.check(statementError(r.q, err))
}

// scanner is a row, alone or among many.
type scanner interface{ Scan(dest ...any) error }

// statementTarget finds what a statement does to which table first.
var statementTarget = regexp.MustCompile(`(INSERT INTO|UPDATE|DELETE FROM|FROM)\s+\w+`)

// statementError adds to an error what its statement does.
func statementError(q string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("store: %s: %w", cmp.Or(statementTarget.FindString(q), q), err)
}

// Reader reads: a *Store the committed data, a *Tx also its own writes.
type Reader interface {
	// query runs a statement with ? for each parameter.
	query(ctx context.Context, q string, args ...any) (*sql.Rows, error)
	// check returns the error of a read: see pool.check.
	check(err error) error
}

func (s *Store) query(ctx context.Context, q string, args ...any) (*sql.Rows, error) {
	ctx, q = s.beforeRead(ctx, q)
	return s.db.QueryContext(ctx, q, args...)
}

func (s *Store) check(err error) error { return s.db.check(err) }

// rows calls scan with each row of a result. No row has a value that cannot be stored.
func rows(ctx context.Context, r Reader, scan func(scanner) error, q string, args ...any) error {
	if slices.ContainsFunc(args, isUnstorable) {
		return nil
	}
	found, err := r.query(ctx, q, args...)
	if err != nil {
		return r.check(statementError(q, err))
	}
	return r.check(statementError(q, scanAll(found, scan)))
}

func scanAll(rows *sql.Rows, scan func(scanner) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// readAll returns the rows of a result.
func readAll[T any](ctx context.Context, r Reader, scan func(scanner, *T) error, q string, args ...any) (found []T, err error) {
	err = rows(ctx, r, func(row scanner) error {
		found = append(found, *new(T))
		return scan(row, &found[len(found)-1])
	}, q, args...)
	return found, err
}

// readOne returns a row, or the error of notFound if there is none. Without notFound that
// is no error.
func readOne[T any](row scanner, scan func(scanner, *T) error, notFound func() error) (*T, error) {
	v := new(T)
	err := scan(row, v)
	switch {
	case err == nil:
		return v, nil
	case !errors.Is(err, sql.ErrNoRows):
		return nil, err
	case notFound != nil:
		return nil, notFound()
	}
	return nil, nil
}

// readValue returns the value of a result with one column, the zero value without a row.
func readValue[V any](ctx context.Context, r Reader, q string, args ...any) (v V, err error) {
	err = rows(ctx, r, func(row scanner) error { return row.Scan(&v) }, q, args...)
	return v, err
}

// scanValue scans a row with one column.
func scanValue[V any](row scanner, v *V) error { return row.Scan(v) }

// exists reports whether a result has rows.
func exists(ctx context.Context, r Reader, q string, args ...any) (found bool, err error) {
	err = rows(ctx, r, func(scanner) error {
		found = true
		return nil
	}, q, args...)
	return found, err
}

// firstOf returns the first of the found values, nil without one.
func firstOf[T any](found []T) *T {
	if len(found) == 0 {
		return nil
	}
	return &found[0]
}
