package main

import (
	"bufio"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

const (
	keyFlow = `handle: sign-in
name: Sign in
flowType: AUTHENTICATION
nodes:
  - {id: key, use: passkey-authenticate, next: done}
  - {id: done, use: authorization-code}
`
	otherHandle = "handle: other"
)

// A server reads its flows from a folder, and with --dev reloads saved files, but never
// flows with errors.
func TestFlowsFromAFolder(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	dir := t.TempDir()
	file := filepath.Join(dir, "sign_in.yaml")
	datatest.WriteFile(t, file, keyFlow)
	reported, w := io.Pipe()
	exit := make(chan int, 1)
	go func() {
		exit <- program{
			args:    []string{"serve", "--listen", "127.0.0.1:0", "--flows", dir, "--dev"},
			environ: []string{"POSTERN_DATA_DIR=" + t.TempDir(), "ADMIN_PASSWORD=quiet harbour lantern"},
			stdout:  w, stderr: io.Discard,
		}.run(ctx)
		w.Close()
	}()
	lines := bufio.NewScanner(reported)
	until := func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("the server never printed %q", want)
	}
	until("flow sign-in is version 2") // the built-in flow was version 1
	until("serves")
	datatest.WriteFile(t, file, strings.Replace(keyFlow, "next: done", "next: end", 1))
	until("sign_in.yaml:5:48: error: ")
	until("the previous flows stay active")
	datatest.WriteFile(t, file, strings.Replace(keyFlow, "Sign in", "Come in", 1))
	until("flow sign-in is version 3")
	datatest.WriteFile(t, filepath.Join(dir, "more.yml"), strings.Replace(keyFlow, "handle: sign-in", otherHandle, 1))
	until("flow other is version 1")
	datatest.WriteFile(t, filepath.Join(dir, "most.yml"), strings.Replace(keyFlow, "handle: sign-in", otherHandle, 1))
	until("the AUTHENTICATION flow in " + filepath.Join(dir, "more.yml") + " also has the handle")
	go func() { _, _ = io.Copy(io.Discard, reported) }()
	stop()
	if code := <-exit; code != exitFine {
		t.Errorf("exit code %d", code)
	}
}
