package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// lostConn is a connection that ends after the server has executed a statement, before the reply.
type lostConn struct {
	driverConn
	lostStatement
}

type lostStatement struct{ executed *int }

func (c lostConn) Connect(context.Context) (driver.Conn, error) { return c, nil }
func (c lostConn) Driver() driver.Driver                        { return nil }
func (c lostConn) Close() error                                 { return nil }
func (c lostConn) IsValid() bool                                { return true }
func (c lostConn) ResetSession(context.Context) error           { return nil }
func (c lostConn) PrepareContext(context.Context, string) (driver.Stmt, error) {
	return c.lostStatement, nil
}
func (c lostConn) ExecContext(ctx context.Context, _ string, args []driver.NamedValue) (driver.Result, error) {
	return c.lostStatement.ExecContext(ctx, args)
}
func (c lostConn) QueryContext(ctx context.Context, _ string, args []driver.NamedValue) (driver.Rows, error) {
	return c.lostStatement.QueryContext(ctx, args)
}

func (s lostStatement) Close() error                               { return nil }
func (s lostStatement) NumInput() int                              { return -1 }
func (s lostStatement) Exec([]driver.Value) (driver.Result, error) { panic("without a context") }
func (s lostStatement) Query([]driver.Value) (driver.Rows, error)  { panic("without a context") }
func (s lostStatement) ExecContext(context.Context, []driver.NamedValue) (driver.Result, error) {
	*s.executed++
	return nil, driver.ErrBadConn
}
func (s lostStatement) QueryContext(context.Context, []driver.NamedValue) (driver.Rows, error) {
	*s.executed++
	return nil, driver.ErrBadConn
}

// A write whose reply is lost is executed once, and its error is an outage. A read is repeated.
func TestLostConnection(t *testing.T) {
	for _, prepares := range []bool{true, false} {
		for q, repeated := range map[string]bool{
			"UPDATE runs SET revision = ?":               false,
			"INSERT INTO links (hash) VALUES (?)":        false,
			"DELETE FROM links WHERE hash = ? RETURNING": false,
			"SELECT id FROM runs WHERE id = ?":           true,
		} {
			executed := 0
			db := &pool{DB: openConnector(lostConn{lostStatement: lostStatement{&executed}}, "postgres", prepares, nil)}
			var err error
			if strings.HasPrefix(q, "SELECT") || strings.HasSuffix(q, "RETURNING") {
				_, err = db.QueryContext(t.Context(), q, 1)
			} else {
				_, err = db.ExecContext(t.Context(), q, 1)
			}
			if err = db.check(err); !schemas.HasClass(err, schemas.Unavailable) {
				t.Errorf("%s: %v, want the class %v", q, err, schemas.Unavailable)
			}
			if repeated != (executed > 1) || executed == 0 || repeated != errors.Is(err, driver.ErrBadConn) {
				t.Errorf("%s (prepares %v): executed %d times, repeated: want %v; %v", q, prepares, executed, repeated, err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
