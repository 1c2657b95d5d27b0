package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
)

// migrations contains the schema, for all databases: see dialect. Migrations run in the order of their
// numbers and cannot be undone.
//
//go:embed migrations
var migrations embed.FS

// baseline is the first migration. It creates the schema of version 47, which earlier builds created in
// steps. A store of an earlier version cannot be migrated.
const baseline = 47

// baselineProgram is the last build with the migrations to the baseline.
const baselineProgram = "3fe00d788ace"

// migrate applies missing migrations. The caller has called createStates, and ensures that no other
// instance migrates concurrently.
func migrate(ctx context.Context, db *sqlx.DB) error {
	if done, err := isMigrated(ctx, db); done || err != nil {
		return err
	}
	provider, err := newProvider(ctx, db)
	if err != nil {
		return fmt.Errorf("store: reading the migrations: %w", err)
	}
	// Before the migrations: an earlier program must not start between two of them.
	last := lastIncompatible()
	if _, err := db.ExecContext(ctx, raiseState, last, compatibleFrom, last); err != nil {
		return fmt.Errorf("store: recording the compatibility of the schema: %w", err)
	}
	if err := retry(ctx, func() error { return apply(ctx, provider) }); err != nil {
		return fmt.Errorf("store: migrating the schema: %w", err)
	}
	v, err := readVersions(ctx, db)
	if err != nil {
		return fmt.Errorf("store: reading the schema version: %w", err)
	}
	return v.check()
}

// isMigrated reports whether the schema is up to date, with one query. compatible_from is 0 in
// a restored store that no program has opened. It rejects a schema that this
// program can neither use nor migrate.
func isMigrated(ctx context.Context, db *sqlx.DB) (bool, error) {
	v, err := readVersions(ctx, db)
	if err == nil {
		return v.Applied >= v.Program && v.CompatibleFrom >= lastIncompatible(), v.check()
	}
	// The table store_state is missing, in a restored store or an old one, or the schema.
	if v.Applied, err = schemaVersion(ctx, db); err != nil {
		return false, nil
	}
	return false, v.check()
}

// apply applies missing migrations, each in its own transaction.
func apply(ctx context.Context, provider *goose.Provider) error {
	_, err := provider.Up(ctx)
	return err
}

// createVersion creates a SQLite store with the schema of a version.
func createVersion(ctx context.Context, path string, version int64) (err error) {
	if err := (Versions{Applied: max(version, 1)}).checkMigratable(); err != nil {
		return err
	}
	db, err := openDB(ctx, Config{Driver: "sqlite", DSN: sqliteDSN(path, "", writerPragmas()...), Pool: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	provider, err := newProvider(ctx, db.DB)
	if err != nil {
		return fmt.Errorf("store: reading the migrations: %w", err)
	}
	_, err = provider.UpTo(ctx, version)
	return err
}

func newProvider(ctx context.Context, db *sqlx.DB) (*goose.Provider, error) {
	form, err := dialectOf(ctx, db)
	if err != nil {
		return nil, err
	}
	forGoose := goose.DialectSQLite3
	if form != dialectSQLite {
		forGoose = goose.DialectPostgres
	}
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(forGoose, db.DB, migrationFiles{folder, form}, goose.WithDisableGlobalRegistry(true))
}

// schemaVersion returns the number of the last applied migration.
func schemaVersion(ctx context.Context, db *sqlx.DB) (version int64, err error) {
	err = db.GetContext(ctx, &version, "SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied")
	return version, err
}

// lastMigration returns the number of the program's last migration.
func lastMigration() int64 {
	all := mustListMigrations()
	return all[len(all)-1].Version
}
