package nodes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// docs/kinds.md marks exactly the outcomes that `next` may omit.
func TestOptionalOutcomesAreDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "kinds.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range Kinds(Deps{}) {
		_, row, found := strings.Cut(string(page), "| `"+name+"` |")
		row, _, _ = strings.Cut(row, "|")
		for _, o := range kind.Outcomes {
			if marked := strings.Contains(row, o.Name+" (optional)"); !found || marked != o.Optional {
				t.Errorf("%s: the outcome %s is optional: %t; the page: %t", name, o.Name, o.Optional, marked)
			}
		}
	}
}
