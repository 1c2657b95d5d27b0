package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Snapshot calls do with a Reader that sees the store at one moment. It blocks no writes,
// except in an in-memory store.
func (s *Store) Snapshot(ctx context.Context, do func(Reader) error) error {
	options := &sql.TxOptions{ReadOnly: true}
	if s.db.DriverName() == "postgres" {
		options.Isolation = sql.LevelRepeatableRead
	}
	t, err := s.db.BeginTxx(ctx, options)
	if err != nil {
		return fmt.Errorf("store: beginning to read: %w", err)
	}
	defer func() { _ = t.Rollback() }() // there is nothing to keep
	return do(snapshot{t, s})
}

// snapshot is the Reader of a read-only transaction.
type snapshot struct {
	t     *sqlx.Tx
	store *Store
}

func (s snapshot) query(ctx context.Context, q string, args ...any) (*sql.Rows, error) {
	return s.t.QueryContext(ctx, s.t.Rebind(q), args...)
}

func (s snapshot) check(err error) error { return s.store.check(err) }
