package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/pressly/goose/v3"
)

// Migration describes a migration of the schema.
type Migration struct {
	Version int64
	Name    string
	// Compatible reports whether programs of the previous schema work during and after the
	// migration. Incompatible is the reason if they do not.
	Compatible   bool
	Incompatible string
	// Locks describes what a pending migration blocks in PostgreSQL, a line for each statement that
	// blocks anything.
	Locks []string

	text string // of the file
}

// declaration matches the comment that declares the compatibility of a migration. If programs of the
// previous schema do not work with it, the comment contains the reason.
var declaration = regexp.MustCompile(`(?m)^-- compatible: (yes|no, (\S.*))$`)

// PlanMigrations returns the versions of a store and the migrations that Open would apply. It
// changes nothing. A store without a schema has version 0.
func PlanMigrations(ctx context.Context, c Config) (v Versions, pending []Migration, err error) {
	db, err := openReadOnly(ctx, c)
	if err != nil {
		return v, nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if v, err = readVersions(ctx, db.DB); err != nil { // a store of a version without store_state, or none
		v.Applied, err = schemaVersion(ctx, db.DB)
	}
	if err != nil {
		v.Applied = 0
	}
	if err := v.checkMigratable(); err != nil {
		return v, nil, err
	}
	all, err := listMigrations()
	for _, m := range all {
		if m.Version > v.Applied {
			m.Locks = describeLocks(dialectPostgres.translate(m.text))
			pending = append(pending, m)
		}
	}
	return v, pending, err
}

// listMigrations returns the migrations in their order, without their locks.
func listMigrations() (all []Migration, err error) {
	files, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := fs.ReadFile(migrations, "migrations/"+f.Name())
		if err != nil {
			return nil, err
		}
		m, err := describeMigration(f.Name(), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// mustListMigrations is listMigrations for callers after the tests, which read the files of the program.
func mustListMigrations() []Migration {
	all, err := listMigrations()
	if err != nil {
		panic(err)
	}
	return all
}

// describeMigration reads the name and the text of a migration's file.
func describeMigration(file, text string) (Migration, error) {
	version, err := goose.NumericComponent(file)
	if err != nil {
		return Migration{}, err
	}
	_, name, _ := strings.Cut(strings.TrimSuffix(file, ".sql"), "_")
	found := declaration.FindStringSubmatch(text)
	if found == nil {
		return Migration{}, fmt.Errorf("store: the migration %s does not declare its compatibility: "+
			`expected a line "-- compatible: yes" or "-- compatible: no, REASON"`, file)
	}
	return Migration{Version: version, Name: name, Compatible: found[1] == "yes", Incompatible: found[2], text: text}, nil
}

// lastIncompatible returns the version of the last incompatible migration.
func lastIncompatible() (last int64) {
	for _, m := range mustListMigrations() {
		if !m.Compatible {
			last = m.Version
		}
	}
	return last
}

// locking is a form of statements with the lock that PostgreSQL takes for it. The first group is
// the table.
type locking struct {
	statement *regexp.Regexp
	blocks    string // "" for nothing
}

// lockings lists the forms of statements in migrations. The first one that matches applies.
var lockings = []locking{
	{regexp.MustCompile(`(?i)^CREATE (?:UNIQUE )?INDEX CONCURRENTLY .* ON (\w+)`), ""},
	{regexp.MustCompile(`(?i)^CREATE (?:UNIQUE )?INDEX .* ON (\w+)`), "blocks writes while it builds an index"},
	{regexp.MustCompile(`(?i)^ALTER TABLE (\w+) VALIDATE `), ""},
	{regexp.MustCompile(`(?i)^ALTER TABLE (\w+) ADD COLUMN .* STORED`), "blocks reads and writes while it rewrites the table"},
	{regexp.MustCompile(`(?i)^ALTER TABLE (\w+) ADD COLUMN `), "blocks reads and writes for a moment"},
	{regexp.MustCompile(`(?i)^ALTER TABLE (\w+) ADD .* NOT VALID`), "blocks writes for a moment"},
	{regexp.MustCompile(`(?i)^ALTER TABLE (\w+) ADD `), "blocks writes while it checks all rows"},
	{regexp.MustCompile(`(?i)^ALTER TABLE (\w+) ALTER COLUMN \w+ SET NOT NULL`), "blocks reads and writes while it checks all rows"},
	{regexp.MustCompile(`(?i)^ALTER TABLE (\w+) ALTER COLUMN \w+ (?:SET DATA )?TYPE `), "blocks reads and writes while it rewrites the table"},
	{regexp.MustCompile(`(?i)^ALTER TABLE (\w+) `), "blocks reads and writes for a moment"},
	{regexp.MustCompile(`(?i)^(?:CREATE|DROP) TRIGGER .* ON (\w+)`), "blocks writes for a moment"},
	{regexp.MustCompile(`(?i)^(?:UPDATE|DELETE FROM) (\w+)`), "locks the rows that it changes until the migration ends"},
	{regexp.MustCompile(`(?i)^DROP TABLE (?:IF EXISTS )?(\w+)`), "removes the table"},
}

var (
	comment      = regexp.MustCompile(`(?m)--.*$`)
	spaces       = regexp.MustCompile(`\s+`)
	createdTable = regexp.MustCompile(`(?i)^CREATE TABLE (?:IF NOT EXISTS )?(\w+)`)
)

// describeLocks describes what the statements of a migration block in PostgreSQL. Tables that it
// creates are not in use.
func describeLocks(text string) (lines []string) {
	created := map[string]bool{}
	known := map[string]bool{}
	for _, statement := range statements(text) {
		if found := createdTable.FindStringSubmatch(statement); found != nil {
			created[found[1]] = true
		}
		table, blocks := lockOf(statement)
		line := cmp.Or(table, "?") + ": " + blocks
		if blocks != "" && !created[table] && !known[line] {
			known[line] = true
			lines = append(lines, line)
		}
	}
	return lines
}

// lockOf returns the table that a statement locks, and how.
func lockOf(statement string) (table, blocks string) {
	for _, l := range lockings {
		if found := l.statement.FindStringSubmatch(statement); found != nil {
			return found[1], l.blocks
		}
	}
	return "", ""
}

// statements splits the text of a migration into its statements, each in one line, without comments.
func statements(text string) (all []string) {
	blocks := strings.Split(text, "-- +goose StatementBegin")
	for i, block := range blocks {
		if i > 0 { // a function, whose body has semicolons
			body, rest, _ := strings.Cut(block, "-- +goose StatementEnd")
			all = append(all, oneLine(body))
			block = rest
		}
		for part := range strings.SplitSeq(comment.ReplaceAllString(block, ""), ";") {
			if line := oneLine(part); line != "" {
				all = append(all, line)
			}
		}
	}
	return all
}

func oneLine(statement string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(comment.ReplaceAllString(statement, ""), " "))
}
