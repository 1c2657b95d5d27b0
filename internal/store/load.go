package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// CreateFrom creates a SQLite database at a path where no file is. read passes all rows of a store with
// the given schema version to the sink. The error leaves an incomplete file. Open migrates the
// database.
func CreateFrom(ctx context.Context, path string, version int64, read func(RowSink) error) (err error) {
	if err := makePrivate(path); err != nil {
		return err
	}
	if err := createVersion(ctx, path, version); err != nil {
		return err
	}
	// The file is of no use until all rows are in it, so it needs no journal.
	db, err := openDB(ctx, Config{Driver: "sqlite", DSN: sqliteDSN(path, "", "journal_mode(OFF)", "synchronous(OFF)", "foreign_keys(0)"), Pool: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	t, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = t.Rollback() }() // it fails after the commit
	if err := loadSQLite(ctx, t, read); err != nil {
		return err
	}
	return t.Commit()
}

// loadSQLite replaces all rows. Triggers would count and queue the rows again.
func loadSQLite(ctx context.Context, t *sql.Tx, read func(RowSink) error) error {
	r := txReader{t}
	triggers, err := readAll(ctx, r, func(row scanner, d *schemaObject) error { return row.Scan(&d.name, &d.text) },
		"SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
	if err != nil {
		return err
	}
	tables, err := catalogOf("sqlite").readTables(ctx, r)
	if err != nil {
		return err
	}
	var statements []string
	for _, trigger := range triggers {
		statements = append(statements, "DROP TRIGGER "+trigger.name)
	}
	for _, table := range tables {
		statements = append(statements, "DELETE FROM "+table.name)
	}
	if err := execute(ctx, t, statements); err != nil {
		return err
	}
	if err := newLoader(ctx, tables, prepareInsert(t)).load(read); err != nil {
		return err
	}
	statements = nil
	for _, trigger := range triggers {
		statements = append(statements, trigger.text)
	}
	if err := execute(ctx, t, statements); err != nil {
		return err
	}
	dangling, err := readAll(ctx, r, scanValue[string], `SELECT DISTINCT "table" FROM pragma_foreign_key_check`)
	if err == nil && len(dangling) > 0 {
		err = fmt.Errorf("store: rows of %s refer to rows that are missing", strings.Join(dangling, ", "))
	}
	return err
}

// schemaObject is a trigger or a constraint with the statement that creates it.
type schemaObject struct{ name, text string }

// Replace replaces all rows of a PostgreSQL store, in one transaction. read passes all rows of a store
// with the same schema version to the sink. It waits for no running server: if another transaction
// uses the tables, it fails.
func (s *Store) Replace(ctx context.Context, read func(RowSink) error) error {
	if s.local {
		return errors.New("store: a SQLite store is replaced by its file")
	}
	t, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.check(fmt.Errorf("store: beginning a transaction: %w", err))
	}
	defer func() { _ = t.Rollback() }() // it fails after the commit
	if err := loadPostgres(ctx, t, read); err != nil {
		return s.check(err)
	}
	if err := t.Commit(); err != nil {
		return s.check(fmt.Errorf("store: committing: %w", err))
	}
	_, err = s.db.ExecContext(ctx, "ANALYZE")
	return err
}

// loadPostgres replaces all rows. Triggers would count and queue the rows again, and the order of the
// tables is not that of their foreign keys, which PostgreSQL checks when they are added again.
func loadPostgres(ctx context.Context, t *sql.Tx, read func(RowSink) error) error {
	r := txReader{t}
	tables, err := catalogOf("postgres").readTables(ctx, r)
	if err != nil {
		return err
	}
	foreign, err := readAll(ctx, r, func(row scanner, d *schemaObject) error { return row.Scan(&d.name, &d.text) },
		`SELECT format('%s DROP CONSTRAINT %I', conrelid::regclass, conname),
			format('%s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
		FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace`)
	if err != nil {
		return err
	}
	before, after := []string{"SET LOCAL lock_timeout = '10s'"}, []string{}
	var names []string
	for _, table := range tables {
		names = append(names, table.name)
		before = append(before, "ALTER TABLE "+table.name+" DISABLE TRIGGER USER")
		after = append(after, "ALTER TABLE "+table.name+" ENABLE TRIGGER USER")
	}
	for _, constraint := range foreign {
		before = append(before, "ALTER TABLE "+constraint.name)
		after = append(after, "ALTER TABLE "+constraint.text)
	}
	if err := execute(ctx, t, append(before, "TRUNCATE "+strings.Join(names, ", "))); err != nil {
		return err
	}
	if err := newLoader(ctx, tables, prepareCopy(t)).load(read); err != nil {
		return err
	}
	return execute(ctx, t, after)
}

func execute(ctx context.Context, t *sql.Tx, statements []string) error {
	for _, q := range statements {
		if _, err := t.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("store: %.100s: %w", q, err)
		}
	}
	return nil
}

