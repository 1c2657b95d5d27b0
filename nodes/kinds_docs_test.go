package nodes

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// docs/kinds.md marks exactly the outcomes that `next` may omit.
func TestOptionalOutcomesAreDocumented(t *testing.T) {
	page := datatest.ReadFile(t, filepath.Join("..", "docs", "kinds.md"))
	for name, kind := range Kinds(Deps{}) {
		_, row, found := strings.Cut(string(page), "| `"+name+"` |")
		row, _, _ = strings.Cut(row, "|")
		for _, o := range kind.Outcomes {
			if marked := strings.Contains(row, o.Name()+" (optional)"); !found || marked != o.Optional {
				t.Errorf("%s: the outcome %s is optional: %t; the page: %t", name, o.Name(), o.Optional, marked)
			}
		}
	}
}
