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

// migrate applies missing migrations. The caller ensures that no other instance migrates
// concurrently.
func migrate(ctx context.Context, db *sqlx.DB) error {
	driver := db.DriverName()
	want := lastMigration(driver)
	// One query finds an up-to-date schema without goose.
	if current, err := schemaVersion(ctx, db); err == nil && current >= want {
		return checkVersion(current, want)
	}
	provider, err := newProvider(driver, db)
	if err != nil {
		return fmt.Errorf("store: reading the migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("store: migrating the schema: %w", err)
	}
	current, err := schemaVersion(ctx, db)
	if err != nil {
		return fmt.Errorf("store: reading the schema version: %w", err)
	}
	return checkVersion(current, want)
}

// MigrateTo creates a store with the schema of an earlier version, for tests of upgrades.
func MigrateTo(ctx context.Context, c Config, version int64) (err error) {
	dsn := c.DSN
	if c.Driver == "sqlite" {
		dsn = sqliteDSN(c.DSN, "", writerPragmas()...)
	}
	db, err := openDB(c.Driver, dsn, 1, 0)
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

// checkVersion rejects a schema newer than this program, which could write data that a newer
// program interprets differently.
func checkVersion(current, known int64) error {
	if current > known {
		return fmt.Errorf("store: the database has schema version %d, and this program knows only up to %d: "+
			"it was used by a newer version of Postern; run that version or a later one", current, known)
	}
	return nil
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
