package main

import (
	"bytes"
	"flag"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
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
	page := datatest.ReadFile(t, path)
	page = bytes.ReplaceAll(page, []byte("\r\n"), []byte("\n"))
	dir := t.TempDir()
	for _, file := range regexp.MustCompile("(?s)```yaml file=(\\S+)\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		name := filepath.Join(dir, file[1])
		datatest.WriteFile(t, name, file[2])
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
		_, output := runProgram(t, nil, strings.Fields(args)...)
		return "```console\n$ postern " + args + "\n" + output + "```"
	})
	if *updateDocs {
		datatest.WriteFile(t, full, printed)
		return
	}
	if commands < least || printed != string(page) {
		t.Errorf("%s, %d commands, is not what they print; run go test ./cmd/postern -run WalkThrough -update-docs. It should be\n%s", filepath.Base(path), commands, printed)
	}
}
