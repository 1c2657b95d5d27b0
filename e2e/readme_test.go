package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// fencedBlocks returns the fenced blocks of a page in a language.
func fencedBlocks(t *testing.T, page, language string) []string {
	t.Helper()
	text := datatest.ReadFile(t, filepath.Join("..", page))
	var blocks []string
	for _, found := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, found[1])
	}
	return blocks
}

// The curl lines of docs/quickstart.md work as they are printed there.
func TestQuickstartCurlLines(t *testing.T) {
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			missingFrom(t, "%s is not installed", tool)
		}
	}
	p := serveAt(t, "http", "localhost")
	var script string
	for _, block := range fencedBlocks(t, "docs/quickstart.md", "sh") {
		if strings.Contains(block, "curl") {
			script += strings.ReplaceAll(block, "http://localhost:8090", p.base)
		}
	}
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "ADMIN_PASSWORD="+adminPassword)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{`"flowStatus":"COMPLETE"`, `"assertion":"`, `"publicKeyCredentialRequestOptions"`, `"sessionToken"`, `"status":"UP"`,
		`"clientSecret":"`, `"access_token":"`, `"scope":"system:applications:read"`, `"totalResults":6`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// The flow and the scenarios of docs/first-flow.md pass, and its mistake is reported as shown.
func TestFirstFlow(t *testing.T) {
	blocks := fencedBlocks(t, "docs/first-flow.md", "yaml")
	if len(blocks) < 2 {
		t.Fatalf("%d blocks of YAML", len(blocks))
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"good/sign_in.yaml": blocks[0], "good/sign_in_test.yaml": blocks[1],
		"bad/sign_in.yaml": strings.ReplaceAll(blocks[0], "failure: who", "failure: done"),
	} {
		datatest.WriteFile(t, filepath.Join(dir, name), text)
	}
	run := func(folder string, args ...string) string {
		path := binary(t)
		cmd := exec.Command(path, args...)
		cmd.Dir = filepath.Join(dir, folder)
		out, _ := cmd.CombinedOutput() // the output below includes the exit code
		return string(out)
	}
	reported := strings.Join(fencedBlocks(t, "docs/first-flow.md", "text"), "")
	for _, got := range []string{
		run("good", "flow", "check", "sign_in.yaml"),
		run("bad", "flow", "check", "sign_in.yaml"),
		run("good", "flow", "test", "sign_in_test.yaml"),
	} {
		if first, _, _ := strings.Cut(got, "\n"); !strings.Contains(reported, first) {
			t.Errorf("docs/first-flow.md does not show %q", got)
		}
	}
}
