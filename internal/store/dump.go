package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// RowSink receives the content of a store, table after table.
type RowSink interface {
	// Table begins a table with these columns.
	Table(name string, columns []string) error
	// Row adds a row: for each column nil, an int64, a string or bytes. Row must not keep values.
	Row(values []any) error
}

// SchemaVersion is the version of the schema of an open store.
func SchemaVersion() int64 { return lastMigration() }

// Dump passes all rows of the store, as they are at one moment, to a sink. Both databases have the same
// tables and columns. Rows about running servers and migrations are omitted. It blocks no writes.
func (s *Store) Dump(ctx context.Context, to RowSink) error {
	return s.Snapshot(ctx, func(r Reader) error { return dump(ctx, r, catalogOf(s.db.DriverName()), to) })
}

func dump(ctx context.Context, r Reader, c catalog, to RowSink) error {
	tables, err := c.readTables(ctx, r)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := t.dump(ctx, r, to); err != nil {
			return err
		}
	}
	return nil
}

// catalog are the queries about the tables of a database.
type catalog struct{ tables, columns string }

func catalogOf(driver string) catalog {
	if driver == "postgres" {
		return catalog{
			"SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1",
			`SELECT CAST(column_name AS TEXT), upper(data_type) FROM information_schema.columns
				WHERE table_schema = current_schema() AND table_name = ? AND is_generated = 'NEVER' ORDER BY 1`,
		}
	}
	return catalog{
		"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name",
		"SELECT name, type FROM pragma_table_info(?) ORDER BY name",
	}
}

// storedTable is a table as the database describes it, with its columns in the order of their names.
type storedTable struct {
	name    string
	columns []storedColumn
}

// storedColumn is a column. typ is the type in capitals, as the database names it.
type storedColumn struct{ name, typ string }

// isOperational reports whether a table describes running servers or the schema, and not the
// content of the store.
func isOperational(table string) bool {
	return slices.Contains([]string{"goose_db_version", "store_state", "instances", "instance_keys"}, table)
}

// readTables returns the tables with content, in the order of their names.
func (c catalog) readTables(ctx context.Context, r Reader) (tables []storedTable, err error) {
	names, err := readAll(ctx, r, scanValue[string], c.tables)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if isOperational(name) {
			continue
		}
		columns, err := readAll(ctx, r, func(row scanner, c *storedColumn) error { return row.Scan(&c.name, &c.typ) }, c.columns, name)
		if err != nil {
			return nil, err
		}
		tables = append(tables, storedTable{name, columns})
	}
	return tables, nil
}

func (t storedTable) columnNames() (names []string) {
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	return names
}

func (t storedTable) dump(ctx context.Context, r Reader, to RowSink) error {
	names := t.columnNames()
	if err := to.Table(t.name, names); err != nil {
		return err
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	var refused error // by the sink: it is no fault of the database, even if its disk is full
	err := rows(ctx, r, func(row scanner) error {
		if err := row.Scan(into...); err != nil {
			return err
		}
		for i, c := range t.columns {
			var err error
			if values[i], err = c.portable(values[i]); err != nil {
				return fmt.Errorf("store: %s.%s: %w", t.name, c.name, err)
			}
		}
		refused = to.Row(values)
		return refused
	}, "SELECT "+strings.Join(names, ", ")+" FROM "+t.name)
	return cmp.Or(refused, err)
}

// portable returns a value of a driver as both databases can represent it.
func (c storedColumn) portable(v any) (any, error) {
	switch v := v.(type) {
	case nil, int64, string:
		return v, nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case []byte:
		if c.isBytes() {
			return nonNilBytes(v), nil
		}
		return string(v), nil
	}
	return nil, fmt.Errorf("the value is a %T, expected an integer, a text or bytes", v)
}

func (c storedColumn) isBytes() bool { return c.typ == "BLOB" || c.typ == "BYTEA" }

// native is the inverse of portable.
func (c storedColumn) native(v any) any {
	if n, ok := v.(int64); ok && c.typ == "BOOLEAN" {
		return n != 0
	}
	return v
}
