package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

func writeLock(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "package-lock.json")
	datatest.WriteFile(t, path, text)
	return path
}

// The test itself is a binary of Go, and of the standard library only.
func TestRun(t *testing.T) {
	lock := writeLock(t, `{"packages": {"": {"version": "0"},
		"node_modules/react": {"version": "19.3.1"}, "node_modules/vite": {"version": "8.3.8", "dev": true},
		"node_modules/react/node_modules/@x/y": {"version": "1.0.0"}}}`)
	var first, second bytes.Buffer
	for _, w := range []*bytes.Buffer{&first, &second} {
		if err := run(w, "postern", "v1.2.3", lock, []string{os.Args[0], os.Args[0]}); err != nil {
			t.Fatal(err)
		}
	}
	if first.String() != second.String() {
		t.Error("two runs differ")
	}
	var d document
	datatest.Unmarshal(t, first.Bytes(), &d)
	var got []string
	for _, c := range d.Components {
		got = append(got, c.PURL)
	}
	want := []string{"pkg:golang/std@" + strings.TrimPrefix(runtime.Version(), "go"), "pkg:npm/%40x/y@1.0.0", "pkg:npm/react@19.3.1"}
	if !slices.Equal(got, want) || d.Metadata.Component.Version != "v1.2.3" {
		t.Errorf("got %q of %s, expected %q", got, d.Metadata.Component.Version, want)
	}
}

func TestRunReportsFaults(t *testing.T) {
	good := []string{os.Args[0]}
	for _, test := range []struct {
		name, version, lock string
		binaries            []string
		want                string
	}{
		{"no version", "", "", good, "-version"},
		{"no binary", "v1", "", nil, "binaries"},
		{"no Go", "v1", "", []string{"main.go"}, "that Go has built"},
		{"no lock", "v1", "nowhere.json", good, "nowhere.json"},
		{"no JSON", "v1", writeLock(t, "x"), good, "invalid character"},
		{"an old lock", "v1", writeLock(t, `{"lockfileVersion": 1, "dependencies": {}}`), good, "npm 7"},
	} {
		if err := run(new(bytes.Buffer), "postern", test.version, test.lock, test.binaries); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, expected %q", test.name, err, test.want)
		}
	}
}
