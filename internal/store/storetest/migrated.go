package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/postern-id/postern/internal/store"
)

// MigratedPostgres returns the connection string of a PostgreSQL database with the current schema and
// the fixture, for one test at a time. It skips or fails like Postgres.
func MigratedPostgres(t testing.TB) (dsn string) {
	t.Helper()
	needPostgres(t)
	return fixtureDatabases.borrow(t)
}

// EmptyPostgres is MigratedPostgres without the fixture, for a test of another package that also runs on
// SQLite. It skips the test with -short, as `make race` runs: the race detector watches the code of that
// package on SQLite, and the concurrent code of PostgreSQL in the tests of internal/store and of several
// instances.
func EmptyPostgres(t testing.TB) (dsn string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it also runs on SQLite: run it without -short")
	}
	needPostgres(t)
	return emptyDatabases.borrow(t)
}

// MigratedPgBouncer is MigratedPostgres behind a PgBouncer, as in PgBouncer.
func MigratedPgBouncer(t testing.TB) (dsn string) {
	t.Helper()
	needBouncer(t)
	return bouncerTo(t, fixtureDatabases.borrow(t))
}

// databases lends copies of a template.
type databases struct {
	template func() (databaseTemplate, error)

	mu   sync.Mutex
	idle []string // connection strings of those that tests have returned
}

var (
	fixtureDatabases = newDatabases(insertFixture)
	emptyDatabases   = newDatabases(func(context.Context, *store.Store) error { return nil })
)

func newDatabases(fill func(context.Context, *store.Store) error) *databases {
	return &databases{template: sync.OnceValues(func() (databaseTemplate, error) { return makeTemplate(fill) })}
}

// borrow returns the connection string of a copy of the template. When the test ends, the rows
// of the template are restored for another test, which takes much less time than another copy. It is
// dropped if that fails, and on a server that outlives the tests.
func (d *databases) borrow(t testing.TB) (dsn string) {
	t.Helper()
	from := reply(d.template()).get(t)
	dsn = d.takeIdle()
	if dsn == "" {
		dsn = reply(newDatabase(from.name)).get(t)
	}
	t.Cleanup(func() {
		if os.Getenv(DSNVariable) != "" || executeOnce(dsn, from.restore) != nil {
			dropDatabase(t, dsn)
			return
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.idle = append(d.idle, dsn)
	})
	return dsn
}

func (d *databases) takeIdle() (dsn string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if last := len(d.idle) - 1; last >= 0 {
		dsn, d.idle = d.idle[last], d.idle[:last]
	}
	return dsn
}

// databaseTemplate is a database that is copied. restore are the statements that restore its rows in a
// copy.
type databaseTemplate struct{ name, restore string }

// makeTemplate creates a migrated database and fills it.
func makeTemplate(fill func(context.Context, *store.Store) error) (databaseTemplate, error) {
	dsn, err := newDatabase("template1")
	if err != nil {
		return databaseTemplate{}, err
	}
	if err := fillAndClose(store.Config{Driver: "postgres", DSN: dsn}, fill); err != nil {
		return databaseTemplate{}, err
	}
	restore, err := keepRows(dsn)
	return databaseTemplate{databaseOf(dsn), restore}, err
}

// keepRows copies the rows of all tables of a database into the schema "kept". It returns the statements
// that restore them, and fire no triggers: a trigger rejects changes of the audit log.
func keepRows(dsn string) (restore string, err error) {
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var tables string
	if err := db.QueryRow("SELECT string_agg(quote_ident(tablename), ' ') FROM pg_tables WHERE schemaname = 'public'").Scan(&tables); err != nil {
		return "", err
	}
	keep, empty, refill := "CREATE SCHEMA kept;", "", ""
	for name := range strings.FieldsSeq(tables) {
		empty += fmt.Sprintf("DELETE FROM public.%s;", name)
		var filled bool
		if err := db.QueryRow("SELECT EXISTS (TABLE public." + name + ")").Scan(&filled); err != nil {
			return "", err
		}
		if filled {
			keep += fmt.Sprintf("CREATE TABLE kept.%s AS TABLE public.%[1]s;", name)
			refill += fmt.Sprintf("INSERT INTO public.%s TABLE kept.%[1]s;", name)
		}
	}
	_, err = db.Exec(keep)
	return "SET LOCAL session_replication_role = replica;" + empty + refill, err
}
