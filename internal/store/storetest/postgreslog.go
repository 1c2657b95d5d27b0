package storetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// PostgresLog is the log of a PostgreSQL server: the executed statements, and errors.
type PostgresLog struct {
	path string
	read int
}

// LoggedPostgres starts a PostgreSQL server for a test and returns a connection string for it, and its
// log. Without the programs of PostgreSQL it skips or fails the test like [Postgres].
func LoggedPostgres(t testing.TB) (dsn string, log *PostgresLog) {
	t.Helper()
	bin, err := findBinaries()
	if err != nil {
		lacksPostgres(t, err)
	}
	c, err := startCluster(bin, "log_statement=all", "log_line_prefix=")
	must(t, err)
	t.Cleanup(func() { must(t, c.held.Close()) })
	return c.dsn, &PostgresLog{path: filepath.Join(c.dir, "log")}
}

// Next returns the statements that the server has executed since the last call, and the errors that it
// has logged.
func (l *PostgresLog) Next(t testing.TB) (statements, errors []string) {
	t.Helper()
	text, err := os.ReadFile(l.path)
	must(t, err)
	for line := range strings.Lines(string(text[l.read:])) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case kind == "ERROR" || kind == "FATAL" || kind == "PANIC":
			errors = append(errors, strings.TrimSpace(rest))
		case kind == "LOG":
			done, q, _ := strings.Cut(strings.TrimSpace(rest), ": ")
			if done == "statement" || strings.HasPrefix(done, "execute ") {
				statements = append(statements, q)
			}
		}
	}
	l.read = len(text)
	return statements, errors
}
