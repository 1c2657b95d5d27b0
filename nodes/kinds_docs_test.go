package nodes

import (
	"cmp"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/kinds.md")

// The tables of docs/kinds.md are those of the declarations.
func TestKindsPage(t *testing.T) {
	path := filepath.Join("..", "docs", "kinds.md")
	page := string(datatest.ReadFile(t, path))
	want := withTable(t, withTable(t, page, rowTable()), codeTable())
	if *update {
		datatest.WriteFile(t, path, want)
	} else if page != want {
		t.Error("docs/kinds.md is not what the kinds declare; run this test with -update")
	}
}

// withTable returns the page with a table in place of the one with the same heading.
func withTable(t *testing.T, page, table string) string {
	t.Helper()
	heading, _, _ := strings.Cut(table, "\n")
	before, rest, found := strings.Cut(page, heading+"\n")
	_, after, ends := strings.Cut(rest, "\n\n")
	if !found || !ends {
		t.Fatalf("the page has no table %s", heading)
	}
	return before + table + "\n" + after
}

func rowTable() string {
	table := "| kind | outcomes | established on success |\n|---|---|---|\n"
	for _, k := range declarations(Deps{}) {
		table += fmt.Sprintf("| `%s` | %s | %s |\n", k.Name, k.row.outcomes, k.row.establishes)
	}
	return table
}

func codeTable() string {
	quoted := func(codes []string) string {
		return "`" + strings.Join(slices.Sorted(slices.Values(codes)), "`, `") + "`"
	}
	table := "| kind | error codes |\n|---|---|\n| every kind | " + quoted(engine.CommonCodes()) + " |\n"
	all := declarations(Deps{})
	slices.SortFunc(all, func(a, b declared) int { return cmp.Compare(a.Name, b.Name) })
	for _, k := range all {
		if len(k.Codes) > 0 {
			table += fmt.Sprintf("| `%s` | %s |\n", k.Name, quoted(k.Codes))
		}
	}
	return table
}

// The page marks exactly the outcomes that `next` may omit.
func TestOptionalOutcomesAreDocumented(t *testing.T) {
	for _, k := range declarations(Deps{}) {
		for _, o := range k.Outcomes {
			if marked := strings.Contains(k.row.outcomes, o.Name()+" (optional)"); marked != o.Optional {
				t.Errorf("%s: the outcome %s is optional: %t; the page: %t", k.Name, o.Name(), o.Optional, marked)
			}
		}
	}
}
