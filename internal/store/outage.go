package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/postern-id/postern/schemas"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Outages
//
// A database that cannot be reached, is full, or accepts no writes is not the fault of
// the request, and soon works again. Every error of a read or a write passes through
// pool.check, which gives such a failure the class schemas.Unavailable (503) and keeps
// its cause for the log. It also repairs the pool:
//
//   - A PostgreSQL connection to a server that has become read-only, after a failover
//     for example, stays read-only. The pool drops its connections, so that the next
//     request connects again and reaches the new primary.
//   - If a connection ends during a write, the server has probably ended the others too. The
//     pool drops them, because a write on one of them would fail in the same way.
//   - A PostgreSQL server that stops answering, without closing a connection, is recognized: see silence.
//   - A PostgreSQL server whose connections are used up accepts no further one. The pool
//     stops asking for a while, and requests wait for the connections it has.

// retryAfterOutage is the Retry-After of an outage.
const retryAfterOutage = 2 * time.Second

// pool is a connection pool that recovers from outages.
type pool struct {
	*sqlx.DB
	size     int         // the most connections it opens
	shrunk   atomic.Bool // whether it opens fewer for the moment
	prepares bool        // whether its connections prepare statements
	silence  *silence    // of the server; nil for SQLite
}

// openDB opens a pool of at most c.Pool connections. Each stays open for at most the lifetime; 0
// means forever.
func openDB(ctx context.Context, c Config) (*pool, error) {
	p := &pool{size: c.Pool, prepares: true}
	if c.Driver == "sqlite" {
		p.DB = openConnector(sqliteConnector{new(sqlite.Driver), c.DSN}, "sqlite", true, nil)
	} else if err := p.openPostgres(ctx, c.DSN, c.PreparedStatements); err != nil {
		return nil, err
	}
	p.SetMaxOpenConns(c.Pool)
	p.SetMaxIdleConns(c.Pool)
	p.SetConnMaxLifetime(c.ConnectionLifetime)
	return p, nil
}

// Close closes the pool.
func (p *pool) Close() error {
	if p.silence != nil {
		p.silence.close()
	}
	return p.DB.Close()
}

func errUnreadableDSN() error {
	return errors.New("store: opening the database: a parameter of database.dsn, or an environment variable whose name starts with PG, is invalid") // its text may contain a password
}

// check returns err, with class Unavailable if the database is at fault, and repairs the pool.
func (p *pool) check(err error) error {
	if err == nil || !isOutage(err) {
		return err
	}
	if isReadOnly(err) || errors.Is(err, errConnectionLost) {
		p.dropIdle()
	}
	if pq.As(err, pqerror.TooManyConnections) != nil {
		p.shrink()
	}
	return asOutage(err)
}

// asOutage returns an error with class Unavailable.
func asOutage(err error) error {
	if schemas.HasClass(err, schemas.Unavailable) {
		return err
	}
	e := schemas.Errorf(schemas.Unavailable, schemas.CodeStoreUnavailable,
		"the database cannot be used at the moment; try again in a few seconds")
	e.Err, e.RetryAfter = err, retryAfterOutage
	return e
}

// dropIdle closes idle connections.
func (p *pool) dropIdle() {
	p.SetMaxIdleConns(0)
	p.SetMaxIdleConns(p.size)
}

// shrinkPeriod is how long a pool opens no further connections.
const shrinkPeriod = 30 * time.Second

// shrink limits the pool to its open connections for a while. It does nothing if there are
// none.
func (p *pool) shrink() {
	if open := p.Stats().OpenConnections; open > 0 && p.shrunk.CompareAndSwap(false, true) {
		p.SetMaxOpenConns(open)
		time.AfterFunc(shrinkPeriod, func() {
			p.SetMaxOpenConns(p.size)
			p.shrunk.Store(false)
		})
	}
}

// The SQLSTATE classes of a server that cannot work.
const (
	connectionException   pqerror.Class = "08"
	insufficientResources pqerror.Class = "53"
)

// isOutage reports whether the database is currently unusable. A canceled request is not an
// outage.
func isOutage(err error) bool {
	if e := (*pq.Error)(nil); errors.As(err, &e) {
		class := e.Code.Class()
		return class == connectionException || class == insufficientResources || isReadOnly(err) || pq.As(err,
			pqerror.AdminShutdown, pqerror.CrashShutdown, pqerror.CannotConnectNow) != nil
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN,
			sqlite3.SQLITE_BUSY, sqlite3.SQLITE_NOMEM:
			return true
		}
		return false
	}
	if _, ok := errors.AsType[net.Error](err); ok && !errors.Is(err, context.Canceled) {
		return true // also context.DeadlineExceeded
	}
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, errConnectionLost) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// isReadOnly reports whether a PostgreSQL server or session rejects writes.
func isReadOnly(err error) bool { return pq.As(err, pqerror.ReadOnlySQLTransaction) != nil }
