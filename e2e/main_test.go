// Package e2e_test tests the built binary as its users do: over HTTP, and in Chromium with
// the virtual authenticator of its DevTools protocol.
//
// Each test has a server and a folder of its own, started on a free loopback port and ended
// by its process id. The browser is started once, and each test gets a profile of its own
// in it.
package e2e_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if b := launched.Load(); b != nil {
		b.close()
	}
	removeAll(scratch())
	os.Exit(code)
}

// scratch is a folder shared by all tests, for the binary and the browser's profile.
var scratch = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "postern-e2e-")
	if err != nil {
		panic(err)
	}
	return dir
})

// binary returns the path of the built program.
func binary(t testing.TB) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// built builds postern once.
var built = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch(), "postern")
	build := exec.Command("go", "build", "-o", path, "../cmd/postern")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	var output bytes.Buffer
	build.Stdout, build.Stderr = &output, &output
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("go build ./cmd/postern: %w\n%s", err, output.String())
	}
	return path, nil
})

// removeAll removes a folder that exiting browser processes may still write to.
func removeAll(dir string) {
	for range 50 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// timeout bounds tests that hang. It is far longer than anything takes on a slow machine, and
// than the 65 seconds for which a killed server has claimed a delivery.
const timeout = 5 * time.Minute

// eventually polls until done reports true, or fails the test after the timeout.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	if !poll(done) {
		t.Fatalf("waited %s for this in vain: %s", timeout, what)
	}
}

// poll calls done until it reports true, and reports false after the timeout. It takes little
// processor time from what it waits for: the pauses grow with the time waited.
func poll(done func() bool) bool {
	began := time.Now()
	for !done() {
		waited := time.Since(began)
		if waited > timeout {
			return false
		}
		time.Sleep(min(max(waited/10, 5*time.Millisecond), 100*time.Millisecond))
	}
	return true
}

// missingFrom skips a test because a tool is missing. In CI, where every tool is installed, it
// fails the test.
func missingFrom(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf("SKIP: "+format, args...)
}
