package flows

import (
	"path/filepath"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

func TestFormer(t *testing.T) {
	files, err := filepath.Glob("testdata/former/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text := datatest.ReadFile(t, name)
		f, _, problems := schemas.ParseFlow(text, true)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if !IsFormerBuiltin(f) {
			t.Errorf("%s is not known: its digest is\n%q: {%q},", name, f.Handle, digest(f))
		}
		f.Nodes[0].ID += "x"
		if IsFormerBuiltin(f) {
			t.Errorf("%s was edited, and is taken for ours", name)
		}
	}
	current, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range current {
		if IsFormerBuiltin(&f) {
			t.Errorf("%s is taken for an earlier release's", f.Handle)
		}
	}
}
