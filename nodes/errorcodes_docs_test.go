package nodes

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
)

// docs/kinds.md lists the error codes of each kind, which the check of scenarios knows.
func TestErrorCodesAreDocumented(t *testing.T) {
	page := datatest.ReadFile(t, filepath.Join("..", "docs", "kinds.md"))
	quoted := func(codes []string) string {
		return "`" + strings.Join(slices.Sorted(slices.Values(codes)), "`, `") + "`"
	}
	table := "| kind | error codes |\n|---|---|\n| every kind | " + quoted(engine.CommonCodes()) + " |\n"
	kinds := Kinds(Deps{})
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if codes := kinds[name].Codes; len(codes) > 0 {
			table += fmt.Sprintf("| `%s` | %s |\n", name, quoted(codes))
		}
	}
	if !strings.Contains(string(page), table) {
		t.Errorf("docs/kinds.md lacks this table:\n%s", table)
	}
}
