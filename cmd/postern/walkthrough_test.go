package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var updateDocs = flag.Bool("update-docs", false, "rewrite the command output in the pages of docs")

// The printed output of a command on a page equals its actual output.
func TestWalkThrough(t *testing.T) {
	for name, least := range map[string]int{"flows.md": 5, "testing.md": 2} {
		t.Run(name, func(t *testing.T) { walkThrough(t, filepath.Join("..", "..", "docs", name), least) })
	}
}

// walkThrough runs the commands of a page on its files. There must be at least a given
// number.
func walkThrough(t *testing.T, path string, least int) {
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page = bytes.ReplaceAll(page, []byte("\r\n"), []byte("\n"))
	dir := t.TempDir()
	for _, file := range regexp.MustCompile("(?s)```yaml file=(\\S+)\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		name := filepath.Join(dir, file[1])
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(file[2]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	commands := 0
	console := regexp.MustCompile("(?s)```console\n\\$ postern (.*?)\n(.*?)```")
	printed := console.ReplaceAllStringFunc(string(page), func(block string) string {
		commands++
		args := console.FindStringSubmatch(block)[1]
		var out bytes.Buffer
		program{args: strings.Fields(args), stdout: &out, stderr: &out}.run(t.Context())
		return "```console\n$ postern " + args + "\n" + out.String() + "```"
	})
	if *updateDocs {
		if err := os.WriteFile(full, []byte(printed), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if commands < least || printed != string(page) {
		t.Errorf("%s, %d commands, is not what they print; run go test ./cmd/postern -run WalkThrough -update-docs. It should be\n%s", filepath.Base(path), commands, printed)
	}
}
