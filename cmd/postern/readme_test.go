package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/nodes"
)

// The seed file of the documentation does what it says.
func TestReadmeSeedFile(t *testing.T) {
	readme := datatest.ReadFile(t, "../../docs/declarative.md")
	block := regexp.MustCompile("(?s)```yaml\n(organizationUnits:.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("docs/declarative.md has no seed file")
	}
	h := emptyApp(t)
	if _, err := h.seedStore(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	resources, err := declare.ReadSeed("declarative.md", block[1])
	if err != nil {
		t.Fatal(err)
	}
	var made []string
	err = declare.Ensure(t.Context(), declare.NewDirectory(h.directory, directory.SystemCall()), resources,
		declare.Secrets{Getenv: program{environ: []string{"SHOP_SECRET=" + strings.Repeat("0123456789", 4), "ADA_PASSWORD=quiet harbour lantern"}}.getenv},
		func(e declare.Ensured) { made = append(made, e.Name()) })
	if err != nil || len(made) != 5 {
		t.Errorf("made %q, %v", made, err)
	}
}

// docs/kinds.md has a row for each kind of node.
func TestDocumentedKinds(t *testing.T) {
	page := datatest.ReadFile(t, "../../docs/kinds.md")
	for name := range nodes.Kinds(nodes.Deps{}) {
		if !strings.Contains(string(page), "\n| `"+name+"` | ") {
			t.Errorf("docs/kinds.md has no row for the kind %s", name)
		}
	}
}
