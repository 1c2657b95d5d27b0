package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// maxKept bounds the statements that a connection keeps prepared. The queries of the product are
// fewer; those with lists of different lengths replace each other.
const maxKept = 512

// connector opens connections that prepare each query, and each statement with parameters, once,
// unless prepares is false. Other statements, such as those of migrations, go to the driver as they
// are.
type connector struct {
	driver.Connector
	dialect  func(q string) string // of a query with ? for each parameter
	prepares bool
	silence  *silence // of the server; nil for none
}

// openConnector returns a pool of the connections of a driver. The silence is that of its server, nil for SQLite.
func openConnector(of driver.Connector, name string, prepares bool, silence *silence) *sqlx.DB {
	bind := sqlx.BindType(name)
	dialect := func(q string) string { return sqlx.Rebind(bind, inDialect(name, q)) }
	return sqlx.NewDb(sql.OpenDB(connector{of, dialect, prepares, silence}), name)
}

// forShare ends a query that blocks writers of the row until the transaction ends.
// SQLite, with its one writer, does not support it.
const forShare = " FOR SHARE"

// skipLocked ends a query that locks the rows that no other transaction has locked.
const skipLocked = " FOR UPDATE SKIP LOCKED"

// forSQLite are words of statements that SQLite has under other names. It prepares a statement again at
// each change of a parameter that is its LIMIT, but not if the parameter is part of an expression.
var forSQLite = strings.NewReplacer("LIMIT ?", "LIMIT 0+?", "JSON_AGG(", "JSON_GROUP_ARRAY(", skipLocked, "",
	eventOfKey, " CROSS JOIN events e ON e.at = k_at AND e.id = k_id")

// inDialect returns a query in the dialect of a driver.
func inDialect(name, q string) string {
	if name != "sqlite" {
		return q
	}
	return forSQLite.Replace(strings.TrimSuffix(q, forShare))
}

// Connect implements driver.Connector.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	if c.silence != nil && c.silence.silent.Load() {
		return nil, errSilent("dial")
	}
	var dialed *waitingConn
	opened, err := c.Connector.Connect(context.WithValue(ctx, dialedKey{}, &dialed))
	if err != nil {
		return nil, err
	}
	return &connection{driverConn: opened.(driverConn), waiting: dialed, dialect: c.dialect, prepares: c.prepares, kept: map[string]*keptStatement{}}, nil
}

// driverConn is what the drivers of both databases implement.
type driverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// connection is a connection with its prepared statements. It is for one goroutine at a time, and a
// query must be read to its end before it runs again.
type connection struct {
	driverConn
	waiting  *waitingConn // nil for SQLite
	begun    bool         // whether it may be in a transaction: since it was taken from the pool, it began one
	dialect  func(q string) string
	prepares bool
	kept     map[string]*keptStatement // by query
	uses     int
}

// keptStatement is a prepared statement.
type keptStatement struct {
	statement
	used int // the number of the use, which orders the statements
}

// statement is a prepared statement of a driver.
type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// waitFor lets waits for the server end with the context of the next statement.
func (c *connection) waitFor(ctx context.Context) {
	if c.waiting != nil {
		c.waiting.ctx = ctx
	}
}

// ExecContext implements driver.ExecerContext.
func (c *connection) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	c.waitFor(ctx)
	if len(args) == 0 {
		return c.driverConn.ExecContext(ctx, q, args)
	}
	if !c.prepares {
		result, err := c.driverConn.ExecContext(ctx, c.dialect(q), args)
		return result, executed(q, err)
	}
	s, err := c.prepared(ctx, q)
	if err != nil {
		return nil, err
	}
	result, err := s.ExecContext(ctx, args)
	return result, c.checked(q, executed(q, err))
}

// QueryContext implements driver.QueryerContext. A query that is a transaction by itself is run again if
// it loses a conflict, which happens if the default isolation is serializable.
func (c *connection) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (found driver.Rows, err error) {
	found, err = c.query(ctx, q, args)
	if err != nil && !c.begun && isConflict(err) {
		err = retry(ctx, func() error {
			found, err = c.query(ctx, q, args)
			return err
		})
	}
	return found, err
}

