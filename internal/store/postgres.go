package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/postern-id/postern/schemas"
)

const (
	// A write that has begun is not canceled with its caller, because it would be unknown
	// whether it was committed. It may take this long unless the configuration allows more.
	maxWriteDuration = 30 * time.Second

	// minPool is the smallest working pool: a serial write and a migration each hold one
	// connection while another one runs statements.
	minPool = 2

	// connectionLifetime bounds the use of a server that a failover or an address change has
	// replaced.
	connectionLifetime = 30 * time.Minute

	// A serial write that has lost so many conflicts locks out the others.
	serialAttempts = 4
)

func openPostgres(ctx context.Context, c Config) (*Store, error) {
	fits := c.Pool == 0
	c.Pool, c.ConnectionLifetime = max(c.Pool, minPool), cmp.Or(c.ConnectionLifetime, connectionLifetime)
	db, err := openDB(ctx, c)
	if err != nil {
		return nil, err
	}
	if fits {
		err = db.fit(ctx)
	}
	var s *Store
	if err == nil {
		s, err = newPostgres(ctx, db, cmp.Or(c.MaxWriteDuration, maxWriteDuration))
	}
	if err != nil {
		return nil, errors.Join(db.check(err), db.Close())
	}
	db.silence.patient.Store(c.MaxWriteDuration > maxWriteDuration)
	return s, nil
}

// selectConnections returns how many connections the server allows. Databases with the protocol of
// PostgreSQL may lack its settings.
const selectConnections = `SELECT COALESCE(current_setting('max_connections', true)::int, 100)
	- COALESCE(current_setting('superuser_reserved_connections', true)::int, 0)`

// fit sets the default pool size. It leaves half of the server's connections to other
// instances and programs.
func (p *pool) fit(ctx context.Context) error {
	var allowed int
	err := p.GetContext(ctx, &allowed, selectConnections)
	if err != nil {
		return fmt.Errorf("store: connecting to PostgreSQL: %w", err)
	}
	p.size = max(minPool, min(max(16, 4*runtime.GOMAXPROCS(0)), allowed/2))
	p.SetMaxOpenConns(p.size)
	p.SetMaxIdleConns(p.size)
	return nil
}

func newPostgres(ctx context.Context, db *pool, longest time.Duration) (*Store, error) {
	if err := migratePostgres(ctx, db.DB); err != nil {
		return nil, err
	}
	writer := &postgresWriter{db: db, longest: longest, turn: make(chan struct{}, 1)}
	return &Store{db: db, writer: writer, pools: []*pool{db}}, nil
}

// migratePostgres migrates under a lock, unless the schema is up to date.
func migratePostgres(ctx context.Context, db *sqlx.DB) error {
	if done, err := isMigrated(ctx, db); done || err != nil {
		return err
	}
	if err := createStates(ctx, db); err != nil {
		return err
	}
	return withMigrationLock(ctx, db, func() error { return migrate(ctx, db) })
}

// postgresWriter runs each write in its own transaction. Read committed suffices: every
// condition that matters is part of the statement that depends on it, or a unique index.
type postgresWriter struct {
	db      *pool
	longest time.Duration // that a write may take
	turn    chan struct{} // holds one value while a serial write of this process runs
	retries atomic.Int64  // since the start
}

// write runs a write as one statement if it can: see batch.
func (w *postgresWriter) write(ctx context.Context, do func(*Tx) error) error {
	return w.retry(ctx, func() error {
		done, err := w.atOnce(ctx, do)
		if !done {
			err = w.once(ctx, do)
		}
		return w.db.check(err)
	})
}

// atOnce sends the statements of a write as one. done is false if the write needs a transaction. Like
// once, it waits for a connection until ctx ends, and the statement itself ignores the end of ctx.
func (w *postgresWriter) atOnce(ctx context.Context, do func(*Tx) error) (done bool, err error) {
	if err := ctx.Err(); err != nil {
		return true, err
	}
	detached, cancel := w.detach(ctx)
	defer cancel()
	collected := new(batch)
	t := &Tx{ctx: detached, batch: collected, origin: schemas.OriginOf(ctx)}
	if err := attempt(t, do); err != nil || collected.broken || len(collected.parts) == 0 {
		return false, nil // the transaction has the error too
	}
	conn, err := w.connect(ctx)
	if err != nil {
		return true, err
	}
	defer conn.Close()
	q, args := collected.statement()
	_, err = conn.ExecContext(detached, q, args...)
	// A bad connection has executed nothing: see executed. The transaction takes another one.
	return !isUnmet(err) && !errors.Is(err, driver.ErrBadConn), statementError(q, err)
}

