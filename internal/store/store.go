// Package store keeps everything that must outlive the process, in SQLite or in
// PostgreSQL. One type, Store, serves both: the statements are the same, only
// the way a write becomes durable differs.
//
//   - SQLite: one goroutine owns the only writing connection. It takes all
//     writes that wait, runs each in a savepoint of its own and commits them
//     together, so that one fsync pays for many callers. A write is answered
//     after the commit is on the disk, never before.
//   - PostgreSQL: each write is a transaction. One that lost a serialisation
//     conflict or a deadlock is run again.
//
// What happens at each sign-in are prepared methods of Store. Resources are kept
// in tables, a Table for each noun, that are read through a Store or a Tx and
// written through a Tx, in which rules can be checked and kept.
//
// Nothing is cached: any number of instances may share one PostgreSQL
// database, and what one has written the next read of another sees.
//
// Times are kept in UTC to the microsecond. Errors that a client may cause are
// *schemas.Error; everything else is internal, and says so in the words of the
// database.
package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Config says which database holds the store.
type Config struct {
	// Driver is "sqlite" or "postgres".
	Driver string
	// DSN is, for SQLite, the path of the database file, or ":memory:" for a
	// store that ends with the process. For PostgreSQL it is a connection
	// string, as URL or as key=value pairs, which must say its sslmode.
	DSN string
	// Pool is how many connections to PostgreSQL the store opens at most; 0 means 16 or
	// four for each processor, whichever is more, but at most half of what the server
	// allows. ConnectionLifetime is how long it keeps one; 0 means half an hour.
	Pool               int
	ConnectionLifetime time.Duration
	// MaxWriteDuration is how long a write to PostgreSQL may take once it has begun; 0
	// means half a minute. Nobody waits that long for a request, but a command that
	// writes all resources at once may take longer.
	MaxWriteDuration time.Duration
}

// Store is an open store. Its methods may be called by many goroutines at once.
type Store struct {
	db     *pool      // for reading
	reads  statements // prepared on db
	writer writer
	pools  []*pool // in the order in which they are closed
	local  bool    // reads take microseconds and need no cancelling

	instance string      // the id of this store in the table of instances
	counted  atomic.Bool // whether it is in that table
}

// writer makes writes durable. write runs do in a transaction: when do returns
// nil its effects are durable before write returns nil, else none of them
// remains. do may run more than once and must touch nothing but the transaction
// and its own results.
type writer interface {
	write(ctx context.Context, do func(*tx) error) error
	// single is write for a do that executes one statement, no more.
	single(ctx context.Context, do func(*tx) error) error
	// serial is write for a do that reads what it decides by: the outcome is as
	// if all such writes had come one after the other.
	serial(ctx context.Context, do func(*tx) error) error
	// close refuses further writes and waits for those under way.
	close()
}

// Open opens the store, making it if need be, and brings its schema up to date.
// A store whose schema is newer than this program knows is refused. The error has
// class Unavailable if the database may be ready later.
func Open(ctx context.Context, c Config) (*Store, error) {
	var s *Store
	var err error
	switch c.Driver {
	case "sqlite":
		s, err = openSQLite(ctx, c.DSN)
	case "postgres":
		s, err = openPostgres(ctx, c)
	default:
		err = fmt.Errorf("store: unknown database driver %q: expected sqlite or postgres", c.Driver)
	}
	if err != nil {
		return nil, err
	}
	s.instance = schemas.NewID()
	return s, nil
}

// Close waits until the writes under way are done, then closes the store. A
// write that comes later fails.
func (s *Store) Close() error {
	if s.counted.Load() {
		s.removeInstance()
	}
	s.writer.close()
	var failed error
	for _, pool := range s.pools {
		failed = errors.Join(failed, pool.Close())
	}
	if failed != nil {
		return fmt.Errorf("store: closing: %w", failed)
	}
	return nil
}

// isStorable reports whether a text that comes from a client can be kept by both
// databases. PostgreSQL holds neither the character NUL nor what is not UTF-8;
// so no row can have such a key, and asking would be an error.
func isStorable(key string) bool {
	return !strings.ContainsRune(key, 0) && strings.ToValidUTF8(key, "") == key
}

// isUnstorable reports whether a parameter is a text that cannot be kept.
func isUnstorable(arg any) bool {
	text, ok := arg.(string)
	return ok && !isStorable(text)
}
