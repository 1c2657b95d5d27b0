package e2e_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// previous is the program of the previous release, which several tests run.
var previous struct {
	once sync.Once
	path string
}

// previousRelease builds the commit in testdata/previous-release, once.
func previousRelease(t *testing.T) string {
	t.Helper()
	previous.once.Do(func() { previous.path = buildPreviousRelease(t) })
	if previous.path == "" {
		t.Fatal("the previous release could not be built: see the test that tried first")
	}
	return previous.path
}

// previousCommit is the commit of the previous release.
func previousCommit(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(string(datatest.ReadFile(t, "testdata/previous-release")))
}

// previousFile returns the text of a file of the previous release.
func previousFile(t *testing.T, path string) string {
	t.Helper()
	text, err := exec.Command("git", "show", previousCommit(t)+":"+path).Output()
	if err != nil {
		t.Fatalf("%s of the previous release: %v", path, err)
	}
	return string(text)
}

func buildPreviousRelease(t *testing.T) string {
	t.Helper()
	commit, dir := previousCommit(t), t.TempDir()
	run := func(in io.Reader, dir, name string, args ...string) []byte {
		t.Helper()
		cmd := exec.Command(name, args...)
		var failed bytes.Buffer
		cmd.Dir, cmd.Stdin, cmd.Stderr, cmd.Env = dir, in, &failed, append(os.Environ(), "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, failed.String())
		}
		return out
	}
	if exec.Command("git", "cat-file", "-e", commit+"^{commit}").Run() != nil {
		t.Fatalf("the commit %s of the previous release (e2e/testdata/previous-release) is not in the history: "+
			"clone the whole repository, or run `git fetch --unshallow`", commit)
	}
	// In the root of the repository: git archive has the files below the current folder only.
	archive := run(nil, "..", "git", "archive", "--format=tar", commit)
	run(bytes.NewReader(archive), dir, "tar", "-x")
	path := filepath.Join(scratch(), "postern-previous")
	run(nil, dir, "go", "build", "-trimpath", "-buildvcs=false", "-o", path, "./cmd/postern")
	return path
}

// TestPreviousReleaseData makes a store with the previous release, and continues with this one: from a backup, and
// on the same files. The upgrade is incompatible: the previous release refuses the store and the backup of this
// release, and returns with its own backup.
func TestPreviousReleaseData(t *testing.T) {
	t.Parallel()
	previous := previousRelease(t)
	first := newSQLiteServer(t)
	first.program = previous
	first.start()
	want := first.content()
	before, after := filepath.Join(t.TempDir(), "before"), filepath.Join(t.TempDir(), "after")
	first.command("backup", before)
	first.terminate()

	upgraded := first.restoredTo(before)
	upgraded.program, first.program = "", ""
	for _, p := range []*postern{upgraded, first} {
		p.continues(want)
	}
	first.command("backup", after)

	first.program = previous
	first.refuse(newerSchema, "serve")
	first.refuse("but this program supports at most", "restore", "--force", after)
	first.command("restore", "--force", before)
	first.continues(want)
}

// restoredTo returns another server with a backup of this one.
func (p *postern) restoredTo(backup string) *postern {
	p.t.Helper()
	restored := newSQLiteServer(p.t)
	const key = "data/keys/key-encryption.key"
	datatest.WriteFile(p.t, filepath.Join(restored.dir, key), datatest.ReadFile(p.t, filepath.Join(p.dir, key)))
	restored.command("restore", "--unverified", backup) // the previous release writes no MAC
	return restored
}

// continues checks the content of a server that does not run, and its audit log.
func (p *postern) continues(want string) {
	p.t.Helper()
	p.start()
	if got := p.content(); got != want {
		p.t.Errorf("the content is\n%s\nexpected\n%s", got, want)
	}
	p.command("audit", "verify")
	p.terminate()
}

// newSQLiteServer returns a server with an empty data folder.
func newSQLiteServer(t *testing.T) *postern {
	t.Helper()
	dir := t.TempDir()
	p := newServer(t, []string{"serve"}, "http", "localhost", "POSTERN_DATA_DIR="+filepath.Join(dir, "data"))
	p.dir = dir
	return p
}

// content returns the published keys and the users of a running server.
func (p *postern) content() string {
	p.t.Helper()
	keys := p.send(http.MethodGet, "/oauth2/jwks", "")
	if keys.status != http.StatusOK {
		p.t.Fatalf("the keys: %d %s", keys.status, keys.body)
	}
	return string(keys.body) + "\n" + p.command("user", "list", "--json", "--server", p.base, "--token", strings.TrimSpace(p.command("token")))
}

// command runs a command with the configuration of the server, and returns its output.
func (p *postern) command(args ...string) string {
	p.t.Helper()
	cmd := exec.Command(p.path(), args...)
	var failed bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = p.dir, p.env, &failed
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("postern %s: %v\n%s%s", strings.Join(args, " "), err, out, failed.String())
	}
	return string(out)
}

// refuse runs a command that must fail with an error.
func (p *postern) refuse(want string, args ...string) {
	p.t.Helper()
	cmd := exec.Command(p.path(), args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), want) {
		p.t.Errorf("postern %s: %v, expected an error with %q\n%s", strings.Join(args, " "), err, want, out)
	}
}
