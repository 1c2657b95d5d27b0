package store

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// construct is a construct of SQL that a supported database, or one that docs/postgresql.md describes,
// lacks or treats differently.
type construct struct {
	form   *regexp.Regexp
	reason string
}

const (
	pooler = "a connection pooler does not keep the state of a session"
	// The numbers are issues of github.com/cockroachdb/cockroach and github.com/yugabyte/yugabyte-db.
	cockroachTriggers = "CockroachDB, known limitations of triggers: "
	cockroachFunction = "CockroachDB, known limitations of PL/pgSQL: "
	cockroachLacks    = "CockroachDB lacks it: "
	yugabyteLacks     = "YugabyteDB, PostgreSQL compatibility: "
)

// unportable lists the constructs that no statement may use.
var unportable = map[string]construct{
	"advisory lock":                   {regexp.MustCompile(`(?i)\bpg_(try_)?advisory_\w+`), "in CockroachDB the functions have no effect; " + pooler},
	"LISTEN or NOTIFY":                {regexp.MustCompile(`\b(LISTEN|UNLISTEN|NOTIFY)\b|pg_notify`), cockroachLacks + "#41522; " + pooler},
	"LOCK TABLE":                      {regexp.MustCompile(`\bLOCK\s+(TABLE|\w+\s+IN)\b`), yugabyteLacks + "#5384; CockroachDB has no LOCK"},
	"parameter of the session":        {regexp.MustCompile(`(?:^|;\s*)(SET|RESET)\s+\w+|\bset_config\b`), pooler},
	"temporary table":                 {regexp.MustCompile(`\bTEMP(ORARY)?\b`), pooler},
	"cursor":                          {regexp.MustCompile(`\bDECLARE\b[^;]*\bCURSOR\b|\bFETCH\s+(NEXT|FORWARD|ALL)\b`), pooler},
	"named prepared statement":        {regexp.MustCompile(`(?:^|;)\s*(PREPARE|DEALLOCATE|DISCARD)\b`), pooler},
	"state of a sequence":             {regexp.MustCompile(`(?i)\b(currval|lastval)\s*\(`), pooler},
	"DEFERRABLE":                      {regexp.MustCompile(`\bDEFERRABLE\b|\bSET\s+CONSTRAINTS\b`), yugabyteLacks + "#1709; CockroachDB has none"},
	"exclusion constraint":            {regexp.MustCompile(`\bEXCLUDE\s+USING\b`), yugabyteLacks + "#3944; CockroachDB has none"},
	"table inheritance":               {regexp.MustCompile(`\bINHERITS\b`), cockroachLacks + "#22456; " + yugabyteLacks + "#5956"},
	"MERGE":                           {regexp.MustCompile(`\bMERGE\s+INTO\b`), "CockroachDB has no MERGE"},
	"DO block":                        {regexp.MustCompile(`(?:^|;)\s*DO\s+(LANGUAGE\s|\$)`), "CockroachDB has had them since v24.1 only"},
	"data-modifying WITH":             {regexp.MustCompile(`\bAS\s*(MATERIALIZED\s*)?\(\s*(INSERT\s+INTO|UPDATE|DELETE\s+FROM)\b`), cockroachLacks + "several changes of one table (#70731); batch.go writes them"},
	"statement trigger":               {regexp.MustCompile(`\bFOR\s+EACH\s+STATEMENT\b|\bTRIGGER\b[^;]*\bTRUNCATE\b`), cockroachTriggers + "#126362, #135657"},
	"INSTEAD OF trigger":              {regexp.MustCompile(`\bINSTEAD\s+OF\b`), cockroachTriggers + "#126363"},
	"transition table":                {regexp.MustCompile(`\bREFERENCING\s+(OLD|NEW)\b`), cockroachTriggers + "#135655"},
	"trigger on columns":              {regexp.MustCompile(`\bUPDATE\s+OF\s+\w+(,\s*\w+)*\s+ON\b`), cockroachTriggers + "#135656"},
	"CREATE OR REPLACE TRIGGER":       {regexp.MustCompile(`\bCREATE\s+OR\s+REPLACE\s+TRIGGER\b`), cockroachTriggers + "#128422"},
	"DISABLE TRIGGER":                 {regexp.MustCompile(`\b(DIS|EN)ABLE\s+TRIGGER\b`), "CockroachDB has no ALTER TABLE ... DISABLE TRIGGER"},
	"member of OLD or NEW":            {regexp.MustCompile(`\b(OLD|NEW)\.`), cockroachFunction + "#114687; write (OLD).x"},
	"PERFORM":                         {regexp.MustCompile(`\bPERFORM\s`), cockroachFunction + "#117744"},
	"EXECUTE":                         {regexp.MustCompile(`\bEXECUTE\s+(format\b|'|\w+\s*;)`), cockroachFunction + "#117744"},
	"FOUND or GET DIAGNOSTICS":        {regexp.MustCompile(`\bFOUND\b|\bGET\s+DIAGNOSTICS\b`), cockroachFunction + "#122306, #117744"},
	"loop over a query":               {regexp.MustCompile(`\bFOR\s+\w+\s+IN\s+(SELECT|EXECUTE)\b|\bFOREACH\b`), cockroachFunction + "#105246"},
	"%TYPE or %ROWTYPE":               {regexp.MustCompile(`(?i)%(ROW)?TYPE\b`), cockroachFunction + "#114676"},
	"virtual generated column":        {regexp.MustCompile(`\bGENERATED\s+ALWAYS\s+AS\s*\([^;]*\)\s+VIRTUAL\b`), "PostgreSQL before 18 has only STORED"},
	"storage parameter":               {regexp.MustCompile(`\b(SET|WITH)\s*\(\s*(fillfactor|autovacuum_)`), cockroachLacks + "#43299; YugabyteDB ignores them (#7766)"},
	"column with a collation":         {regexp.MustCompile(`\bCOLLATE\s+"C"`), "CockroachDB has no columns with the collation C (#96828); the migrations omit it there"},
	"JSON":                            {regexp.MustCompile(`\w\s+JSON\b`), "JSON is JSONB in CockroachDB, which changes the text; the migrations use TEXT there"},
	"change of the type of a column":  {regexp.MustCompile(`\bALTER\s+COLUMN\s+\w+\s+(SET\s+DATA\s+)?TYPE\b`), "CockroachDB: ALTER COLUMN TYPE is not supported inside a transaction"},
	"system column":                   {regexp.MustCompile(`\b(ctid|xmin|xmax|tableoid)\b`), "they describe how PostgreSQL stores rows"},
	"statistics or number of a write": {regexp.MustCompile(`\bpg_stat_\w+|\btxid_\w+|\bpg_current_xact_id\b|\bpg_snapshot\w*`), "they describe how PostgreSQL stores rows"},
	"large object":                    {regexp.MustCompile(`\blo_(create|import|export|open|unlink)\b`), "they describe how PostgreSQL stores values"},
	"FOR KEY SHARE":                   {regexp.MustCompile(`\bFOR\s+(KEY\s+SHARE|NO\s+KEY\s+UPDATE)\b`), "CockroachDB treats them as FOR SHARE and FOR UPDATE"},
	"FOR UPDATE or SHARE of tables":   {regexp.MustCompile(`\bFOR\s+(UPDATE|SHARE)\s+OF\b`), "no statement needs it; it was not compared"},
	"TRUNCATE, COPY or ANALYZE":       {regexp.MustCompile(`(?:^|;\s*)(TRUNCATE|COPY|ANALYZE)\b`), "CockroachDB has limits on them in transactions, and YugabyteDB runs TRUNCATE outside of them"},
	"catalog of constraints":          {regexp.MustCompile(`\bpg_constraint\b|\bpg_get_constraintdef\b`), "CockroachDB writes definitions in its own form"},
}

