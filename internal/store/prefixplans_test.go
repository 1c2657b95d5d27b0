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
