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
//   - A PostgreSQL server whose connections are used up accepts no further one. The pool
//     stops asking for a while, and requests wait for the connections it has.

// retryAfterOutage is when clients shall try again.
const retryAfterOutage = 2 * time.Second

// pool is a pool of connections that recovers from outages.
type pool struct {
	*sqlx.DB
	size   int         // the most connections it opens
	shrunk atomic.Bool // whether it opens fewer for the moment
}

// openDB opens a pool of at most size connections. It keeps all of them, each for at
// most the lifetime; 0 means forever.
func openDB(driver, dsn string, size int, lifetime time.Duration) (*pool, error) {
	open := func(dsn string) (*sqlx.DB, error) { return sqlx.Open(driver, dsn) }
	if driver == "sqlite" {
		open = openSQLiteDB
	}
	db, err := open(dsn)
	if err != nil {
		return nil, errors.New("store: opening the database: the DSN cannot be parsed") // its text may hold a password
	}
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	db.SetConnMaxLifetime(lifetime)
	return &pool{DB: db, size: size}, nil
}

// check returns err, as one of class Unavailable if the database is at fault, and
// repairs the pool.
func (p *pool) check(err error) error {
	if err == nil || !isOutage(err) {
		return err
	}
	if isReadOnly(err) {
		p.dropIdle()
	}
	if pq.As(err, pqerror.TooManyConnections) != nil {
		p.shrink()
	}
	if schemas.HasClass(err, schemas.Unavailable) {
		return err
	}
	e := schemas.Errorf(schemas.Unavailable, schemas.CodeStoreUnavailable,
		"the database cannot be used at the moment; try again in a few seconds")
	e.Err, e.RetryAfter = err, retryAfterOutage
	return e
}

// dropIdle closes the connections that no request uses.
func (p *pool) dropIdle() {
	p.SetMaxIdleConns(0)
	p.SetMaxIdleConns(p.size)
}

// shrinkPeriod is how long a pool makes do with the connections it has.
const shrinkPeriod = 30 * time.Second

// shrink has requests wait for the connections that there are, for a while. With none
// there is nothing to wait for.
func (p *pool) shrink() {
	if open := p.Stats().OpenConnections; open > 0 && p.shrunk.CompareAndSwap(false, true) {
		p.SetMaxOpenConns(open)
		time.AfterFunc(shrinkPeriod, func() {
			p.SetMaxOpenConns(p.size)
			p.shrunk.Store(false)
		})
	}
}

// The classes of SQLSTATE that say that the server cannot work.
const (
	connectionException   pqerror.Class = "08"
	insufficientResources pqerror.Class = "53"
)

// isOutage reports whether an error says that the database cannot be used at the
// moment. A caller who has gone away is no outage.
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
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// isReadOnly reports whether a PostgreSQL server or session takes no writes.
func isReadOnly(err error) bool { return pq.As(err, pqerror.ReadOnlySQLTransaction) != nil }

// checkedRow is a row whose error says whether the database is at fault.
type checkedRow struct {
	*sql.Row
	pool *pool
}

// Scan is sql.Row.Scan.
func (r checkedRow) Scan(dest ...any) error { return r.pool.check(r.Row.Scan(dest...)) }
