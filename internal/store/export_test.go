package store

import (
	"context"
	"errors"
)

// DumpFile is Dump of a SQLite file with the schema of any version.
func DumpFile(ctx context.Context, path string, to RowSink) (err error) {
	db, err := openDB(ctx, Config{Driver: "sqlite", DSN: sqliteDSN(path, "ro"), Pool: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	t, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = t.Rollback() }()
	return dump(ctx, txReader{t}, catalogOf("sqlite"), to)
}
