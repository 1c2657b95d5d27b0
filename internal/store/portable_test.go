package store

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// unportable lists what no statement may use, because it is state of a session, which a connection
// pooler does not keep, or because CockroachDB or YugabyteDB lacks it. docs/postgresql.md describes it.
var unportable = map[string]*regexp.Regexp{
	"advisory lock":            regexp.MustCompile(`(?i)\bpg_(try_)?advisory_\w+`),
	"LISTEN or NOTIFY":         regexp.MustCompile(`\b(LISTEN|UNLISTEN|NOTIFY)\b|pg_notify`),
	"LOCK TABLE":               regexp.MustCompile(`\bLOCK\s+(TABLE|\w+\s+IN)\b`),
	"parameter of the session": regexp.MustCompile(`(?:^|;\s*)(SET|RESET)\s+\w+|\bset_config\b`),
	"temporary table":          regexp.MustCompile(`\bTEMP(ORARY)?\b`),
	"cursor":                   regexp.MustCompile(`\bDECLARE\b[^;]*\bCURSOR\b|\bFETCH\s+(NEXT|FORWARD|ALL)\b`),
	"named prepared statement": regexp.MustCompile(`(?:^|;)\s*(PREPARE|DEALLOCATE|DISCARD)\b`),
	"state of a sequence":      regexp.MustCompile(`(?i)\b(currval|lastval)\s*\(`),
	"DEFERRABLE":               regexp.MustCompile(`\bDEFERRABLE\b|\bSET\s+CONSTRAINTS\b`),
	"exclusion constraint":     regexp.MustCompile(`\bEXCLUDE\s+USING\b`),
	"data-modifying WITH":      regexp.MustCompile(`\bAS\s*(MATERIALIZED\s*)?\(\s*(INSERT\s+INTO|UPDATE|DELETE\s+FROM)\b`),
	"statement trigger":        regexp.MustCompile(`\bFOR\s+EACH\s+STATEMENT\b`),
	"transition table":         regexp.MustCompile(`\bREFERENCING\s+(OLD|NEW)\b`),
	"DISABLE TRIGGER":          regexp.MustCompile(`\bDISABLE\s+TRIGGER\b`),
	"stored generated column":  regexp.MustCompile(`\bGENERATED\s+ALWAYS\s+AS\s*\(`),
	"table inheritance":        regexp.MustCompile(`\bINHERITS\b`),
	"system column":            regexp.MustCompile(`\b(ctid|xmin|xmax|tableoid)\b`),
	"MERGE":                    regexp.MustCompile(`\bMERGE\s+INTO\b`),
}

// unported lists what earlier migrations use, and what restoring a backup uses in one transaction.
// Nothing may be added.
var unported = map[string][]string{
	"00002_resources.sql":         {"statement trigger", "stored generated column"},
	"00012_retention.sql":         {"statement trigger", "transition table"},
	"00015_execution_digests.sql": {"DISABLE TRIGGER"},
	"00038_event_chain.sql":       {"statement trigger", "transition table"},
	"00039_recovery_flow.sql":     {"stored generated column"},
	"00042_invitations.sql":       {"stored generated column"},
	"00045_address_flow.sql":      {"stored generated column"},
	"load.go":                     {"parameter of the session", "DISABLE TRIGGER"}, // SET LOCAL ends with the transaction
}

// TestStatementsArePortable reads the migrations for PostgreSQL and all string literals of the package.
func TestStatementsArePortable(t *testing.T) {
	read := map[string]int{}
	check := func(file, text string) {
		read[file]++
		for _, name := range slices.Sorted(maps.Keys(unportable)) {
			found := unportable[name].FindString(text)
			if found != "" && !slices.Contains(unported[file], name) {
				t.Errorf("%s uses a %s, which docs/postgresql.md excludes: %q", file, name, strings.TrimSpace(found))
			}
		}
	}
	files, err := fs.ReadDir(migrations, "migrations/postgres")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := fs.ReadFile(migrations, "migrations/postgres/"+f.Name())
		if err != nil {
			t.Fatal(err)
		}
		statements := comment.ReplaceAllString(string(text), "")
		check(f.Name(), statements)
		for _, name := range unported[f.Name()] {
			if !unportable[name].MatchString(statements) {
				t.Errorf("%s uses no %s any more: remove it from the exceptions", f.Name(), name)
			}
		}
	}
	eachLiteral(t, check)
	if len(files) < 38 || read["users.go"] < 10 || read["postgres.go"] < 3 {
		t.Errorf("%d migrations, %d literals of users.go and %d of postgres.go were read", len(files), read["users.go"], read["postgres.go"])
	}
}

// eachLiteral calls visit with the string literals of the files of this package, except of those for
// SQLite.
func eachLiteral(t *testing.T, visit func(file, text string)) {
	t.Helper()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := f.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				visit(name, text)
			}
			return true
		})
	}
}

// TestUnportable has a statement of each excluded kind.
func TestUnportable(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT pg_advisory_xact_lock(1)": "advisory lock",
		"LISTEN changes":                  "LISTEN or NOTIFY",
		"LOCK TABLE users":                "LOCK TABLE",
		"SET search_path = x":             "parameter of the session",
		"CREATE TEMP TABLE x (id TEXT)":   "temporary table",
		"DECLARE c CURSOR FOR SELECT 1":   "cursor",
		"PREPARE s AS SELECT 1":           "named prepared statement",
		"SELECT lastval()":                "state of a sequence",
		"ALTER TABLE x ADD FOREIGN KEY (y) REFERENCES z (id) DEFERRABLE":                "DEFERRABLE",
		"CREATE TABLE x (y TEXT, EXCLUDE USING gist (y WITH =))":                        "exclusion constraint",
		"WITH gone AS (DELETE FROM x RETURNING id) SELECT id FROM gone":                 "data-modifying WITH",
		"CREATE TRIGGER x AFTER INSERT ON y FOR EACH STATEMENT EXECUTE FUNCTION z()":    "statement trigger",
		"CREATE TRIGGER x AFTER INSERT ON y REFERENCING NEW TABLE AS n FOR EACH ROW":    "transition table",
		"ALTER TABLE x DISABLE TRIGGER y":                                               "DISABLE TRIGGER",
		"ALTER TABLE x ADD COLUMN y TEXT GENERATED ALWAYS AS (NULLIF(z, '')) STORED":    "stored generated column",
		"CREATE TABLE x () INHERITS (y)":                                                "table inheritance",
		"SELECT ctid FROM x":                                                            "system column",
		"MERGE INTO x USING y ON TRUE WHEN MATCHED THEN DELETE":                         "MERGE",
		"UPDATE users SET updated_at = updated_at WHERE id = ? RETURNING id":            "",
		"WITH RECURSIVE a (id) AS (SELECT id FROM x WHERE id = ?) SELECT id FROM a":     "",
		"INSERT INTO x (id) VALUES (?) ON CONFLICT (id) DO UPDATE SET id = excluded.id": "",
	} {
		found := ""
		for name, form := range unportable {
			if form.MatchString(text) {
				found = name
			}
		}
		if found != want {
			t.Errorf("%q uses %q, expected %q", text, found, want)
		}
	}
}
