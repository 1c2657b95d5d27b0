package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/nodes"
)

// The seed file of the documentation does what it says.
func TestReadmeSeedFile(t *testing.T) {
	readme, err := os.ReadFile("../../docs/declarative.md")
	if err != nil {
		t.Fatal(err)
	}
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
		program{environ: []string{"SHOP_SECRET=" + strings.Repeat("0123456789", 4), "ADA_PASSWORD=quiet harbour lantern"}}.getenv,
		func(e declare.Ensured) { made = append(made, e.Name()) })
	if err != nil || len(made) != 5 {
		t.Errorf("made %q, %v", made, err)
	}
}

// The flows that pages show may run.
func TestDocumentedFlow(t *testing.T) {
	for _, name := range []string{"docs/second-factors.md", "docs/federation.md"} {
		page, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		block := regexp.MustCompile("(?s)```yaml\\n(handle:.*?)```").FindSubmatch(page)
		if block == nil {
			t.Fatalf("%s shows no flow", name)
		}
		_, _, problems := engine.Check(block[1], true, nodes.Kinds(nodes.Deps{}))
		for _, p := range problems {
			if !strings.Contains(p.Message, "(waived: ") {
				t.Errorf("%s: %v", name, p)
			}
		}
	}
}

// What the documentation says to configure is a configuration.
func TestReadmeConfiguration(t *testing.T) {
	for _, page := range []string{"docs/operating.md"} {
		text, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		block := regexp.MustCompile("(?s)```yaml\n(server:.*?)```").FindSubmatch(text)
		if block == nil {
			t.Fatalf("%s configures no server", page)
		}
		path := filepath.Join(t.TempDir(), "postern.yaml")
		if err := os.WriteFile(path, block[1], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := config.Load(path, nil); err != nil {
			t.Errorf("%s: %v", page, err)
		}
	}
}

// docs/kinds.md has a row for each kind of node.
func TestDocumentedKinds(t *testing.T) {
	page, err := os.ReadFile("../../docs/kinds.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range nodes.Kinds(nodes.Deps{}) {
		if !strings.Contains(string(page), "\n| `"+name+"` | ") {
			t.Errorf("docs/kinds.md has no row for the kind %s", name)
		}
	}
}
