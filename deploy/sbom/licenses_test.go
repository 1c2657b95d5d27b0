package main

import (
	"bytes"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// writeFolder writes files below a new folder, with intermediate folders, and returns it.
func writeFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		datatest.WriteFile(t, path, text)
	}
	return folder
}

// The program is the one of this repository, so that the modules of go.mod are found.
func TestLicenses(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	const lock = `{"packages": {"node_modules/a": {"version": "1.0.0"}, "node_modules/@b/c": {"version": "2.0.0"},
		"node_modules/d": {"version": "3.0.0"}, "node_modules/tool": {"version": "4.0.0", "dev": true}}}`
	platform := []string{runtime.GOOS + "/" + runtime.GOARCH}
	for _, test := range []struct {
		name  string
		files map[string]string
		want  []string // in this order
		fails string
	}{
		{"complete", map[string]string{
			"a/license": "The text\r\nof a license. \n", "a/index.js": "1", "@b/c/LICENSE-MIT.txt": "The text\nof a license.",
			"d/package.json": `{"license": "ISC"}`,
		}, []string{"github.com/lib/pq v", "gopkg.in/yaml.v3 v", "\n@b/c 2.0.0\na 1.0.0\n\nThe text\nof a license.\n", "\nd 3.0.0\n\nLicense: ISC"}, ""},
		{"not installed", map[string]string{"a/LICENSE": "text"}, nil, "npm ci"},
		{"no license", map[string]string{"a/LICENSE": "x", "@b/c/LICENSE": "x", "d/package.json": "{}"}, nil, "d has neither"},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{"package-lock.json": lock}
			for name, text := range test.files {
				files["node_modules/"+name] = text
			}
			var out bytes.Buffer
			err := writeLicenses(&out, platform, filepath.Join(writeFolder(t, files), "package-lock.json"))
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("got %v, expected %q", err, test.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			rest := out.String()
			for _, want := range test.want {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("%q is missing, or not in the order of names", want)
				}
				rest = after
			}
			if strings.Contains(out.String(), "tool 4.0.0") || strings.Count(out.String(), "The text\n") != 1 {
				t.Error("the licenses contain a package that only the build needs, or a text twice")
			}
		})
	}
}
