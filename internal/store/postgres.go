package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/postern-id/postern/schemas"
)

const (
	// migrationLock is the advisory lock that serializes the migrations of several instances.
	// It must never change.
	migrationLock = 0x506f7374_65726e01

	// serialLock and the schema form the advisory lock of serial writes.
	serialLock = 0x506f7374
	lockSerial = `SELECT pg_advisory_xact_lock(?, hashtext(current_schema()))`

	// A write that has begun is not canceled with its caller, because it would be unknown
	// whether it was committed. It may take this long unless the configuration allows more.
	maxWriteDuration = 30 * time.Second

	// minPool is the smallest working pool: a serial write and a migration each hold one
	// connection while another one runs statements.
	minPool = 2

	// connectionLifetime bounds the use of a server that a failover or an address change has
	// replaced.
	connectionLifetime = 30 * time.Minute

	// The most attempts of a write that loses conflicts.
	writeAttempts = 12
)

func openPostgres(ctx context.Context, c Config) (*Store, error) {
	if !setsSSLMode(c.DSN) {
		return nil, errors.New("store: the PostgreSQL DSN does not say its sslmode: add sslmode=verify-full " +
			"(or require; or disable, for a server on this machine)")
	}
	db, err := openDB("postgres", c.DSN, max(c.Pool, minPool), cmp.Or(c.ConnectionLifetime, connectionLifetime))
	if err != nil {
		return nil, err
	}
	if c.Pool == 0 {
		err = db.fit(ctx)
	}
	var s *Store
	if err == nil {
		s, err = newPostgres(ctx, db, cmp.Or(c.MaxWriteDuration, maxWriteDuration))
	}
	if err != nil {
		return nil, errors.Join(db.check(err), db.Close())
	}
	return s, nil
}

// openPostgresDB returns a pool of connections to a PostgreSQL database.
func openPostgresDB(dsn string) (*sqlx.DB, error) {
	c, err := pq.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return openConnector(c, "postgres"), nil
}

// fit sets the default pool size. It leaves half of the server's connections to other
// instances and programs.
func (p *pool) fit(ctx context.Context) error {
	var allowed int
	err := p.GetContext(ctx, &allowed, "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int")
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

// migratePostgres migrates under an advisory lock. The lock ends with its connection, even if
// the process dies.
func migratePostgres(ctx context.Context, db *sqlx.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("store: connecting to PostgreSQL: %w", err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", int64(migrationLock)); err != nil {
		return fmt.Errorf("store: waiting for another instance to migrate: %w", err)
	}
	err = migrate(ctx, db)
	_, unlocking := conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", int64(migrationLock))
	return errors.Join(err, unlocking)
}

var (
	quoted  = regexp.MustCompile(`'(\\.|[^'\\])+'`)
	sslmode = regexp.MustCompile(`(^|\s)sslmode\s*=\s*[^\s']`)
)

// setsSSLMode reports whether a connection string, URL or key=value, has an sslmode. The
// driver's default depends on the environment, and an unencrypted connection must be explicit.
func setsSSLMode(dsn string) bool {
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		u, err := url.Parse(dsn)
		return err == nil && u.Query().Get("sslmode") != ""
	}
	return sslmode.MatchString(quoted.ReplaceAllString(dsn, "x"))
}

// postgresWriter runs each write in its own transaction. Read committed suffices: every
// condition that matters is part of the statement that depends on it, or a unique index.
type postgresWriter struct {
	db      *pool
	longest time.Duration // that a write may take
	turn    chan struct{} // holds one value while a serial write of this process runs
	retries atomic.Int64  // since the start
}

func (w *postgresWriter) write(ctx context.Context, do func(*Tx) error) error {
	return w.retry(ctx, func() error { return w.db.check(w.once(ctx, do)) })
}

// serial serializes writes with an advisory lock. Serializable transactions would need no
// lock, but under contention some would never succeed. Writes of one process wait in memory,
// so that they do not all hold a connection.
func (w *postgresWriter) serial(ctx context.Context, do func(*Tx) error) error {
	select {
	case w.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-w.turn }()
	return w.write(ctx, func(t *Tx) error {
		// Statements after this one see everything committed before it.
		if _, err := t.exec(lockSerial, serialLock); err != nil {
			return fmt.Errorf("store: waiting for other writes: %w", err)
		}
		return do(t)
	})
}

// single needs no BEGIN and COMMIT: a single statement is a transaction, in one round trip
// instead of three.
func (w *postgresWriter) single(ctx context.Context, do func(*Tx) error) error {
	return w.retry(ctx, func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		detached, cancel := w.detach(ctx)
		defer cancel()
		return w.db.check(attempt(&Tx{ctx: detached, sql: w.db, origin: schemas.OriginOf(ctx)}, do))
	})
}

// once waits for a connection until ctx ends. The transaction itself ignores the end of ctx.
func (w *postgresWriter) once(ctx context.Context, do func(*Tx) error) error {
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("store: waiting for a connection: %w", err)
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

// retry calls do until it loses no conflict. The delay between attempts is random, so that the
// same writers do not collide again.
func (w *postgresWriter) retry(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		if try > 1 {
			w.retries.Add(1)
		}
		err := do()
		if isReadOnly(err) && try == 1 {
			continue // the pool has dropped such connections, so the next one is new
		}
		if err == nil || !isConflict(err) || try == writeAttempts {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rand.N(time.Millisecond << min(try, 7))):
		}
	}
}

// close does nothing: closing the pool waits for the connections in use.
func (w *postgresWriter) close() {}