// unported lists what files use nevertheless: restoring a backup into PostgreSQL replaces all rows in one
// transaction. Nothing may be added, except a WITH whose parts change different tables, which CockroachDB has.
var unported = map[string][]string{
	"authrequests.go": {"data-modifying WITH"}, // a code changes its request and its session
	// set_config with true ends with the transaction. It skips settings that the database does not have.
	"eventchain.go": {"parameter of the session"},
	// SET LOCAL ends with the transaction.
	"load.go": {"parameter of the session", "DISABLE TRIGGER", "TRUNCATE, COPY or ANALYZE", "catalog of constraints"},
}

// suited reports whether the construct is in a dialect whose database has it.
func suited(name string, d dialect) bool {
	switch name {
	case "column with a collation", "JSON":
		return d != dialectCockroach
	case "statement trigger", "storage parameter":
		return d == dialectPostgres
	}
	return false
}

// TestStatementsArePortable reads the migrations as each database with the protocol of PostgreSQL gets
// them, and all string literals of the package.
func TestStatementsArePortable(t *testing.T) {
	read, used := map[string]int{}, map[string]bool{}
	check := func(d dialect, file, text string) {
		read[file]++
		for _, name := range slices.Sorted(maps.Keys(unportable)) {
			found := unportable[name].form.FindString(text)
			switch {
			case found == "" || suited(name, d):
			case slices.Contains(unported[file], name):
				used[file+name] = true
			default:
				t.Errorf("%s uses a %s in %q: %s", file, name, strings.TrimSpace(found), unportable[name].reason)
			}
		}
	}
	for _, d := range []dialect{dialectPostgres, dialectCockroach, dialectYugabyte} {
		for _, m := range texts(t, d) {
			for _, statement := range statements(m.text) {
				check(d, m.name, statement)
			}
		}
	}
	eachLiteral(t, func(file, text string) { check("", file, text) })
	for file, names := range unported {
		for _, name := range names {
			if !used[file+name] {
				t.Errorf("%s uses no %s any more: remove it from the exceptions", file, name)
			}
		}
	}
	if read["00047_baseline.sql"] < 300 || read["users.go"] < 10 || read["postgres.go"] < 3 {
		t.Errorf("%d statements of the baseline, %d literals of users.go and %d of postgres.go were read", read["00047_baseline.sql"], read["users.go"], read["postgres.go"])
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
	seen := map[string]bool{"": true}
	for text, want := range map[string]string{
		"SELECT pg_advisory_xact_lock(1)": "advisory lock",
		"LISTEN changes":                  "LISTEN or NOTIFY",
		"LOCK TABLE users":                "LOCK TABLE",
		"SET search_path = x":             "parameter of the session",
		"CREATE TEMP TABLE x (id TEXT)":   "temporary table",
		"DECLARE c CURSOR FOR SELECT 1":   "cursor",
		"PREPARE s AS SELECT 1":           "named prepared statement",
		"SELECT lastval()":                "state of a sequence",
		"ALTER TABLE x ADD FOREIGN KEY (y) REFERENCES z (id) DEFERRABLE":                  "DEFERRABLE",
		"CREATE TABLE x (y TEXT, EXCLUDE USING gist (y WITH =))":                          "exclusion constraint",
		"CREATE TABLE x () INHERITS (y)":                                                  "table inheritance",
		"MERGE INTO x USING y ON TRUE WHEN MATCHED THEN DELETE":                           "MERGE",
		"DO $$ BEGIN NULL; END $$":                                                        "DO block",
		"WITH gone AS (DELETE FROM x RETURNING id) SELECT id FROM gone":                   "data-modifying WITH",
		"CREATE TRIGGER x AFTER INSERT ON y FOR EACH STATEMENT EXECUTE FUNCTION z()":      "statement trigger",
		"CREATE TRIGGER x INSTEAD OF INSERT ON y FOR EACH ROW EXECUTE FUNCTION z()":       "INSTEAD OF trigger",
		"CREATE TRIGGER x AFTER INSERT ON y REFERENCING NEW TABLE AS n FOR EACH ROW":      "transition table",
		"CREATE TRIGGER x AFTER UPDATE OF a, b ON y FOR EACH ROW EXECUTE FUNCTION z()":    "trigger on columns",
		"CREATE OR REPLACE TRIGGER x AFTER INSERT ON y FOR EACH ROW EXECUTE FUNCTION z()": "CREATE OR REPLACE TRIGGER",
		"ALTER TABLE x DISABLE TRIGGER y":                                                 "DISABLE TRIGGER",
		"BEGIN INSERT INTO x VALUES (NEW.id); END":                                        "member of OLD or NEW",
		"BEGIN PERFORM f(); END":                                                          "PERFORM",
		"BEGIN EXECUTE 'SELECT 1'; END":                                                   "EXECUTE",
		"BEGIN IF FOUND THEN RETURN NULL; END IF; END":                                    "FOUND or GET DIAGNOSTICS",
		"FOR r IN SELECT id FROM x LOOP NULL; END LOOP":                                   "loop over a query",
		"DECLARE y x.id%TYPE; BEGIN NULL; END":                                            "%TYPE or %ROWTYPE",
		"CREATE TABLE x (y TEXT GENERATED ALWAYS AS (NULLIF(z, '')) VIRTUAL)":             "virtual generated column",
		"CREATE TABLE x (y TEXT) WITH (fillfactor = 70)":                                  "storage parameter",
		`CREATE TABLE x (y TEXT COLLATE "C")`:                                             "column with a collation",
		"CREATE TABLE x (y JSON)":                                                         "JSON",
		"ALTER TABLE x ALTER COLUMN y TYPE BIGINT":                                        "change of the type of a column",
		"SELECT ctid FROM x":                                                              "system column",
		"SELECT txid_current()":                                                           "statistics or number of a write",
		"SELECT lo_create(1)":                                                             "large object",
		"SELECT 1 FROM x FOR KEY SHARE":                                                   "FOR KEY SHARE",
		"SELECT 1 FROM x JOIN y ON TRUE FOR UPDATE OF x":                                  "FOR UPDATE or SHARE of tables",
		"TRUNCATE x":                    "TRUNCATE, COPY or ANALYZE",
		"SELECT oid FROM pg_constraint": "catalog of constraints",
		"UPDATE users SET updated_at = updated_at WHERE id = ? RETURNING id":                             "",
		"WITH RECURSIVE a (id) AS (SELECT id FROM x WHERE id = ?) SELECT id FROM a":                      "",
		"INSERT INTO x (id) VALUES (?) ON CONFLICT (id) DO UPDATE SET id = excluded.id":                  "",
		"ALTER TABLE x ADD COLUMN y TEXT GENERATED ALWAYS AS (NULLIF(z, '')) STORED":                     "",
		"CREATE TRIGGER x AFTER UPDATE ON y FOR EACH ROW WHEN ((OLD).a <> (NEW).a) EXECUTE FUNCTION z()": "",
	} {
		found := ""
		for name, c := range unportable {
			if c.form.MatchString(text) {
				found = name
			}
		}
		if found != want {
			t.Errorf("%q uses %q, expected %q", text, found, want)
		}
		seen[want] = true
	}
	for name, c := range unportable {
		if !seen[name] || c.reason == "" {
			t.Errorf("%s has no statement or no reason", name)
		}
	}
}
