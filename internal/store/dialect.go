package store

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
)

// dialect is the SQL of a database. Migrations are written once, in the dialect of PostgreSQL. The lines
// between "-- only NAME, NAME" and the next such line, or "-- all", are for these dialects only.
type dialect string

const (
	dialectSQLite    dialect = "sqlite"
	dialectPostgres  dialect = "postgres"
	dialectCockroach dialect = "cockroachdb"
	dialectYugabyte  dialect = "yugabytedb"
)

// dialectOf returns the dialect of a database. CockroachDB and YugabyteDB have the protocol of
// PostgreSQL and are recognized by their version.
func dialectOf(ctx context.Context, db *sqlx.DB) (dialect, error) {
	if db.DriverName() == "sqlite" {
		return dialectSQLite, nil
	}
	var version string
	if err := db.GetContext(ctx, &version, "SELECT version()"); err != nil {
		return "", fmt.Errorf("store: reading the version of the database: %w", err)
	}
	return dialectOfVersion(version), nil
}

func dialectOfVersion(version string) dialect {
	switch {
	case strings.HasPrefix(version, "CockroachDB"):
		return dialectCockroach
	case strings.Contains(version, "-YB-"):
		return dialectYugabyte
	}
	return dialectPostgres
}

var (
	// columnType is the type of a column in a line of a migration.
	columnType = regexp.MustCompile(`^(\s+|ALTER TABLE \w+ ADD COLUMN )(\w+ +)(\w+)( COLLATE "C")?`)

	// tableEnd ends CREATE TABLE. SQLite stores the rows of a table in the order of its primary key, except
	// of tables with large rows or without a primary key.
	tableEnd = regexp.MustCompile(`^\);( -- rowid)?\n`)
)

// collates reports whether columns have a collation. Without one, SQLite and CockroachDB compare bytes,
// and CockroachDB has no columns with the collation "C".
func (d dialect) collates() bool { return d == dialectPostgres || d == dialectYugabyte }

// columnType returns the name that the dialect has for a type of the migrations. JSON in CockroachDB is
// JSONB, which changes the text.
func (d dialect) columnType(name string) string {
	switch {
	case d == dialectSQLite && (name == "BIGINT" || name == "BOOLEAN"):
		return "INTEGER"
	case d == dialectSQLite && name == "BYTEA":
		return "BLOB"
	case (d == dialectSQLite || d == dialectCockroach) && name == "JSON":
		return "TEXT"
	}
	return name
}

// translate returns a migration in the dialect.
func (d dialect) translate(text string) string {
	var to strings.Builder
	include := true
	for line := range strings.Lines(text) {
		if names, found := strings.CutPrefix(line, "-- only "); found {
			include = slices.Contains(strings.Split(strings.TrimSpace(names), ", "), string(d))
		} else if line == "-- all\n" {
			include = true
		} else if include {
			to.WriteString(d.translateLine(line))
		}
	}
	return to.String()
}

func (d dialect) translateLine(line string) string {
	if end := tableEnd.FindStringSubmatch(line); end != nil {
		switch {
		case d != dialectSQLite:
			return ");\n"
		case end[1] != "":
			return ") STRICT;\n"
		}
		return ") STRICT, WITHOUT ROWID;\n"
	}
	column := columnType.FindStringSubmatch(line)
	if column == nil {
		return line
	}
	rest, collation := line[len(column[0]):], column[4]
	if !d.collates() {
		collation = ""
	}
	return column[1] + column[2] + d.columnType(column[3]) + collation + rest
}

// migrationFiles are the migrations in a dialect.
type migrationFiles struct {
	fs.FS
	dialect dialect
}

// Open implements fs.FS.
func (m migrationFiles) Open(name string) (fs.File, error) {
	file, err := m.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || info.IsDir() {
		return file, err
	}
	text, err := io.ReadAll(file)
	return migrationFile{file, strings.NewReader(m.dialect.translate(string(text)))}, err
}

// migrationFile is a file with another text.
type migrationFile struct {
	fs.File
	text *strings.Reader
}

// Read implements fs.File.
func (f migrationFile) Read(p []byte) (int, error) { return f.text.Read(p) }
