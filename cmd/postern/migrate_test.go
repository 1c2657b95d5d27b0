package main

import (
	"bytes"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
)

// TestMigrate migrates an empty database. The plan changes nothing. A store of an earlier version than the
// first migration is refused with what to do, and not changed.
func TestMigrate(t *testing.T) {
	sequential(t)
	for driver, dsn := range map[string]string{"sqlite": filepath.Join(t.TempDir(), "store.db"), "postgres": storetest.Postgres(t)} {
		t.Run(driver, func(t *testing.T) {
			if driver == "sqlite" {
				datatest.WriteFile(t, dsn, "")
			}
			run := func(want int, args ...string) string {
				t.Helper()
				environ := append(testEnvironment(t.TempDir()), "POSTERN_DATABASE_DRIVER="+driver, "POSTERN_DATABASE_DSN="+dsn)
				code, output := runProgram(t, environ, args...)
				if code != want {
					t.Fatalf("exit code %d, expected %d\n%s", code, want, output)
				}
				return output
			}
			wantAll(t, run(exitUsage, "doctor"), "the database is empty", "start the server")
			for range 2 {
				wantAll(t, run(exitFindings, "migrate", "--plan"), "has schema version 0", "00047 baseline: not compatible: it creates the schema", "The database is empty")
			}
			wantAll(t, run(exitFine, "migrate"), "migrated to schema version ")
			wantAll(t, run(exitFine, "migrate", "--plan"), "There are no pending migrations.")

			execute(t, driver, dsn, "DELETE FROM goose_db_version WHERE version_id > 47")
			execute(t, driver, dsn, "UPDATE goose_db_version SET version_id = 46 WHERE version_id = 47")
			for _, args := range [][]string{{"migrate", "--plan"}, {"migrate"}, {"serve"}} {
				wantAll(t, run(exitUsage, args...), "schema version 46 is too old: this program migrates from version 47 on", "with Postern of commit ", "(postern migrate)")
			}
			wantAll(t, run(exitUsage, "doctor"), "schema version 46 is too old", "use the version of Postern that the message names")
			execute(t, driver, dsn, "UPDATE goose_db_version SET version_id = 47 WHERE version_id = 46")
			wantAll(t, run(exitFindings, "migrate", "--plan"), "has schema version 47", "Stop the servers of earlier versions first", "changes nothing for the users of this store")
		})
	}
}

// TestPlan prints pending migrations of a store with content.
func TestPlan(t *testing.T) {
	versions := store.Versions{Applied: 47, Program: 49, CompatibleFrom: 47}
	pending := []store.Migration{{Version: 48, Name: "more", Compatible: true},
		{Version: 49, Name: "index", Incompatible: "servers write x themselves", Locks: []string{"runs: blocks writes while it builds an index"}}}
	for _, test := range []struct {
		driver  string
		pending []store.Migration
		want    []string
	}{
		{"postgres", pending, []string{"has schema version 47; this program has 49", "00048 more: compatible\n", "00049 index: not compatible: servers write x themselves\n",
			"      runs: blocks writes while it builds an index\n", "Stop the servers of earlier versions first"}},
		{"sqlite", pending[:1], []string{"00048 more: compatible\n", "you can return to that version"}},
		{"sqlite", nil, []string{"There are no pending migrations."}},
	} {
		var out bytes.Buffer
		printPlan(&out, versions, test.pending, test.driver)
		wantAll(t, out.String(), test.want...)
	}
}

func wantAll(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}

// execute executes a statement directly in a database.
func execute(t *testing.T, driver, dsn, statement string) {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
