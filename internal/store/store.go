// Package store keeps all persistent data in SQLite or PostgreSQL. One type, Store,
// serves both with the same statements; only the way a write becomes durable differs.
//
//   - SQLite: one goroutine owns the only writing connection. It runs all waiting
//     writes and commits them together, so that one fsync serves many callers; one that
//     fails is undone alone. A write returns after the commit is on disk, never before.
//   - PostgreSQL: each write is a transaction. It is retried after a serialization
//     conflict or a deadlock.
//
// The operations of each sign-in are methods of Store. A Table
// for each noun stores resources; it is read through a Store or a Tx and written through
// a Tx, in which rules can be checked and enforced.
//
// With PostgreSQL nothing is cached: any number of instances may share a database, and a
// read sees what another instance has committed; see also Assume. With SQLite see remember.
//
// Times are stored in UTC with microseconds. Errors that a client may cause are
// *schemas.Error; all others are internal and contain the message of the database.
package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/postern-id/postern/internal/recent"
	"github.com/postern-id/postern/schemas"
)

// Config selects the database.
type Config struct {
	// Driver is "sqlite" or "postgres".
	Driver string
	// DSN is, for SQLite, the path of the database file, or ":memory:" for an in-memory store.
	// For PostgreSQL it is a connection string, as URL or key=value pairs, with an explicit
	// sslmode.
	DSN string
	// Content is a serialized database that an in-memory store starts with; nil means an empty one.
	// It saves tests the migrations.
	Content []byte
	// Pool is the most connections to PostgreSQL. 0 means 16 or four for each processor,
	// whichever is more, but at most half of what the server allows. ConnectionLifetime is how
	// long a connection stays open; 0 means half an hour.
	Pool               int
	ConnectionLifetime time.Duration
	// PreparedStatements is PrepareAuto, PrepareAlways or PrepareNever; "" means PrepareAuto:
	// connections to PostgreSQL prepare statements unless a connection pooler is in between.
	PreparedStatements string
	// MaxWriteDuration bounds a write to PostgreSQL from its start; 0 means half a minute. A
	// command that writes all resources at once may need more.
	MaxWriteDuration time.Duration
	// Observe is called before each transaction with its mode: write, single (one statement),
	// serial or snapshot (it only reads). The function that it returns is called with the result.
	// Nil means that nothing observes them.
	Observe Observe
	// Hooks is nil except in tests.
	Hooks Hooks
}

// Store is an open store. Its methods are safe for concurrent use.
type Store struct {
	db     *pool // for reading
	writer writer
	pools  []*pool // in the order in which they are closed
	local  bool    // reads take microseconds and need no canceling
	base   writer  // writer, without the observer and the signals

	observe Observe

	signals signals
	memo    *memo // nil if the store remembers nothing: see remember
	// revisions are those of clients that were read lately from PostgreSQL: see Assume.
	revisions recent.Map[string, revision]
	schema    int64 // the version that this program needs
	hooks     Hooks // nil except in tests

	instance string      // the id of this store in the table of instances
	counted  atomic.Bool // whether it is in that table
}

// writer makes writes durable. write runs do in a transaction. If do returns nil, its effects
// are durable before write returns nil; otherwise they are undone. do may run more than once
// and must only touch the transaction and its own results.
type writer interface {
	write(ctx context.Context, do func(*Tx) error) error
	// single is write for a do that executes one statement, no more.
	single(ctx context.Context, do func(*Tx) error) error
	// serial is write for a do whose writes depend on its reads. All such writes have the same
	// outcome as in some serial order.
	serial(ctx context.Context, do func(*Tx) error) error
	// close rejects further writes and waits for pending ones.
	close()
}

// Open opens the store, creates it if it is missing, and migrates its schema. It rejects a
// schema that a newer program has changed incompatibly. The error has class Unavailable if the database may
// be ready later.
func Open(ctx context.Context, c Config) (*Store, error) {
	var s *Store
	var err error
	switch c.Driver {
	case "sqlite":
		s, err = openSQLite(ctx, c.DSN, c.Content)
	case "postgres":
		s, err = openPostgres(ctx, c)
	default:
		err = fmt.Errorf("store: unknown database driver %q: expected sqlite or postgres", c.Driver)
	}
	if err != nil {
		return nil, err
	}
	s.signals = newSignals()
	if s.local && c.Hooks == nil {
		s.memo = newMemo()
	}
	s.base, s.writer = s.writer, signalingWriter{s.writer, s.signals, s.memo}
	s.schema, s.instance = lastMigration(), schemas.NewID()
	s.revisions.Limit = maxRevisions
	s.addObserver(c.Observe)
	if c.Hooks != nil {
		s.hooks, s.writer = c.Hooks, hookedWriter{s.writer, c.Hooks, s.check}
	}
	return s, nil
}

// Close waits for pending writes and closes the store. Later writes fail.
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

// isStorable reports whether both databases can store a text from a client. PostgreSQL rejects
// NUL and invalid UTF-8, so no row has such a key and a query would fail.
func isStorable(key string) bool {
	return utf8.ValidString(key) && !strings.ContainsRune(key, 0)
}

// isUnstorable reports whether a parameter is a text that cannot be stored.
func isUnstorable(arg any) bool {
	text, ok := arg.(string)
	return ok && !isStorable(text)
}
