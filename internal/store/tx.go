package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"
	"github.com/postern-id/postern/schemas"
)

// Reader reads: a *Store the committed data, a *Tx also its own writes.
type Reader interface {
	// query runs an unprepared statement. That is fast enough for administration; the
	// statements of each sign-in are prepared.
	query(ctx context.Context, q string, args ...any) (*sql.Rows, error)
}

func (s *Store) query(ctx context.Context, q string, args ...any) (*sql.Rows, error) {
	found, err := s.db.QueryContext(ctx, s.db.Rebind(q), args...)
	return found, s.db.check(err)
}

// Tx is a serial transaction for the rules of the resources: the data it reads does not change
// until it ends. It is for one goroutine, and only until the function it was given to returns.
type Tx struct {
	tx   *tx
	bind int
}

// Update runs do in a transaction. If do returns nil, its effects are durable before Update
// returns nil; otherwise they are undone and Update returns the error. do may run more than
// once and must read only through the Tx: all other writes of a SQLite store wait for it.
func (s *Store) Update(ctx context.Context, do func(*Tx) error) error {
	return s.writer.serial(ctx, func(t *tx) error { return do(&Tx{tx: t, bind: s.bind()}) })
}

// bind returns the parameter style of the database.
func (s *Store) bind() int {
	if s.db.DriverName() == "sqlite" {
		return sqlx.QUESTION
	}
	return sqlx.BindType(s.db.DriverName())
}

func (t *Tx) query(ctx context.Context, q string, args ...any) (*sql.Rows, error) {
	return t.tx.sql.QueryContext(t.tx.ctx, sqlx.Rebind(t.bind, q), args...)
}

// exec runs a statement and returns how many rows it changed.
func (t *Tx) exec(q string, args ...any) (int64, error) {
	result, err := t.tx.sql.ExecContext(t.tx.ctx, sqlx.Rebind(t.bind, q), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// rows calls scan with each row of a result.
func rows(ctx context.Context, r Reader, scan func(scanner) error, q string, args ...any) error {
	found, err := r.query(ctx, q, args...)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer found.Close()
	for found.Next() {
		if err := scan(found); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	if err := found.Err(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// Apply applies changes as part of the transaction.
func (t *Tx) Apply(changes []schemas.Change) error { return t.tx.apply(changes) }
