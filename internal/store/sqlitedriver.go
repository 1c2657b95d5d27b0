package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"fmt"

	"github.com/jmoiron/sqlx"
	"github.com/postern-id/postern/schemas"
	"modernc.org/sqlite"
)

// sqliteConnector opens connections with the functions that migrations need and SQLite lacks.
// It uses its own driver, because the registered one is shared by the program.
type sqliteConnector struct {
	driver *sqlite.Driver
	dsn    string
}

// Connect implements driver.Connector.
func (c sqliteConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }

// Driver implements driver.Connector.
func (c sqliteConnector) Driver() driver.Driver { return c.driver }

// openSQLiteDB returns a pool of connections to an SQLite database.
func openSQLiteDB(dsn string) (*sqlx.DB, error) {
	d := new(sqlite.Driver)
	if err := d.RegisterDeterministicScalarFunction("sha256_hex", 1, sha256Hex); err != nil {
		return nil, err
	}
	return sqlx.NewDb(sql.OpenDB(sqliteConnector{d, dsn}), "sqlite"), nil
}

// sha256Hex is the SQL function sha256_hex(TEXT).
func sha256Hex(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	text, ok := args[0].(string)
	if !ok {
		return nil, fmt.Errorf("sha256_hex: expected a text, got %T", args[0])
	}
	return hex.EncodeToString(schemas.HashSecret(text)), nil
}
