package storetest

import (
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
	return borrowDatabase(t)
}

// MigratedPgBouncer is MigratedPostgres behind a PgBouncer, as in PgBouncer.
func MigratedPgBouncer(t testing.TB) (dsn string) {
	t.Helper()
	needBouncer(t)
	return bouncerTo(t, borrowDatabase(t))
}

// idle are the databases that tests have returned.
var idle struct {
	sync.Mutex
	dsns []string
}

// borrowDatabase returns the connection string of a copy of the template. When the test ends, the rows
// of the template are restored for another test, which takes much less time than another copy. It is
// dropped if that fails, and on a server that outlives the tests.
func borrowDatabase(t testing.TB) (dsn string) {
	t.Helper()
	from := reply(migratedTemplate()).get(t)
	dsn = takeIdle()
	if dsn == "" {
		dsn = reply(newDatabase(from.name)).get(t)
	}
	t.Cleanup(func() {
		if os.Getenv(DSNVariable) != "" || executeOnce(dsn, from.restore) != nil {
			dropDatabase(t, dsn)
			return
		}
		idle.Lock()
		defer idle.Unlock()
		idle.dsns = append(idle.dsns, dsn)
	})
	return dsn
}

func takeIdle() (dsn string) {
	idle.Lock()
	defer idle.Unlock()
	if last := len(idle.dsns) - 1; last >= 0 {
		dsn, idle.dsns = idle.dsns[last], idle.dsns[:last]
	}
	return dsn
}

// databaseTemplate is a database that is copied. restore are the statements that restore its rows in a
// copy.
type databaseTemplate struct{ name, restore string }

var migratedTemplate = sync.OnceValues(func() (databaseTemplate, error) {
	dsn, err := newDatabase("template1")
	if err != nil {
		return databaseTemplate{}, err
	}
	if err := fillAndClose(store.Config{Driver: "postgres", DSN: dsn}, insertFixture); err != nil {
		return databaseTemplate{}, err
	}
	restore, err := keepRows(dsn)
	return databaseTemplate{databaseOf(dsn), restore}, err
})

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
