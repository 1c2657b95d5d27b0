package examples_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// connectPages returns the pages of docs/connect by name, with the index.
func connectPages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("../docs/connect/*.md")
	if err != nil || len(names) < 15 {
		t.Fatalf("%d pages, %v", len(names), err)
	}
	pages := map[string]string{}
	for _, name := range append(names, "../docs/connect.md", "README.md") {
		text := datatest.ReadFile(t, name)
		pages[name] = string(text)
	}
	return pages
}

// The code that pages show from an example is the code of the example, which e2e runs.
func TestConnectPagesShowTheExamples(t *testing.T) {
	shown := regexp.MustCompile("(?ms)^From \\[`(examples/[^`]+)`\\]\\([^)]*\\):\\n\\n```\\w+\\n(.*?)\\n```$")
	excerpts := map[string]int{}
	for name, text := range connectPages(t) {
		for _, found := range shown.FindAllStringSubmatch(text, -1) {
			source, err := os.ReadFile(filepath.Join("..", found[1]))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			excerpts[found[1]]++
			for part := range strings.SplitSeq(found[2], "\n\n") {
				if part = strings.Trim(part, "\n"); !strings.Contains("\n"+string(source)+"\n", "\n"+part+"\n") {
					t.Errorf("%s: %s does not contain\n%s", name, found[1], part)
				}
			}
		}
		if strings.Count(text, "\nFrom [`") != len(shown.FindAllString(text, -1)) {
			t.Errorf("%s: after a line that begins with From, expected a code block", name)
		}
	}
	for _, file := range []string{"go-web/main.go", "go-api/main.go", "go-api/introspect.go", "mcp-client/main.go", "node/openid-client.mjs", "node/passport.mjs",
		"node/auth-js.mjs", "python/app.py", "python/fast.py", "plain-js/app.js", "react/redirect/main.tsx"} {
		if excerpts["examples/"+file] == 0 {
			t.Errorf("no page shows examples/%s", file)
		}
	}
}

// Every page has the same parts, and its links lead to files.
func TestConnectPagesAreComplete(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^):#]+)(#[^)]*)?\)`)
	for name, text := range connectPages(t) {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), found[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if filepath.Dir(name) != "../docs/connect" {
			continue
		}
		for _, part := range []string{"\n## Register\n", "\n## Try it\n", "\n## What to know\n", "\n## Sign out\n", "\n---\n", "postern app create "} {
			if !strings.Contains(text, part) {
				t.Errorf("%s has no %q", name, strings.TrimSpace(part))
			}
		}
		if !strings.Contains(connectPages(t)["../docs/connect.md"], "(connect/"+filepath.Base(name)+")") {
			t.Errorf("docs/connect.md does not list %s", name)
		}
	}
}

// The examples are meant to be read.
func TestExamplesAreShort(t *testing.T) {
	var paths []string
	for _, pattern := range []string{"go-*/*.go", "mcp-client/*.go", "node/*.mjs", "python/*.py", "plain-js/*", "gitops/*.sh"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		paths = append(paths, found...)
	}
	for _, path := range paths {
		text := datatest.ReadFile(t, path)
		if lines := strings.Count(string(text), "\n"); lines > 150 {
			t.Errorf("%s has %d lines; keep it below 150", path, lines)
		}
	}
}
