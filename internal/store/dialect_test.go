package store

import (
	"io/fs"
	"testing"
)

func TestTranslate(t *testing.T) {
	const text = `CREATE TABLE x (
    id   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    body JSON NOT NULL, -- JSON
    n    BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (id)
);
CREATE TABLE y (
    hash BYTEA
); -- rowid
-- only sqlite
SELECT 1;
-- only postgres, yugabytedb
SELECT 2;
-- all
ALTER TABLE x ADD COLUMN b BOOLEAN NOT NULL DEFAULT FALSE;
`
	for d, want := range map[dialect]string{
		dialectSQLite: `CREATE TABLE x (
    id   TEXT NOT NULL PRIMARY KEY,
    body TEXT NOT NULL, -- JSON
    n    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;
CREATE TABLE y (
    hash BLOB
) STRICT;
SELECT 1;
ALTER TABLE x ADD COLUMN b INTEGER NOT NULL DEFAULT FALSE;
`,
		dialectPostgres: `CREATE TABLE x (
    id   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    body JSON NOT NULL, -- JSON
    n    BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (id)
);
CREATE TABLE y (
    hash BYTEA
);
SELECT 2;
ALTER TABLE x ADD COLUMN b BOOLEAN NOT NULL DEFAULT FALSE;
`,
		dialectCockroach: `CREATE TABLE x (
    id   TEXT NOT NULL PRIMARY KEY,
    body TEXT NOT NULL, -- JSON
    n    BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (id)
);
CREATE TABLE y (
    hash BYTEA
);
ALTER TABLE x ADD COLUMN b BOOLEAN NOT NULL DEFAULT FALSE;
`,
	} {
		if got := d.translate(text); got != want {
			t.Errorf("%s: got\n%s\nexpected\n%s", d, got, want)
		}
	}
}

// TestMigrationFiles reads a migration as goose does.
func TestMigrationFiles(t *testing.T) {
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := fs.ReadFile(folder, "00047_baseline.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []dialect{dialectSQLite, dialectPostgres, dialectCockroach, dialectYugabyte} {
		text, err := fs.ReadFile(migrationFiles{folder, d}, "00047_baseline.sql")
		if err != nil || string(text) != d.translate(string(raw)) {
			t.Errorf("%s: %v, %d bytes", d, err, len(text))
		}
	}
}

func TestDialectOfVersion(t *testing.T) {
	for version, want := range map[string]dialect{
		"PostgreSQL 15.8 on x86_64-pc-linux-gnu, compiled by gcc":                    dialectPostgres,
		"CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu, built 2025/06/04, go1.23.7)":  dialectCockroach,
		"PostgreSQL 15.2-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang": dialectYugabyte,
	} {
		if got := dialectOfVersion(version); got != want {
			t.Errorf("%s: %s, expected %s", version, got, want)
		}
	}
}
