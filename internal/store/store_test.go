package store_test

import (
	"database/sql"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
)

func TestSQLite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Config { return file(t) })
}

func TestSQLiteInMemory(t *testing.T) {
	sequential(t) // TestSQLite has the same concurrency
	storetest.Run(t, func(t *testing.T) store.Config { return store.Config{Driver: "sqlite", DSN: ":memory:"} })
}

func TestSQLiteLasting(t *testing.T) {
	storetest.Lasting(t, func(t *testing.T) (store.Config, func() (*sql.DB, error)) {
		c := file(t)
		return c, func() (*sql.DB, error) { return sql.Open("sqlite", c.DSN) }
	})
}

func TestPostgres(t *testing.T) {
	storetest.Run(t, migratedPostgres)
}

func TestPostgresLasting(t *testing.T) {
	storetest.Lasting(t, func(t *testing.T) (store.Config, func() (*sql.DB, error)) {
		c := postgres(t)
		return c, func() (*sql.DB, error) { return sql.Open("postgres", c.DSN) }
	})
}

func file(t testing.TB) store.Config {
	return store.Config{Driver: "sqlite", DSN: filepath.Join(t.TempDir(), "store.db")}
}

func postgres(t testing.TB) store.Config {
	return store.Config{Driver: "postgres", DSN: storetest.Postgres(t)}
}

func migratedPostgres(t *testing.T) store.Config {
	return store.Config{Driver: "postgres", DSN: storetest.MigratedPostgres(t)}
}

// sequential skips a long test without concurrency with -short, as `make race` runs.
func sequential(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long, and one thing after another: run it without -short")
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, expected %+v", what, got, want)
	}
}
