package storetest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lib/pq"
	"github.com/postern-id/postern/schemas"
)

// DSNVariable names the environment variable with the connection string of a
// PostgreSQL server to test on, instead of one that the tests start.
const DSNVariable = "POSTERN_TEST_POSTGRES_DSN"

// Postgres returns the connection string of an empty schema in a PostgreSQL database; the schema is
// dropped when the test ends. The server is the one in POSTERN_TEST_POSTGRES_DSN. Without that
// variable, each test binary starts a server in a temporary folder, which ends with the binary.
//
// If neither exists, the test is skipped with the reason; in a CI (the environment variable CI is
// set) it fails instead.
func Postgres(t testing.TB) (dsn string) {
	t.Helper()
	needPostgres(t)
	dsn, drop, err := newSchema()
	must(t, err)
	t.Cleanup(func() { must(t, drop()) })
	return dsn
}

func needPostgres(t testing.TB) {
	t.Helper()
	if _, err := server(); err != nil {
		lacksPostgres(t, err)
	}
}

// lacksPostgres skips a test that needs PostgreSQL, or fails it in CI.
func lacksPostgres(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("PostgreSQL is needed here: %v", err)
	}
	t.Skipf("no PostgreSQL to test on: %v (install it, or set %s)", err, DSNVariable)
}

// newSchema creates an empty schema.
func newSchema() (dsn string, drop func() error, err error) {
	running, err := server()
	if err != nil {
		return "", nil, err
	}
	return CreateSchema(running.dsn)
}

// CreateSchema creates an empty schema on a server. It returns the connection string for it, and
// the function that drops it.
func CreateSchema(on string) (dsn string, drop func() error, err error) {
	schema := "test_" + strings.ReplaceAll(schemas.NewID(), "-", "")
	drop = func() error {
		return executeOnce(on, "DROP SCHEMA "+pq.QuoteIdentifier(schema)+" CASCADE")
	}
	return withSearchPath(on, schema), drop, executeOnce(on, "CREATE SCHEMA "+pq.QuoteIdentifier(schema))
}

// server returns the server for tests. Later calls return the server of the first call.
var server = sync.OnceValues(func() (*cluster, error) {
	if dsn := os.Getenv(DSNVariable); dsn != "" {
		return &cluster{dsn: dsn}, nil
	}
	bin, err := findBinaries()
	if err != nil {
		return nil, err
	}
	return startCluster(bin)
})

// StartPostgres returns the connection string of a PostgreSQL server for a program that
// measures: the one that POSTERN_TEST_POSTGRES_DSN names, else a new one with the given settings
// (name=value), which runs until stop or until the process ends. The servers of tests do not
// wait for the disk; with fsync=on and full_page_writes=on this one does.
func StartPostgres(settings ...string) (dsn string, stop func() error, err error) {
	if dsn := os.Getenv(DSNVariable); dsn != "" {
		return dsn, func() error { return nil }, nil
	}
	bin, err := findBinaries()
	if err != nil {
		return "", nil, err
	}
	c, err := startCluster(bin, settings...)
	if err != nil {
		return "", nil, err
	}
	return c.dsn, c.held.Close, nil
}

// findBinaries returns the folder that has initdb and postgres: in the PATH, or
// where Debian puts them, the newest release first.
func findBinaries() (string, error) {
	folders := filepath.SplitList(os.Getenv("PATH"))
	packaged, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	slices.SortFunc(packaged, func(a, b string) int { return cmp.Compare(release(b), release(a)) })
	for _, folder := range append(folders, packaged...) {
		if isProgram(folder, "initdb") && isProgram(folder, "postgres") {
			// The programs find their files relative to their real path.
			real, err := filepath.EvalSymlinks(filepath.Join(folder, "initdb"))
			return filepath.Dir(real), err
		}
	}
	return "", errors.New("initdb and postgres are neither in the PATH nor in /usr/lib/postgresql/*/bin")
}

// release is the number of the release in /usr/lib/postgresql/15/bin, 0 when it
// is none.
func release(folder string) float64 {
	number, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(folder)), 64)
	return number
}

func isProgram(folder, name string) bool {
	info, err := os.Stat(filepath.Join(folder, name))
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// withSearchPath restricts a connection string to one schema.
func withSearchPath(dsn, schema string) string {
	u, err := url.Parse(dsn)
	if err != nil || !strings.HasPrefix(u.Scheme, "postgres") {
		return dsn + " search_path=" + schema
	}
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String()
}

func execute(t testing.TB, dsn, statement string) {
	t.Helper()
	if err := executeOnce(dsn, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func executeOnce(dsn, statement string) (err error) {
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(context.Background(), statement); err != nil {
		return fmt.Errorf("on the test server: %w", err)
	}
	return nil
}

// PostgresRole is Postgres for a role of the test's own, without special rights: alter
// changes the role ("CONNECTION LIMIT 3"), and disconnect ends its connections.
func PostgresRole(t testing.TB) (dsn string, alter func(change string), disconnect func()) {
	t.Helper()
	owner := Postgres(t)
	role := "role_" + strings.ReplaceAll(schemas.NewID(), "-", "")
	execute(t, owner, "CREATE ROLE "+role+" LOGIN PASSWORD 'role'")
	t.Cleanup(func() {
		execute(t, owner, "DROP OWNED BY "+role)
		execute(t, owner, "DROP ROLE "+role)
	})
	dsn, schema := asRole(owner, role)
	execute(t, owner, "GRANT ALL ON SCHEMA "+pq.QuoteIdentifier(schema)+" TO "+role)
	alter = func(change string) { execute(t, owner, "ALTER ROLE "+role+" "+change) }
	disconnect = func() {
		execute(t, owner, "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE usename = '"+role+"'")
	}
	return dsn, alter, disconnect
}

var userOfDSN = regexp.MustCompile(`(^| )(user|password)=\S+`)

// asRole returns a connection string for a role, and the schema that it looks into.
func asRole(dsn, role string) (changed, schema string) {
	u, err := url.Parse(dsn)
	if err != nil || !strings.HasPrefix(u.Scheme, "postgres") {
		_, schema, _ = strings.Cut(dsn, " search_path=")
		return userOfDSN.ReplaceAllString(dsn, "") + " user=" + role + " password=role", schema
	}
	u.User = url.UserPassword(role, "role")
	return u.String(), u.Query().Get("search_path")
}
