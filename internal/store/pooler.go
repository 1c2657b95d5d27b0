package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// Connection poolers
//
// A pooler such as PgBouncer in transaction mode gives each transaction any of its connections
// to PostgreSQL. State of a session, such as a named prepared statement, is then on another
// connection or, worse, is that of another client: the name may stand for another statement.
// Behind a pooler each statement is therefore sent unnamed, with its parameters, in one round trip.

// The values of Config.PreparedStatements.
const (
	PrepareAuto   = "auto"
	PrepareAlways = "on"
	PrepareNever  = "off"
)

// directParameter is a parameter that PostgreSQL accepts at the start of a session. PgBouncer
// rejects it or, with ignore_startup_parameters, drops it.
const directParameter = "postern.direct"

// openPostgresDB returns a pool of connections to a PostgreSQL database. With "auto" the
// connections that prepare statements have directParameter, so that a pooler that comes later
// rejects them.
func openPostgresDB(ctx context.Context, dsn, prepare string) (db *sqlx.DB, prepares bool, err error) {
	c, err := pq.NewConfig(dsn)
	if err != nil {
		return nil, false, errUnreadableDSN()
	}
	prepares = prepare == PrepareAlways
	if prepare == "" || prepare == PrepareAuto {
		direct := withParameter(c, directParameter, "yes")
		if prepares, err = isDirect(ctx, direct); err != nil {
			return nil, false, err
		}
		if prepares {
			c = direct
		}
	}
	c.BinaryParameters = !prepares
	connects, err := pq.NewConnectorConfig(c)
	if err != nil {
		return nil, false, errUnreadableDSN()
	}
	return openConnector(connects, "postgres", prepares), prepares, nil
}

// withParameter returns a configuration with an additional session parameter.
func withParameter(c pq.Config, name, value string) pq.Config {
	parameters := map[string]string{name: value}
	maps.Copy(parameters, c.Runtime)
	c.Runtime = parameters
	return c
}

// isDirect reports whether connections with directParameter reach PostgreSQL without a pooler.
// Errors other than those of an unreachable server are left to the next connection.
func isDirect(ctx context.Context, direct pq.Config) (bool, error) {
	connects, err := pq.NewConnectorConfig(direct)
	if err != nil {
		return false, errUnreadableDSN()
	}
	db := sql.OpenDB(connects)
	defer db.Close()
	var value sql.NullString
	err = db.QueryRowContext(ctx, "SELECT current_setting('"+directParameter+"', true)").Scan(&value)
	if err != nil && pq.As(err, pqerror.ProtocolViolation) == nil && isOutage(err) {
		return false, fmt.Errorf("store: connecting to PostgreSQL: %w", asOutage(err))
	}
	return err == nil && value.String == "yes", nil
}

// PreparesStatements reports whether the connections of the store prepare statements. Those of
// SQLite do.
func (s *Store) PreparesStatements() bool { return s.db.prepares }

// explainPreparing adds the remedy to the error of a pooler that does not support prepared
// statements.
func explainPreparing(err error) error {
	if pq.As(err, pqerror.InvalidSQLStatementName, pqerror.DuplicatePstatement) == nil {
		return err
	}
	return fmt.Errorf("%w: if a connection pooler is between the server and PostgreSQL, "+
		"set database.prepared_statements to auto or off", err)
}
