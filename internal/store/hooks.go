package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// Hooks stop, fail and replace operations of a store. Tests use them to simulate outages, crashes
// and defects. An error of a hook has the effects of the same error of the database: with
// [driver.ErrBadConn] the database is unavailable.
type Hooks interface {
	// Read precedes a query outside a write. It returns the query to run.
	Read(ctx context.Context, q string) (string, error)
	// Write runs a write. commit returns when the write is durable or undone.
	Write(ctx context.Context, commit func() error) error
	// Statement precedes each statement of a write. It returns the statement to run; "" means that
	// none runs, and that one row counts as changed. An error fails the statement.
	Statement(q string) (string, error)
}

// beforeRead returns the query to run, and a context that fails it if the hook fails.
func (s *Store) beforeRead(ctx context.Context, q string) (context.Context, string) {
	if s.hooks == nil {
		return ctx, q
	}
	run, err := s.hooks.Read(ctx, q)
	if err != nil {
		return failed{ctx, err}, q
	}
	return ctx, run
}

// failed is a context that has ended with an error. A statement with it fails with this error.
type failed struct {
	context.Context
	err error
}

// Done implements context.Context.
func (failed) Done() <-chan struct{} {
	ended := make(chan struct{})
	close(ended)
	return ended
}

// Err implements context.Context.
func (f failed) Err() error { return f.err }

// hookedWriter is a writer with hooks.
type hookedWriter struct {
	writer
	hooks Hooks
	check func(error) error
}

func (w hookedWriter) write(ctx context.Context, do func(*Tx) error) error {
	return w.around(ctx, w.writer.write, do)
}

func (w hookedWriter) single(ctx context.Context, do func(*Tx) error) error {
	return w.around(ctx, w.writer.single, do)
}

func (w hookedWriter) serial(ctx context.Context, do func(*Tx) error) error {
	return w.around(ctx, w.writer.serial, do)
}

func (w hookedWriter) around(ctx context.Context, write func(context.Context, func(*Tx) error) error, do func(*Tx) error) error {
	return w.check(w.hooks.Write(ctx, func() error {
		return write(ctx, func(t *Tx) error {
			if t.inBatch() {
				return t.batch.breaks() // the hooks see each statement
			}
			of := t.sql
			defer func() { t.sql = of }() // the writer's own statements have no hooks
			t.sql = hookedRunner{of, w.hooks}
			return do(t)
		})
	}))
}

// hookedRunner runs the statements of a write.
type hookedRunner struct {
	runner
	hooks Hooks
}

// ExecContext implements runner.
func (r hookedRunner) ExecContext(ctx context.Context, q string, args ...any) (sql.Result, error) {
	run, err := r.hooks.Statement(q)
	switch {
	case err != nil:
		return nil, err
	case run == "":
		return driver.RowsAffected(1), nil
	}
	return r.runner.ExecContext(ctx, run, args...)
}

// QueryContext implements runner.
func (r hookedRunner) QueryContext(ctx context.Context, q string, args ...any) (*sql.Rows, error) {
	run, err := r.hooks.Statement(q)
	if err != nil {
		return nil, err
	}
	return r.runner.QueryContext(ctx, run, args...)
}

// QueryRowContext implements runner.
func (r hookedRunner) QueryRowContext(ctx context.Context, q string, args ...any) *sql.Row {
	run, err := r.hooks.Statement(q)
	if err != nil {
		return r.runner.QueryRowContext(failed{ctx, err}, q, args...)
	}
	return r.runner.QueryRowContext(ctx, run, args...)
}
