package storetest

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/lib/pq"
	"github.com/postern-id/postern/schemas"
)

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
