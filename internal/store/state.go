package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// The table store_state coordinates instances: it contains locks, which are rows, and the
// compatibility of the schema. It is not part of a migration, because migrations need it.

// The rows of store_state.
const (
	// compatibleFrom is the smallest version of the schema whose programs work with the current one.
	compatibleFrom = "compatible_from"
	// migrationLock is locked by an instance that migrates.
	migrationLock = "migration"
	// updates counts the serial writes: see postgresWriter.serial.
	updates = "updates"
	// systemRevision counts the changes of what checks of the whole system depend on: see CountSystemChange.
	systemRevision = "system"
)

const (
	createState = `CREATE TABLE IF NOT EXISTS store_state (name TEXT NOT NULL PRIMARY KEY, value BIGINT NOT NULL)`

	countStates = `SELECT COUNT(*) FROM store_state`
	insertState = `INSERT INTO store_state (name, value) VALUES (?, 0) ON CONFLICT (name) DO NOTHING`

	raiseState = `UPDATE store_state SET value = ? WHERE name = ? AND value < ?`

	// tryLockState returns no row if another transaction has locked it. The lock ends with the
	// transaction, also if the process dies.
	tryLockState = `SELECT value FROM store_state WHERE name = ? FOR UPDATE SKIP LOCKED`

	selectState = `SELECT value FROM store_state WHERE name = ?`
	lockState   = `UPDATE store_state SET value = value + 1 WHERE name = ?`

	// countUpdate changes no row if another transaction has locked it. It must not wait: the other one may
	// wait for a row that this one has locked.
	countUpdate = `UPDATE store_state SET value = value + 1 WHERE name IN
		(SELECT name FROM store_state WHERE name = ? AND value = ? FOR UPDATE SKIP LOCKED)`

	// countSerial is countUpdate for a write that is not serial and changes what serial writes rest on.
	countSerial = `UPDATE store_state SET value = value + 1 WHERE name IN
		(SELECT name FROM store_state WHERE name = ?` + skipLocked + `)`
)

// createStates creates the table and its rows if they are missing. PostgreSQL fails if another
// instance creates the table at the same time.
func createStates(ctx context.Context, db *sqlx.DB) error {
	names := []string{compatibleFrom, migrationLock, updates, systemRevision}
	var n int
	if err := db.QueryRowContext(ctx, countStates).Scan(&n); err == nil && n == len(names) {
		return nil // without a wait for an instance that has locked a row
	}
	_, err := db.ExecContext(ctx, createState)
	for isUniqueViolation(err) || pq.As(err, pqerror.DuplicateTable, pqerror.DuplicateObject) != nil {
		_, err = db.ExecContext(ctx, createState)
	}
	for _, name := range names {
		if err == nil {
			_, err = db.ExecContext(ctx, insertState, name)
		}
	}
	if err != nil {
		return fmt.Errorf("store: creating the table store_state: %w", err)
	}
	return nil
}

// lockPause is the time between two attempts to lock.
const lockPause = 50 * time.Millisecond

// withMigrationLock calls do while no other instance migrates. The lock needs a connection of its
// own. Instances that wait for it hold none: behind a connection pooler, the instance that migrates
// might get no second one.
func withMigrationLock(ctx context.Context, db *sqlx.DB, do func() error) error {
	for {
		locked, err := tryMigrationLock(ctx, db, do)
		if locked || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("store: waiting for another instance to migrate: %w", ctx.Err())
		case <-time.After(lockPause):
		}
	}
}

// tryMigrationLock calls do if no other instance has locked.
func tryMigrationLock(ctx context.Context, db *sqlx.DB, do func() error) (locked bool, err error) {
	t, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return false, fmt.Errorf("store: connecting to PostgreSQL: %w", err)
	}
	defer func() { _ = t.Rollback() }() // the transaction only held the lock
	var value int64
	err = t.QueryRowContext(ctx, tryLockState, migrationLock).Scan(&value)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("store: locking the migrations: %w", err)
	}
	return true, do()
}