// serial lets the writes of several instances run concurrently, each on the condition that no other
// one has committed since it began. Serializable transactions would not do: they would not see what a
// write that is not serial commits while they wait for its lock. A write that was overtaken several
// times locks out the others. Writes of one process wait in memory, so that they do not all hold a
// connection.
func (w *postgresWriter) serial(ctx context.Context, do func(*Tx) error) error {
	select {
	case w.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-w.turn }()
	attempts := 0
	return w.retry(ctx, func() error {
		attempts++
		if attempts > serialAttempts {
			return w.db.check(w.once(ctx, func(t *Tx) error {
				// Statements after this one see everything committed before it.
				if _, err := t.exec(lockState, updates); err != nil {
					return fmt.Errorf("store: waiting for other writes: %w", err)
				}
				return do(t)
			}))
		}
		return w.db.check(w.unlessOvertaken(ctx, do))
	})
}

// errOvertaken is the error of a serial write if another one was committed since it began.
var errOvertaken = errors.New("store: other changes were made at the same time; try again")

// unlessOvertaken commits a serial write if no other one was committed since it began. Otherwise an
// error of do may be a consequence of that.
func (w *postgresWriter) unlessOvertaken(ctx context.Context, do func(*Tx) error) error {
	before := int64(-1)
	err := w.once(ctx, func(t *Tx) (err error) {
		if before, err = readValue[int64](t.ctx, t, selectState, updates); err != nil {
			return err
		}
		if err := do(t); err != nil {
			return err
		}
		return t.change(func() error { return errOvertaken }, countUpdate, updates, before)
	})
	if err == nil || before < 0 || isConflict(err) || isOutage(err) {
		return err
	}
	var now int64
	if failed := w.db.QueryRowContext(ctx, selectState, updates).Scan(&now); failed == nil && now != before {
		return fmt.Errorf("%w: %w", errOvertaken, err)
	}
	return err
}

// single needs no BEGIN and COMMIT: a single statement is a transaction, in one round trip
// instead of three.
func (w *postgresWriter) single(ctx context.Context, do func(*Tx) error) error {
	return w.retry(ctx, func() error {
		err := w.alone(ctx, do)
		if errors.Is(err, driver.ErrBadConn) {
			// A bad connection has executed nothing: see executed. The next one is new.
			w.db.dropIdle()
			err = w.alone(ctx, do)
		}
		return w.db.check(err)
	})
}

// alone waits for a connection until ctx ends, and runs a statement without a transaction, which ignores
// the end of ctx.
func (w *postgresWriter) alone(ctx context.Context, do func(*Tx) error) error {
	conn, err := w.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	detached, cancel := w.detach(ctx)
	defer cancel()
	return attempt(&Tx{ctx: detached, sql: conn, origin: schemas.OriginOf(ctx)}, do)
}

// connect waits for a connection until ctx ends.
func (w *postgresWriter) connect(ctx context.Context) (*sql.Conn, error) {
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("store: waiting for a connection: %w", err)
	}
	return conn, nil
}

// once waits for a connection until ctx ends. The transaction itself ignores the end of ctx.
func (w *postgresWriter) once(ctx context.Context, do func(*Tx) error) error {
	conn, err := w.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	detached, cancel := w.detach(ctx)
	defer cancel()
	begun, err := conn.BeginTx(detached, nil)
	if err != nil {
		return fmt.Errorf("store: beginning a transaction: %w", err)
	}
	if err := attempt(&Tx{ctx: detached, sql: begun, origin: schemas.OriginOf(ctx)}, do); err != nil {
		begun.Rollback() // if this fails too, the connection is gone and the transaction with it
		return err
	}
	if err := begun.Commit(); err != nil {
		return fmt.Errorf("store: committing: %w", err)
	}
	return nil
}

// detach returns a context that does not end with its caller's.
func (w *postgresWriter) detach(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), w.longest)
}

// close does nothing: closing the pool waits for the connections in use.
func (w *postgresWriter) close() {}
