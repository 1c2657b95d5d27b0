package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// memory is the DSN of an in-memory store.
const memory = ":memory:"

// openSQLite opens the writing connection first: it creates the file and enables WAL mode, in
// which readers and the writer do not wait for each other. An in-memory store has no WAL, and
// all share one connection.
func openSQLite(ctx context.Context, path string, content []byte) (*Store, error) {
	if path == "" {
		return nil, errors.New("store: the SQLite DSN is empty: expected the path of a file, or " + memory + " for none")
	}
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	writing, err := openDB(ctx, Config{Driver: "sqlite", DSN: sqliteDSN(path, "", writerPragmas()...), Pool: 1})
	if err != nil {
		return nil, err
	}
	if path == memory && content != nil {
		err = load(ctx, writing.DB, content)
	}
	if err != nil {
		return nil, errors.Join(err, writing.Close())
	}
	s, err := newSQLite(ctx, path, writing)
	if err != nil {
		writing.Close()
		return nil, err
	}
	return s, nil
}

// load replaces an in-memory database with a serialized one.
func load(ctx context.Context, db *sqlx.DB, content []byte) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	err = conn.Raw(func(c any) error {
		return c.(*connection).driverConn.(interface{ Deserialize([]byte) error }).Deserialize(content)
	})
	return errors.Join(err, conn.Close())
}

func newSQLite(ctx context.Context, path string, writing *pool) (*Store, error) {
	if err := migrateSQLite(ctx, writing.DB); err != nil {
		return nil, explainDamage(path, err)
	}
	if err := writing.makeCompactable(ctx); err != nil {
		return nil, fmt.Errorf("store: rebuilding the database: %w", err)
	}
	reading := writing
	if path != memory {
		var err error
		reading, err = openDB(ctx, Config{Driver: "sqlite", DSN: sqliteDSN(path, "ro", "busy_timeout(5000)", "query_only(1)"), Pool: runtime.GOMAXPROCS(0)})
		if err != nil {
			return nil, err
		}
	}
	// Close the reading connections first: only a connection that may write can checkpoint the
	// log when it closes last.
	return &Store{db: reading, writer: startGroupWriter(writing),
		pools: []*pool{reading, writing}, local: true}, nil
}

// explainDamage names the file that SQLite cannot read as a database.
func explainDamage(path string, err error) error {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return fmt.Errorf("store: %s is damaged, or is not a database; move it to another folder, and restore a backup: %w", path, err)
		}
	}
	return err
}

// migrateSQLite migrates. If two processes open the same new file, the slower one fails on
// what the faster one created; it retries while the other makes progress.
func migrateSQLite(ctx context.Context, db *sqlx.DB) error {
	if done, err := isMigrated(ctx, db); done || err != nil {
		return err
	}
	for before := int64(-1); ; {
		err := createStates(ctx, db)
		if err == nil {
			err = migrate(ctx, db)
		}
		if err == nil {
			return nil
		}
		current, unknown := schemaVersion(ctx, db)
		if unknown != nil || current == before {
			return err
		}
		before = current
	}
}

// writerPragmas make a commit durable before it is acknowledged, truncate the write-ahead log, and keep
// the pages that a failed statement or savepoint restores in memory instead of a temporary file.
func writerPragmas() []string {
	return []string{"busy_timeout(5000)", "auto_vacuum(INCREMENTAL)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		"journal_size_limit(67108864)", "temp_store(MEMORY)"}
}

// sqliteDSN returns the driver's URI for a path. mode is SQLite's, "" for the default. Writers
// take the write lock when they begin, because SQLite cannot wait for a lock that is taken at
// the first write.
func sqliteDSN(path, mode string, pragmas ...string) string {
	q := url.Values{"_pragma": pragmas}
	if mode != "" {
		q.Set("mode", mode)
	} else {
		q.Set("_txlock", "immediate")
	}
	if path != memory {
		path = (&url.URL{Path: path}).EscapedPath()
	}
	return "file:" + path + "?" + q.Encode()
}

// makePrivate creates a missing file and folder, readable only by their owner: they hold
// password hashes. SQLite gives its log files the mode of the database.
func makePrivate(path string) error {
	if path == memory {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("store: making the folder of the database: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("store: making the database file: %w", err)
	}
	return file.Close()
}

// sqliteConnector opens connections with its own driver: the registered one is shared by the program.
type sqliteConnector struct {
	driver *sqlite.Driver
	dsn    string
}

// Connect implements driver.Connector.
func (c sqliteConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }

// Driver implements driver.Connector.
func (c sqliteConnector) Driver() driver.Driver { return c.driver }
