package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Snapshot runs do with a Reader that sees the store as it is at one moment,
// whatever is written meanwhile. It keeps no write waiting, except in a store
// that has no file.
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
	return do(snapshot{t})
}

// snapshot is a Reader of a transaction that only reads.
type snapshot struct{ t *sqlx.Tx }

func (s snapshot) query(ctx context.Context, q string, args ...any) (*sql.Rows, error) {
	return s.t.QueryContext(ctx, s.t.Rebind(q), args...)
}
