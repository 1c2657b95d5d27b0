package store

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"
)

// MigrateTo makes a store with the schema of an earlier version.
func MigrateTo(ctx context.Context, c Config, version int64) (err error) {
	dsn := c.DSN
	if c.Driver == "sqlite" {
		dsn = sqliteDSN(c.DSN, "", writerPragmas()...)
	}
	db, err := sqlx.Open(c.Driver, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	provider, err := newProvider(c.Driver, db)
	if err != nil {
		return err
	}
	_, err = provider.UpTo(ctx, version)
	return err
}
