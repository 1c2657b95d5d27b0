package schemas

import (
	"io/fs"
	"strings"
	"testing"
)

// A schema of the program is compiled when it is first used, so a test compiles each file.
func TestEachFileIsAValidSchema(t *testing.T) {
	names, err := fs.Glob(files, "*.schema.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d schemas: %v", len(names), err)
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := CompileSchema(strings.TrimSuffix(name, ".schema.json"), text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
