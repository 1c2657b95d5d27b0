package storetest

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/postern-id/postern/internal/store"
)

// Open opens a store for the length of a test, with the fixture of these tests. It copies a migrated
// database if there is none.
func Open(t testing.TB, c store.Config) *store.Store {
	t.Helper()
	must(t, copyTemplate(t.Context(), c))
	s := reply(store.Open(t.Context(), c)).get(t)
	t.Cleanup(func() { must(t, s.Close()) })
	must(t, insertFixture(t.Context(), s))
	return s
}

// copyTemplate copies a migrated database with the fixture to a location that is empty.
func copyTemplate(ctx context.Context, c store.Config) error {
	if c.Driver == "postgres" {
		return restoreTemplate(ctx, c.DSN)
	}
	if _, err := os.Stat(c.DSN); err == nil || c.DSN == ":memory:" {
		return nil
	}
	content, err := sqliteTemplate()
	if err != nil {
		return err
	}
	return os.WriteFile(c.DSN, content, 0o600)
}

func restoreTemplate(ctx context.Context, dsn string) error {
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	var migrated bool
	if err := db.QueryRowContext(ctx, "SELECT to_regclass('goose_db_version') IS NOT NULL").Scan(&migrated); err != nil || migrated {
		return err
	}
	dump, err := postgresTemplate()
	if err != nil || dump == nil {
		return err
	}
	_, err = dump.Restore(dsn)
	return err
}

var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "postern-store-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "store.db")
	if err := makeTemplate(store.Config{Driver: "sqlite", DSN: path}); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

var postgresTemplate = sync.OnceValues(func() (*Dump, error) {
	dsn, drop, err := newSchema()
	if err != nil {
		return nil, err
	}
	if err := makeTemplate(store.Config{Driver: "postgres", DSN: dsn}); err != nil {
		return nil, errors.Join(err, drop())
	}
	dump, err := DumpPostgres(context.Background(), dsn)
	return dump, errors.Join(err, drop())
})

func makeTemplate(c store.Config) error {
	s, err := store.Open(context.Background(), c)
	if err != nil {
		return err
	}
	return errors.Join(insertFixture(context.Background(), s), s.Close())
}

// FirstVersion creates a store of the first schema version and runs statements in it; a semicolon
// at the end of a line ends a statement. BLOB is the type of bytes, for both databases.
func FirstVersion(t testing.TB, c store.Config, statements string) {
	t.Helper()
	AtVersion(t, c, 1, statements)
}

// AtVersion migrates a store to a version, and executes the statements on it.
func AtVersion(t testing.TB, c store.Config, version int64, statements string) {
	t.Helper()
	must(t, store.MigrateTo(t.Context(), c, version))
	db := reply(sql.Open(c.Driver, c.DSN)).get(t)
	if c.Driver == "postgres" {
		statements = strings.ReplaceAll(statements, "AS BLOB", "AS BYTEA")
	}
	for statement := range strings.SplitSeq(statements, ";\n") {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	must(t, db.Close())
}
