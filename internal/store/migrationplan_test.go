package store

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestMigrationsAreInOrder reads the migrations. Each declares its compatibility.
func TestMigrationsAreInOrder(t *testing.T) {
	all, err := listMigrations()
	if err != nil {
		t.Fatal(err)
	}
	if all[0].Version != baseline {
		t.Errorf("the first migration is %d", all[0].Version)
	}
	last := int64(0)
	for _, m := range all {
		if m.Version <= last || m.Name == "" {
			t.Errorf("%05d %q follows %05d", m.Version, m.Name, last)
		}
		last = m.Version
		if m.Compatible == (m.Incompatible != "") {
			t.Errorf("%05d: compatible: %v, reason %q", m.Version, m.Compatible, m.Incompatible)
		}
	}
	if last != lastMigration() || lastIncompatible() > last || lastIncompatible() < baseline {
		t.Errorf("the last migration is %d, the last incompatible one %d", last, lastIncompatible())
	}
}

var (
	// removals are the forms of statements with which programs of the previous schema may fail.
	removals = regexp.MustCompile(`(?i)^(DROP (TABLE|VIEW)|ALTER TABLE \w+ (DROP COLUMN|RENAME|ALTER COLUMN \w+ (SET NOT NULL|(SET DATA )?TYPE|DROP DEFAULT)))`)
	required = regexp.MustCompile(`(?i)^ALTER TABLE \w+ ADD COLUMN .* NOT NULL`)
)

// restricts reports whether programs of the previous schema may fail after a statement.
func restricts(statement string) bool {
	return removals.MatchString(statement) || required.MatchString(statement) && !strings.Contains(statement, " DEFAULT ")
}

// migrationText is a file of a migration.
type migrationText struct{ name, text string }

// texts returns the migrations in a dialect.
func texts(t *testing.T, d dialect) (all []migrationText) {
	t.Helper()
	files, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := fs.ReadFile(migrations, "migrations/"+f.Name())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, migrationText{f.Name(), d.translate(string(text))})
	}
	return all
}

// TestCompatibleMigrationsOnlyAdd reads the migrations for PostgreSQL. SQLite, with one server, must
// replace a table to change it.
func TestCompatibleMigrationsOnlyAdd(t *testing.T) {
	for _, m := range texts(t, dialectPostgres) {
		found := declaration.FindStringSubmatch(m.text)
		if found == nil || found[1] != "yes" {
			continue
		}
		for _, statement := range statements(m.text) {
			if restricts(statement) {
				t.Errorf("%s declares that it is compatible, but programs of the previous schema may fail after %q", m.name, statement)
			}
		}
	}
}

func TestRestricts(t *testing.T) {
	for statement, want := range map[string]bool{
		"DROP TABLE x":                                        true,
		"ALTER TABLE x DROP COLUMN y":                         true,
		"ALTER TABLE x RENAME COLUMN y TO z":                  true,
		"ALTER TABLE x RENAME TO z":                           true,
		"ALTER TABLE x ALTER COLUMN y SET NOT NULL":           true,
		"ALTER TABLE x ADD COLUMN y TEXT NOT NULL":            true,
		"ALTER TABLE x ADD COLUMN y TEXT NOT NULL DEFAULT ''": false,
		"ALTER TABLE x ADD COLUMN y TEXT":                     false,
		"CREATE TABLE x (y TEXT NOT NULL)":                    false,
		"CREATE INDEX x ON y (z)":                             false,
	} {
		if restricts(statement) != want {
			t.Errorf("%q: expected %v", statement, want)
		}
	}
}

func TestDescribeMigration(t *testing.T) {
	for _, test := range []struct {
		file, text string
		want       string
	}{
		{"00048_more.sql", "-- +goose Up\n-- compatible: yes\nCREATE TABLE x (id TEXT);\nCREATE INDEX y ON x (id);\n", "48 more true  <nil>"},
		{"00048_more.sql", "-- +goose Up\n-- compatible: no, servers write x themselves\nDROP TABLE x;\n", "48 more false servers write x themselves <nil>"},
		{"00048_more.sql", "-- +goose Up\nDROP TABLE x;\n", "does not declare its compatibility"},
		{"00048_more.sql", "-- +goose Up\n-- compatible: no\n", "does not declare its compatibility"},
	} {
		m, err := describeMigration(test.file, test.text)
		if got := fmt.Sprintln(m.Version, m.Name, m.Compatible, m.Incompatible, err); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, expected %s", test.text, got, test.want)
		}
	}
}

func TestLocks(t *testing.T) {
	for statement, want := range map[string]string{
		"CREATE UNIQUE INDEX a ON x (y) WHERE z IS NULL":                 "x: blocks writes while it builds an index",
		"CREATE INDEX CONCURRENTLY a ON x (y)":                           "",
		"ALTER TABLE x ADD COLUMN y TEXT GENERATED ALWAYS AS (z) STORED": "x: blocks reads and writes while it rewrites the table",
		"ALTER TABLE x ADD FOREIGN KEY (y) REFERENCES z (id)":            "x: blocks writes while it checks all rows",
		"ALTER TABLE x ADD FOREIGN KEY (y) REFERENCES z (id) NOT VALID":  "x: blocks writes for a moment",
		"ALTER TABLE x VALIDATE CONSTRAINT y":                            "",
		"ALTER TABLE x ALTER COLUMN y SET NOT NULL":                      "x: blocks reads and writes while it checks all rows",
		"ALTER TABLE x DROP COLUMN y":                                    "x: blocks reads and writes for a moment",
		"UPDATE x SET y = 1":                                             "x: locks the rows that it changes until the migration ends",
		"CREATE TABLE x (y TEXT)":                                        "",
		"INSERT INTO x (y) SELECT z FROM w":                              "",
	} {
		got := ""
		if lines := describeLocks(statement + ";\n"); len(lines) > 0 {
			got = lines[0]
		}
		if got != want {
			t.Errorf("%q: %q, expected %q", statement, got, want)
		}
	}
	function := "-- +goose StatementBegin\nCREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE x SET y = 1; RETURN NULL; END $$;\n-- +goose StatementEnd\nDROP TABLE z;\n"
	if lines := describeLocks(function); !slices.Equal(lines, []string{"z: removes the table"}) {
		t.Errorf("a function: %q", lines)
	}
}
