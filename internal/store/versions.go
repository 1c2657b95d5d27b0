package store

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Versions are the versions of a schema: the numbers of migrations.
type Versions struct {
	// Applied is the last applied migration.
	Applied int64
	// Program is the last migration that this program has.
	Program int64
	// CompatibleFrom is the smallest Program that works with the applied migrations. It is at most
	// Applied.
	CompatibleFrom int64
}

// readVersions reads the versions of a store. It fails in a store without a schema.
func readVersions(ctx context.Context, db *sqlx.DB) (v Versions, err error) {
	v.Program = lastMigration()
	err = db.QueryRowxContext(ctx, `SELECT COALESCE(MAX(version_id), 0), (SELECT value FROM store_state WHERE name = '`+compatibleFrom+`')
		FROM goose_db_version WHERE is_applied`).Scan(&v.Applied, &v.CompatibleFrom)
	return v, err
}

// check rejects a schema that this program cannot work with: it could misinterpret the data, or
// write data that a newer program misinterprets.
func (v Versions) check() error {
	if err := v.checkMigratable(); err != nil {
		return err
	}
	if v.CompatibleFrom > v.Program {
		return fmt.Errorf("store: the database has schema version %d, which works with programs from version %d on, and this program has %d: "+
			"a newer version of Postern changed it incompatibly; run that version or a later one", v.Applied, v.CompatibleFrom, v.Program)
	}
	return nil
}

// checkMigratable rejects a schema that is too old for this program to migrate.
func (v Versions) checkMigratable() error {
	if v.Applied > 0 && v.Applied < baseline {
		return fmt.Errorf("store: schema version %d is too old: this program migrates from version %d on; "+
			"first migrate to version %d with Postern of commit %s (postern migrate)", v.Applied, baseline, baseline, baselineProgram)
	}
	return nil
}
