//go:build unix

package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/datatest"
)

// folderReaders are the commands that read a folder, with a file that it can contain.
func folderReaders(t *testing.T, environ []string) map[string]struct {
	name, text string
	run        func(dir string) (code int, output string)
} {
	command := func(args ...string) func(string) (int, string) {
		return func(dir string) (int, string) { return runProgram(t, environ, append(slices.Clone(args), dir)...) }
	}
	serve := func(setting string) func(string) (int, string) {
		return func(dir string) (int, string) { return serveOnce(t, append(slices.Clone(environ), setting+"="+dir)) }
	}
	type reader = struct {
		name, text string
		run        func(dir string) (int, string)
	}
	flow := string(datatest.ReadFile(t, "../../flows/recipes/password_and_second_factor.yaml"))
	return map[string]reader{
		"flow check":   {"door.yaml", flow, command("flow", "check")},
		"flow fmt":     {"door.yaml", flow, command("flow", "fmt", "--list")},
		"flow test":    {"door_test.yaml", "flow: door.yaml\n", command("flow", "test")},
		"flow.dir":     {"door.yaml", flow, serve("POSTERN_FLOW_DIR")},
		"prove":        {"door.yaml", flow, command("prove")},
		"languages":    {"it.json", "{}", serve("POSTERN_GATE_CLIENT_LANGUAGES_DIR")},
		"apply":        {"groups/staff.yaml", "name: Staff\n", command("apply", "--plan")},
		"import":       {"r-realm.json", `{"realm":"r","users":[]}`, command("import", "--dry-run", "keycloak")},
		"import YAML":  {"user.yaml", "resource_type: user\nattributes: {username: ann}\n", command("import", "--dry-run", "thunderid")},
		"import JSONL": {"users.ndjson", `{"user_id":"auth0|1","email":"a@example.org","name":"A"}`, command("import", "--dry-run", "auth0")},
		"bootstrap": {"seed.yaml", "groups: [{name: Staff}]\n", func(dir string) (int, string) {
			err := bootstrap.Run(t.Context(), bootstrap.Setup{BaseURL: "http://localhost:1", Dir: dir, Token: "x", Wait: time.Millisecond, HTTP: &http.Client{}, Report: func(string, ...any) {}})
			return exitUsage, err.Error()
		}},
	}
}

// serveOnce runs a server until it serves, and returns its last words.
func serveOnce(t *testing.T, environ []string) (code int, output string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, w := io.Pipe()
	exit := make(chan int, 1)
	go func() {
		exit <- program{args: []string{"serve", "--listen", "127.0.0.1:0"}, environ: environ, stdout: w, stderr: w}.run(ctx)
		w.Close()
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "serves") {
			stop()
			output = "it serves"
		} else if output != "it serves" {
			output += lines.Text() + "\n"
		}
	}
	return <-exit, output
}

// What is no regular file in the folder is refused: a named pipe would block for ever, and a link could lead to
// any file of the machine.
func TestFoldersOfOtherFiles(t *testing.T) {
	sequential(t)
	environ := emptyStore(t)
	for name, reader := range folderReaders(t, environ) {
		t.Run(name, func(t *testing.T) {
			for kind, make := range map[string]func(t *testing.T, path string){
				"is a named pipe": func(t *testing.T, path string) {
					if err := syscall.Mkfifo(path, 0o600); err != nil {
						t.Skip(err)
					}
				},
				"is outside of the folder": func(t *testing.T, path string) {
					outside := filepath.Join(t.TempDir(), "outside")
					datatest.WriteFile(t, outside, reader.text)
					symlink(t, outside, path)
				},
			} {
				dir := t.TempDir()
				path := filepath.Join(dir, filepath.FromSlash(reader.name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				make(t, path)
				if code, output := reader.run(dir); code == exitFine || !strings.Contains(output, kind) {
					t.Errorf("exit code %d, expected %q\n%s", code, kind, output)
				}
			}
		})
	}
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("symbolic links: %v", err)
	}
}

// In a volume of Kubernetes, each file is a link into the folder ..data, which is a link to a dated folder.
func TestMountedFolders(t *testing.T) {
	sequential(t)
	environ := emptyStore(t)
	for name, reader := range folderReaders(t, environ) {
		t.Run(name, func(t *testing.T) {
			outputs := map[bool]string{}
			var codes []int
			for _, mounted := range []bool{false, true} {
				top := t.TempDir()
				dir := filepath.Join(top, filepath.FromSlash(filepath.Dir(reader.name)))
				file := filepath.Base(reader.name)
				if !mounted {
					datatest.WriteFile(t, filepath.Join(dir, file), reader.text)
				} else {
					datatest.WriteFile(t, filepath.Join(dir, "..2026_11_28_03_00_00.1", file), reader.text)
					symlink(t, "..2026_11_28_03_00_00.1", filepath.Join(dir, "..data"))
					symlink(t, filepath.Join("..data", file), filepath.Join(dir, file))
				}
				if strings.HasSuffix(file, "_test.yaml") {
					datatest.WriteFile(t, filepath.Join(dir, "door.yaml"), datatest.ReadFile(t, "../../flows/recipes/password_and_second_factor.yaml"))
				}
				code, output := reader.run(top)
				codes = append(codes, code)
				outputs[mounted] = strings.ReplaceAll(output, top, "")
			}
			if codes[0] != codes[1] || outputs[false] != outputs[true] {
				t.Errorf("files: %d\n%s\nmounted: %d\n%s", codes[0], outputs[false], codes[1], outputs[true])
			}
		})
	}
}

// emptyStore is the environment of a store that commands open.
func emptyStore(t *testing.T) []string {
	t.Helper()
	environ := testEnvironment(t.TempDir())
	newTestAppIn(t, environ).close()
	return environ
}

// A file with a secret that is a named pipe is refused, and the output of a command is not.
func TestPassphraseOfPipe(t *testing.T) {
	environ, dir := emptyStore(t), t.TempDir()
	pipe := filepath.Join(dir, "passphrase")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, args := range [][]string{
		{"backup", "--passphrase-file", pipe, filepath.Join(dir, "backup")},
		{"backup", "--recipients-file", pipe, filepath.Join(dir, "backup")},
		{"restore", "--passphrase-file", pipe, filepath.Join(dir, "backup")},
		{"restore", "--identity-file", pipe, filepath.Join(dir, "backup")},
		{"restore", "--force", pipe},
		{"import", "firebase", pipe},
		{"flow", "check", pipe},
		{"config", "check", pipe},
	} {
		if code, output := runProgram(t, environ, args...); code == exitFine || !strings.Contains(output, "is a named pipe; expected a regular file") {
			t.Errorf("%q: %d %s", args, code, output)
		}
	}
}
