package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"
	"github.com/postern-id/postern/schemas"
)

// Tx is the transaction of a write. That of Update is serial, for the rules of the resources:
// the data it reads does not change until it ends. A Tx is for one goroutine, and only until the
// function it was given to returns.
type Tx struct {
	ctx    context.Context
	sql    runner // *sql.Tx, on SQLite a connection, or a pool for a single statement, which is a transaction by itself
	actor  actor
	origin *schemas.Origin // of the request; nil for none
	asked  *sql.Row        // the last; nil for none

	batch *batch // collects the statements; nil runs them

	did effects

	createdUser string // "" for none

	serial bool // a write of Update

	changesSystem, countedSystem bool // see CountSystemChange
}

// runner runs statements.
type runner interface {
	ExecContext(ctx context.Context, q string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, q string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, q string, args ...any) *sql.Row
}

// Update runs do in a transaction. If do returns nil, its effects are durable before Update
// returns nil; otherwise they are undone and Update returns the error. do may run more than
// once and must read only through the Tx: all other writes of a SQLite store wait for it.
func (s *Store) Update(ctx context.Context, do func(*Tx) error) error {
	return s.writer.serial(ctx, func(t *Tx) error {
		t.serial = true
		if err := do(t); err != nil {
			return err
		}
		return t.countSystem()
	})
}

// Apply applies changes as part of the transaction. It records their events together at the end.
func (t *Tx) Apply(changes []schemas.Change) error {
	if err := t.requireAuthorities(changes); err != nil {
		return err
	}
	accepts, err := t.isOpenInvitation(changes)
	if err != nil {
		return err
	}
	var events []schemas.Event
	for _, change := range changes {
		if c, ok := change.(schemas.RecordEvent); ok {
			events = append(events, c.Event)
		} else if err := t.applyOne(change); err != nil {
			return err
		}
	}
	if accepts {
		events = acceptance(events)
	}
	return t.recordEvents(events...)
}

// exec runs a statement and returns how many rows it changed.
func (t *Tx) exec(q string, args ...any) (n int64, err error) {
	if t.inBatch() {
		return 0, t.batch.breaks()
	}
	t.did.note(q)
	result, err := t.sql.ExecContext(t.ctx, q, args...)
	if err == nil {
		n, err = result.RowsAffected()
	}
	return n, statementError(q, err)
}

// change runs a statement. It returns the error of unchanged if that changes no row.
func (t *Tx) change(unchanged func() error, q string, args ...any) error {
	if t.inBatch() {
		return t.batch.require(q, args...)
	}
	n, err := t.exec(q, args...)
	if err == nil && n == 0 {
		return unchanged()
	}
	return err
}

// row queries one row. The statement may change it (RETURNING).
func (t *Tx) row(q string, args ...any) checkedRow {
	if t.inBatch() {
		return checkedRow{err: t.batch.breaks()}
	}
	t.did.note(q)
	t.asked = t.sql.QueryRowContext(t.ctx, q, args...)
	return checkedRow{row: t.asked, q: q, reader: t}
}

// closeRow closes the row that was read last, if a panic has left it open: the connection cannot be closed before.
func (t *Tx) closeRow() {
	if t.asked != nil {
		_ = t.asked.Scan()
	}
}

func (t *Tx) query(_ context.Context, q string, args ...any) (*sql.Rows, error) {
	if t.inBatch() {
		return nil, t.batch.breaks()
	}
	t.did.note(q)
	return t.sql.QueryContext(t.ctx, q, args...)
}

// check returns err: the errors of a write are checked when it ends.
func (t *Tx) check(err error) error { return err }

// Snapshot calls do with a Reader that sees the store at one moment. It blocks no writes,
// except in an in-memory store.
func (s *Store) Snapshot(ctx context.Context, do func(Reader) error) error {
	ctx, end := s.observe(ctx, modeSnapshot)
	err := s.readAtOnce(ctx, do)
	end(err)
	return err
}

func (s *Store) readAtOnce(ctx context.Context, do func(Reader) error) error {
	options := &sql.TxOptions{ReadOnly: true}
	if s.db.DriverName() == "postgres" {
		options.Isolation = sql.LevelRepeatableRead
	}
	t, err := s.db.BeginTxx(ctx, options)
	if err != nil {
		return s.check(fmt.Errorf("store: beginning to read: %w", err))
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
	ctx, q = s.store.beforeRead(ctx, q)
	return s.t.QueryContext(ctx, q, args...)
}

func (s snapshot) check(err error) error { return s.store.check(err) }
