package store

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"

	"github.com/postern-id/postern/schemas"
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

// WriteAsBatch runs the changes as a write whose batch has the statement too.
func (s *Store) WriteAsBatch(ctx context.Context, changes []schemas.Change, statement string) error {
	return s.writer.write(ctx, func(t *Tx) error {
		if t.inBatch() {
			return errors.Join(t.Apply(changes), t.later(statement))
		}
		return t.Apply(changes)
	})
}

// StatementsAhead returns the statements that read ahead in a sign-in.
func StatementsAhead() []string {
	bound := func(q string) string { return sqlx.Rebind(sqlx.DOLLAR, q) }
	var list []string
	for _, q := range []string{selectRunAhead, selectAuthRequestAhead, selectCredentialAhead, selectRunWithPasskey, selectCodeAhead, selectFamilyAhead,
		selectTokenAccount, selectClientRevisionAhead, selectUnchanged, updateCodeAhead, updateCodeAndToken} {
		list = append(list, bound(q))
	}
	return list
}

// ForgetNameSkeletons makes the rows of applications those of a program without this column.
func (s *Store) ForgetNameSkeletons(ctx context.Context) error {
	return s.Update(ctx, func(t *Tx) error {
		_, err := t.exec("UPDATE applications SET name_skeleton = NULL")
		return err
	})
}
