package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Inspection describes a database that is not opened as a store.
type Inspection struct {
	Version  int64     // of the schema; 0 if the database is empty
	Known    int64     // the version that this program needs
	Clock    time.Time // of the database server
	Unusable error     // why this program can neither use nor migrate the version; nil if it can
}

// Inspect reads the schema version of a database and changes nothing. A SQLite file must exist.
func Inspect(ctx context.Context, c Config) (found Inspection, err error) {
	found.Known = lastMigration()
	dsn, now, tables := c.DSN, "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)", "SELECT COUNT(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'goose_db_version'"
	if c.Driver == "sqlite" {
		dsn, now, tables = sqliteDSN(c.DSN, "ro", "busy_timeout(5000)"), "", "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'goose_db_version'"
	}
	db, err := openDB(ctx, Config{Driver: c.Driver, DSN: dsn, Pool: 1, PreparedStatements: c.PreparedStatements})
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	found.Clock = time.Now().UTC()
	if now != "" {
		var micros int64
		if err := db.GetContext(ctx, &micros, now); err != nil {
			return found, fmt.Errorf("store: connecting to PostgreSQL: %w", err)
		}
		found.Clock = fromMicros(micros)
	}
	var migrated int
	if err := db.GetContext(ctx, &migrated, tables); err != nil {
		return found, explainDamage(c.DSN, fmt.Errorf("store: reading the database: %w", err))
	}
	if migrated > 0 {
		var v Versions
		if v, err = readVersions(ctx, db.DB); err != nil { // the table store_state is missing in a restored store or an old one
			v.Applied, err = schemaVersion(ctx, db.DB)
		}
		found.Version, found.Unusable = v.Applied, v.check()
	}
	return found, err
}