// txReader is the Reader of a transaction without the rules of writes.
type txReader struct{ t *sql.Tx }

func (r txReader) query(ctx context.Context, q string, args ...any) (*sql.Rows, error) {
	return r.t.QueryContext(ctx, q, args...)
}

func (r txReader) check(err error) error { return err }

// loader is a RowSink that writes to the tables of a database.
type loader struct {
	preparer
	ctx    context.Context
	tables []storedTable

	loaded  []string // the tables that were begun
	current []storedColumn
	insert  *sql.Stmt // nil before the first table
}

// preparer prepares the statement that adds a row to a table.
type preparer struct {
	prepare func(ctx context.Context, table string, columns []string) (*sql.Stmt, error)
	copies  bool // whether the statement without parameters ends a table
}

func newLoader(ctx context.Context, tables []storedTable, with preparer) *loader {
	return &loader{preparer: with, ctx: ctx, tables: tables}
}

func prepareInsert(t *sql.Tx) preparer {
	return preparer{prepare: func(ctx context.Context, table string, columns []string) (*sql.Stmt, error) {
		return t.PrepareContext(ctx, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(columns, ", "), placeholders(len(columns))))
	}}
}

func prepareCopy(t *sql.Tx) preparer {
	return preparer{copies: true, prepare: func(ctx context.Context, table string, columns []string) (*sql.Stmt, error) {
		return t.PrepareContext(ctx, fmt.Sprintf("COPY %s (%s) FROM STDIN", table, strings.Join(columns, ", ")))
	}}
}

// load loads all rows. Every table must be among them.
func (l *loader) load(read func(RowSink) error) error {
	if err := read(l); err != nil {
		return err
	}
	if err := l.endTable(); err != nil {
		return err
	}
	for _, t := range l.tables {
		if !slices.Contains(l.loaded, t.name) {
			return fmt.Errorf("store: there are no rows of the table %s: expected those of all tables of the schema version", t.name)
		}
	}
	return nil
}

// Table implements RowSink.
func (l *loader) Table(name string, columns []string) error {
	if err := l.endTable(); err != nil {
		return err
	}
	i := slices.IndexFunc(l.tables, func(t storedTable) bool { return t.name == name })
	switch {
	case i < 0:
		return fmt.Errorf("store: the schema version has no table %.100q", name)
	case slices.Contains(l.loaded, name):
		return fmt.Errorf("store: there are two tables %.100q", name)
	case !slices.Equal(columns, l.tables[i].columnNames()):
		return fmt.Errorf("store: the columns of the table %s are %.1000q, expected %q", name, columns, l.tables[i].columnNames())
	}
	l.loaded, l.current = append(l.loaded, name), l.tables[i].columns
	var err error
	l.insert, err = l.prepare(l.ctx, name, columns)
	return err
}

// Row implements RowSink.
func (l *loader) Row(values []any) error {
	if l.insert == nil || len(values) != len(l.current) {
		return fmt.Errorf("store: a row has %d values, expected %d", len(values), len(l.current))
	}
	for i, c := range l.current {
		values[i] = c.native(values[i])
	}
	return l.exec(values...)
}

func (l *loader) exec(values ...any) error {
	if _, err := l.insert.ExecContext(l.ctx, values...); err != nil {
		return fmt.Errorf("store: loading the table %s: %w", l.loaded[len(l.loaded)-1], err)
	}
	return nil
}

func (l *loader) endTable() (err error) {
	if l.insert == nil {
		return nil
	}
	if l.copies {
		err = l.exec()
	}
	err = errors.Join(err, l.insert.Close())
	l.insert = nil
	return err
}