func (c *connection) query(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	c.waitFor(ctx)
	if len(args) == 0 && !strings.HasPrefix(q, "SELECT") {
		return c.driverConn.QueryContext(ctx, q, args)
	}
	if !c.prepares {
		found, err := c.driverConn.QueryContext(ctx, c.dialect(q), args)
		return found, executed(q, err)
	}
	s, err := c.prepared(ctx, q)
	if err != nil {
		return nil, err
	}
	found, err := s.QueryContext(ctx, args)
	return found, c.checked(q, executed(q, err))
}

// errConnectionLost reports that a connection ended during a write, which may have been committed.
var errConnectionLost = errors.New("the connection to the database was lost during a write")

// executed returns the error of a statement that was sent. For driver.ErrBadConn, database/sql sends
// the statement again over another connection, but the driver also returns it after the server
// received the statement. The second execution of a write that was committed finds its row changed,
// and the caller would get a conflict with itself.
func executed(q string, err error) error {
	if errors.Is(err, driver.ErrBadConn) && !strings.HasPrefix(q, "SELECT") {
		return errConnectionLost
	}
	return err
}

// BeginTx implements driver.ConnBeginTx.
func (c *connection) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	c.begun = true
	c.waitFor(ctx)
	return c.driverConn.BeginTx(ctx, options)
}

// Ping implements driver.Pinger.
func (c *connection) Ping(ctx context.Context) error {
	c.waitFor(ctx)
	return c.driverConn.Ping(ctx)
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *connection) PrepareContext(ctx context.Context, q string) (driver.Stmt, error) {
	c.waitFor(ctx)
	return c.driverConn.PrepareContext(ctx, q)
}

// ResetSession implements driver.SessionResetter. While the server is silent, a connection is not used again.
func (c *connection) ResetSession(ctx context.Context) error {
	c.begun = false
	if c.waiting != nil {
		c.waiting.ctx = nil // that of the last statement
		if c.waiting.of.silent.Load() {
			return driver.ErrBadConn
		}
	}
	return c.driverConn.ResetSession(ctx)
}

// CheckNamedValue implements driver.NamedValueChecker.
func (c *connection) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.driverConn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// prepared returns the statement of a query, which it prepares if necessary.
func (c *connection) prepared(ctx context.Context, q string) (*keptStatement, error) {
	c.uses++
	if s := c.kept[q]; s != nil {
		s.used = c.uses
		return s, nil
	}
	if len(c.kept) >= maxKept {
		c.dropOldest()
	}
	made, err := c.driverConn.PrepareContext(ctx, c.dialect(q))
	if err != nil {
		return nil, explainPreparing(err)
	}
	s := &keptStatement{made.(statement), c.uses}
	c.kept[q] = s
	return s, nil
}

// dropOldest closes the statement that was not used for the longest time.
func (c *connection) dropOldest() {
	oldest, at := "", c.uses
	for q, s := range c.kept {
		if s.used < at {
			oldest, at = q, s.used
		}
	}
	_ = c.kept[oldest].Close() // a connection that cannot close it fails at the next statement
	delete(c.kept, oldest)
}

// checked forgets a statement that the server no longer has, or whose result has other types since a
// migration, so that the next use prepares it again.
func (c *connection) checked(q string, err error) error {
	if err != nil && pq.As(err, pqerror.InvalidSQLStatementName, pqerror.FeatureNotSupported) != nil {
		delete(c.kept, q)
	}
	return explainPreparing(err)
}

// Close implements driver.Conn. A server that does not answer at once cannot keep the connection open.
func (c *connection) Close() error {
	var failed []error
	if c.waiting != nil {
		_ = c.waiting.SetDeadline(time.Now().Add(waitTick)) // a connection that is closed already needs none
	}
	for _, s := range c.kept {
		failed = append(failed, s.Close())
	}
	clear(c.kept)
	return errors.Join(c.driverConn.Close(), errors.Join(failed...))
}
