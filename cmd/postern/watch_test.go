package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// watched runs a command that watches files, and returns a function that reads its output up to a text,
// and one that ends it.
func watched(t *testing.T, args ...string) (until func(want string), end func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	reported, w := io.Pipe()
	exit := make(chan int, 1)
	go func() {
		exit <- program{args: args, stdout: w, stderr: w}.run(ctx)
		w.Close()
	}()
	lines := bufio.NewScanner(reported)
	until = func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("the command never printed %q", want)
	}
	end = func() {
		t.Helper()
		go func() { _, _ = io.Copy(io.Discard, reported) }()
		stop()
		if code := <-exit; code != exitFine {
			t.Errorf("exit code %d", code)
		}
	}
	return until, end
}

const waiting = "waiting for changes"

// flow check --watch checks again after a change of a named file or of a sub-flow, and survives errors.
func TestCheckWatches(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "sign_in.yaml")
	datatest.WriteFile(t, file, keyFlow)
	until, end := watched(t, "flow", "check", "--watch", file)
	until(waiting)
	datatest.WriteFile(t, file, strings.Replace(keyFlow, "next: done", "next: part", 1))
	until(`there is no node "part"`)
	until(waiting)
	datatest.WriteFile(t, file, strings.Replace(keyFlow, "key, use: passkey-authenticate, next: done", "key, use: flow, with: {flow: part}, next: done", 1))
	until("part")
	until(waiting)
	datatest.WriteFile(t, filepath.Join(dir, "part.yaml"), "handle: part\nname: Part\nflowType: SUBFLOW\nnodes:\n  - {id: key, use: passkey-authenticate, next: end}\n")
	until("guarantees acr")
	until(waiting)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	until("there is no file or folder")
	until(waiting)
	datatest.WriteFile(t, file, keyFlow)
	until("guarantees acr")
	end()
}

// flow test --watch runs the scenarios again after a change of the flow in another folder.
func TestTestWatches(t *testing.T) {
	dir := t.TempDir()
	flow, scenarios := filepath.Join(dir, "flows", "sign_in.yaml"), filepath.Join(dir, "tests", "a_test.yaml")
	for _, file := range []string{flow, scenarios} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	datatest.WriteFile(t, flow, keyFlow)
	datatest.WriteFile(t, scenarios, "flow: ../flows/sign_in.yaml\nscenarios: [{name: starts, steps: [{expect: {step: key}}]}]\n")
	until, end := watched(t, "flow", "test", "--watch", scenarios)
	until("1 passed, 0 failed")
	until(waiting)
	datatest.WriteFile(t, flow, strings.ReplaceAll(keyFlow, "id: key", "id: passkey"))
	until("0 passed, 1 failed")
	until(waiting)
	datatest.WriteFile(t, scenarios, "flow: ../flows/sign_in.yaml\nscenarios: [{name: starts, steps: [{expect: {step: passkey}}]}]\n")
	until("1 passed, 0 failed")
	end()
}

// Standard input cannot be watched.
func TestWatchNeedsFiles(t *testing.T) {
	if code, output := runProgram(t, nil, "flow", "check", "--watch", "-"); code != exitUsage || !strings.Contains(output, "--watch watches files") {
		t.Errorf("exit code %d: %s", code, output)
	}
}
