package storetest

import (
	"net/url"
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
	u, err := url.Parse(owner)
	if err != nil || !strings.HasPrefix(u.Scheme, "postgres") {
		t.Skipf("the role is set in a DSN that is a URL, got another form in %s", DSNVariable)
	}
	role := "role_" + strings.ReplaceAll(schemas.NewID(), "-", "")
	schema := u.Query().Get("search_path")
	execute(t, owner, "CREATE ROLE "+role+" LOGIN PASSWORD 'role'")
	t.Cleanup(func() { execute(t, owner, "DROP OWNED BY "+role+"; DROP ROLE "+role) })
	execute(t, owner, "GRANT ALL ON SCHEMA "+pq.QuoteIdentifier(schema)+" TO "+role)
	u.User = url.UserPassword(role, "role")
	alter = func(change string) { execute(t, owner, "ALTER ROLE "+role+" "+change) }
	disconnect = func() {
		execute(t, owner, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '"+role+"'")
	}
	return u.String(), alter, disconnect
}

