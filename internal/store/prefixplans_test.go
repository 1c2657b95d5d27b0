package store_test

import (
	"database/sql"
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
)

var usedIndex = regexp.MustCompile(`(?s)Index (?:Only )?Scan using \w+ on (\w+) .*Index Cond: \(\((\w+) >= 'a'::text\) AND \((\w+) < 'b'::text\)\)`)

// TestPostgresPrefixesUseIndexes: PostgreSQL finds a prefix as a range of an index that has the order
// of the list, and whose column compares bytes in every locale. TestListsUseIndexes tests SQLite.
func TestPostgresPrefixesUseIndexes(t *testing.T) {
	c := postgres(t)
	s := storetest.Open(t, c)
	db, err := sql.Open("postgres", c.DSN)
	noError(t, err)
	defer db.Close()
	plans := store.ExplainPrefixes(t, s)
	if len(plans) != 20 {
		t.Errorf("there are %d plans", len(plans))
	}
	for what, plan := range plans {
		used := usedIndex.FindStringSubmatch(plan)
		if used == nil || used[2] != used[3] || strings.Contains(plan, "Filter") || strings.Contains(plan, "Sort") {
			t.Errorf("%s: expected a range of an index without a sort, got\n%s", what, plan)
			continue
		}
		var collation string
		noError(t, db.QueryRowContext(t.Context(), `SELECT c.collname FROM pg_attribute a JOIN pg_collation c ON c.oid = a.attcollation
			WHERE a.attrelid = to_regclass($1) AND a.attname = $2`, used[1], used[2]).Scan(&collation))
		equal(t, "the collation of the index for "+what, collation, "C")
	}
}

// growing matches the scan of a table whose size grows with the number of users or clients.
var growing = regexp.MustCompile(`Seq Scan on (runs|auth_requests|sessions|users|applications|credentials|refresh_families)\b`)

// TestPostgresReadsAheadByIndex: a connection keeps the plan that it made when the tables were empty, so this
// plan must use indexes.
func TestPostgresReadsAheadByIndex(t *testing.T) {
	c := postgres(t)
	storetest.Open(t, c)
	db, err := sql.Open("postgres", c.DSN)
	noError(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(t.Context(), "SET plan_cache_mode = force_generic_plan")
	noError(t, err)
	for _, q := range store.StatementsAhead() {
		_, err := db.ExecContext(t.Context(), "PREPARE ahead AS "+q)
		noError(t, err)
		values := strings.TrimSuffix(strings.Repeat("NULL,", strings.Count(q, "$")), ",")
		rows, err := db.QueryContext(t.Context(), "EXPLAIN EXECUTE ahead("+values+")")
		noError(t, err)
		for rows.Next() {
			var step string
			noError(t, rows.Scan(&step))
			if growing.MatchString(step) {
				t.Errorf("%s\nreads a whole table: %s", q, step)
			}
		}
		noError(t, rows.Close())
		_, err = db.ExecContext(t.Context(), "DEALLOCATE ahead")
		noError(t, err)
	}
}
