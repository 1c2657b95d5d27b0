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

// migrations contains the schema, one folder for each driver. Migrations run in the order of
// their numbers and cannot be undone.
//
//go:embed migrations
var migrations embed.FS

// migrate applies missing migrations. The caller has called createStates, and ensures that no other
// instance migrates concurrently.
func migrate(ctx context.Context, db *sqlx.DB) error {
	// One query finds an up-to-date schema without goose.
	if v, err := readVersions(ctx, db); err == nil && v.Applied >= v.Program {
		return v.check()
	}
	provider, err := newProvider(db.DriverName(), db)
	if err != nil {
		return fmt.Errorf("store: reading the migrations: %w", err)
	}
	// Before the migrations: an earlier program must not start between two of them.
	last := lastIncompatible(db.DriverName())
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

// apply applies missing migrations, each in its own transaction.
func apply(ctx context.Context, provider *goose.Provider) error {
	_, err := provider.Up(ctx)
	return err
}

// MigrateTo creates a store with the schema of an earlier version.
func MigrateTo(ctx context.Context, c Config, version int64) (err error) {
	c.Pool = 1
	if c.Driver == "sqlite" {
		c.DSN = sqliteDSN(c.DSN, "", writerPragmas()...)
	}
	db, err := openDB(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	provider, err := newProvider(c.Driver, db.DB)
	if err != nil {
		return fmt.Errorf("store: reading the migrations: %w", err)
	}
	_, err = provider.UpTo(ctx, version)
	return err
}

func newProvider(driver string, db *sqlx.DB) (*goose.Provider, error) {
	dialect := goose.DialectSQLite3
	if driver == "postgres" {
		dialect = goose.DialectPostgres
	}
	folder, err := fs.Sub(migrations, "migrations/"+driver)
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(dialect, db.DB, folder, goose.WithDisableGlobalRegistry(true), goose.WithGoMigrations(migrateEmails(driver)))
}

// schemaVersion returns the number of the last applied migration.
func schemaVersion(ctx context.Context, db *sqlx.DB) (version int64, err error) {
	err = db.GetContext(ctx, &version, "SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied")
	return version, err
}

// lastMigration returns the number of the program's last migration.
func lastMigration(driver string) (last int64) {
	files, err := fs.ReadDir(migrations, "migrations/"+driver)
	if err != nil || len(files) == 0 {
		panic("store: no migrations for " + driver)
	}
	version, err := goose.NumericComponent(files[len(files)-1].Name())
	if err != nil {
		panic(err)
	}
	return max(version, emailMigration)
}
