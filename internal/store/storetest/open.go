package storetest

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/postern-id/postern/internal/store"
)

// Open opens a store for the duration of a test, with the fixture of these tests. It copies a
// migrated database if there is none.
func Open(t testing.TB, c store.Config) *store.Store {
	t.Helper()
	s := openCopy(t, c, withFixture)
	must(t, insertFixture(t.Context(), s))
	return s
}

// OpenEmpty opens a store for the duration of a test. It copies a migrated database if there is
// none, because the migrations take longer than most tests.
func OpenEmpty(t testing.TB, c store.Config) *store.Store {
	t.Helper()
	return openCopy(t, c, empty)
}

func openCopy(t testing.TB, c store.Config, from template) *store.Store {
	t.Helper()
	must(t, from.copyTo(t.Context(), &c))
	s := reply(store.Open(t.Context(), c)).get(t)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// template is a migrated database of each kind, made when it is first used.
type template struct {
	sqlite   func() ([]byte, error)
	postgres func() (*Dump, error)
}

var (
	empty       = newTemplate(func(context.Context, *store.Store) error { return nil })
	withFixture = newTemplate(insertFixture)
)

func newTemplate(fill func(context.Context, *store.Store) error) template {
	return template{
		sqlite:   sync.OnceValues(func() ([]byte, error) { return makeSQLite(fill) }),
		postgres: sync.OnceValues(func() (*Dump, error) { return makePostgres(fill) }),
	}
}

// copyTo copies the template to a location that is empty.
func (from template) copyTo(ctx context.Context, c *store.Config) error {
	if c.Driver == "postgres" {
		return from.restore(ctx, c.DSN)
	}
	if _, err := os.Stat(c.DSN); err == nil {
		return nil
	}
	content, err := from.sqlite()
	if err != nil {
		return err
	}
	if c.DSN == ":memory:" {
		c.Content = content
		return nil
	}
	return os.WriteFile(c.DSN, content, 0o600)
}

func (from template) restore(ctx context.Context, dsn string) error {
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	var migrated bool
	if err := db.QueryRowContext(ctx, "SELECT to_regclass('goose_db_version') IS NOT NULL").Scan(&migrated); err != nil || migrated {
		return err
	}
	dump, err := from.postgres()
	if err != nil || dump == nil {
		return err
	}
	_, err = dump.Restore(dsn)
	return err
}

// makeSQLite returns the file of a database without a write-ahead log, which an in-memory database
// cannot have.
func makeSQLite(fill func(context.Context, *store.Store) error) ([]byte, error) {
	folder, err := os.MkdirTemp("", "postern-store-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "store.db")
	if err := fillAndClose(store.Config{Driver: "sqlite", DSN: path}, fill); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	_, err = db.Exec("PRAGMA journal_mode = DELETE")
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

func makePostgres(fill func(context.Context, *store.Store) error) (*Dump, error) {
	dsn, drop, err := newSchema()
	if err != nil {
		return nil, err
	}
	if err := fillAndClose(store.Config{Driver: "postgres", DSN: dsn}, fill); err != nil {
		return nil, errors.Join(err, drop())
	}
	dump, err := DumpPostgres(context.Background(), dsn)
	return dump, errors.Join(err, drop())
}

func fillAndClose(c store.Config, fill func(context.Context, *store.Store) error) error {
	s, err := store.Open(context.Background(), c)
	if err != nil {
		return err
	}
	return errors.Join(fill(context.Background(), s), s.Close())
}
