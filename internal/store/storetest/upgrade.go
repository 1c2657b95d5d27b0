package storetest

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
)

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
