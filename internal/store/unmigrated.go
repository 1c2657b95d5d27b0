package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// ReadUnmigrated passes a Reader of one moment of a database to do, and changes nothing. The schema may have any
// version from the baseline on: a query of do may use only tables and columns that all of them have.
func ReadUnmigrated(ctx context.Context, c Config, do func(Reader) error) (err error) {
	db, err := openReadOnly(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	options := &sql.TxOptions{ReadOnly: true}
	if c.Driver == "postgres" {
		options.Isolation = sql.LevelRepeatableRead
	}
	t, err := db.BeginTx(ctx, options)
	if err != nil {
		return db.check(fmt.Errorf("store: beginning to read: %w", err))
	}
	defer func() { _ = t.Rollback() }() // there is nothing to keep
	return db.check(do(txReader{t}))
}

// openReadOnly opens a database without migrating it. A SQLite file must exist.
func openReadOnly(ctx context.Context, c Config) (*pool, error) {
	c.Pool = 1
	if c.Driver == "sqlite" {
		c.DSN = sqliteDSN(c.DSN, "ro", "query_only(1)")
	}
	db, err := openDB(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("store: connecting to the database: %w", err), db.Close())
	}
	return db, nil
}

// Count counts something in a store.
type Count func(context.Context, Reader) (int, error)

// Counting returns the Count of a query whose result is a number. Administrators is a relation that the query may
// use: the ids of the users who have a permission of this server's API, directly or through groups.
func Counting(query string) Count {
	return func(ctx context.Context, r Reader) (int, error) {
		return readValue[int](ctx, r, "WITH RECURSIVE "+administrators+" "+query)
	}
}

const administrators = `granting (role_id) AS (SELECT DISTINCT role_id FROM role_permissions WHERE permission = 'system' OR permission LIKE 'system:%'),
	granted (group_id) AS (SELECT a.group_id FROM granting g CROSS JOIN role_assignments a WHERE a.role_id = g.role_id AND a.group_id >= ''
		UNION SELECT m.member_id FROM granted g CROSS JOIN group_members m WHERE m.group_id = g.group_id AND m.member_id >= ''),
	administrators (user_id) AS (SELECT a.user_id FROM granting g CROSS JOIN role_assignments a WHERE a.role_id = g.role_id AND a.user_id >= ''
		UNION SELECT m.user_id FROM granted g CROSS JOIN group_members m WHERE m.group_id = g.group_id AND m.user_id >= '')`
