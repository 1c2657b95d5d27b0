package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

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

// openPostgres connects the pool to a PostgreSQL database. With "auto" the connections that prepare
// statements have directParameter, so that a pooler that comes later rejects them.
func (p *pool) openPostgres(ctx context.Context, dsn, prepare string) error {
	c, err := pq.NewConfig(dsn)
	if err != nil {
		return errUnreadableDSN()
	}
	unbracket(&c)
	p.prepares = prepare == PrepareAlways
	if prepare == "" || prepare == PrepareAuto {
		direct := withParameter(c, directParameter, "yes")
		if p.prepares, err = isDirect(ctx, direct); err != nil {
			return err
		}
		if p.prepares {
			c = direct
		}
	}
	c.BinaryParameters = !p.prepares
	if p.silence, err = newSilence(c); err != nil {
		return err
	}
	connects, err := connectorTo(c, observingDialer{of: p.silence})
	if err != nil {
		return err
	}
	p.DB = openConnector(connects, "postgres", p.prepares, p.silence)
	return nil
}

// unbracket removes the brackets of IPv6 addresses, with which the driver cannot connect.
func unbracket(c *pq.Config) {
	c.Host = strings.Trim(c.Host, "[]")
	c.Multi = slices.Clone(c.Multi)
	for i := range c.Multi {
		c.Multi[i].Host = strings.Trim(c.Multi[i].Host, "[]")
	}
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
	connects, err := connectorTo(direct, questionDialer{})
	if err != nil {
		return false, err
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
