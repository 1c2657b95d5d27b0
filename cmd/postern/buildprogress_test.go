package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// `make run` shows how much is compiled instead of the names of packages, all that the compiler reports, and
// fails if the compiler does.
func TestBuildProgress(t *testing.T) {
	compiler := filepath.Join(t.TempDir(), "go")
	datatest.WriteFile(t, compiler, `#!/bin/sh
if [ "$1" = list ]; then
  [ "$5" = ./cmd/postern ] || exit 1
  seq 201
  exit
fi
for n in $(seq 200); do echo example.com/package/v$n >&2; done
echo '# github.com/postern-id/postern/cmd/postern' >&2
echo 'cmd/postern/main.go:1:1: 100% wrong' >&2
exit $CODE
`)
	if err := os.Chmod(compiler, 0o700); err != nil {
		t.Fatal(err)
	}
	for code := range 2 {
		cmd := exec.CommandContext(t.Context(), deployFile("progress.sh"), compiler, "build", "-v", "-o", "bin/postern", "./cmd/postern")
		cmd.Env = append(cmd.Environ(), fmt.Sprint("CODE=", code))
		output, err := cmd.CombinedOutput()
		want := "compiled 100 of 201 packages\ncompiled 200 of 201 packages\nlinking the program\n" +
			"# github.com/postern-id/postern/cmd/postern\ncmd/postern/main.go:1:1: 100% wrong\n"
		if got := string(output); got != want || cmd.ProcessState.ExitCode() != code || strings.Contains(got, "example.com") {
			t.Errorf("exit code %d: %v\n%s", code, err, got)
		}
	}
}
