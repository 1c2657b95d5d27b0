package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// snippet is a fenced block of a page.
type snippet struct {
	page, language, file string // file is the name in "yaml file=door.yaml"
	line                 int
	text                 string
	isExcerpt            bool   // of an example: a test in examples compares it with the file
	flow                 string // the last flow above it on the page
}

var fence = regexp.MustCompile("(?ms)^( *)```([^\\n]*)\\n(.*?)^ *```[ ]*$")

// pagesOfDocs returns the pages with snippets, by their names in the repository.
func pagesOfDocs(t *testing.T) (names []string) {
	t.Helper()
	names = []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md"}
	err := filepath.WalkDir("../../docs", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			names = append(names, strings.TrimPrefix(filepath.ToSlash(path), "../../"))
		}
		return err
	})
	if err != nil || len(names) < 50 {
		t.Fatalf("%d pages, %v", len(names), err)
	}
	return names
}

// snippetsOf returns the fenced blocks of a page.
func snippetsOf(page, text string) (list []snippet) {
	flow := ""
	for _, at := range fence.FindAllStringSubmatchIndex(text, -1) {
		info := strings.Fields(text[at[4]:at[5]])
		s := snippet{page: page, line: strings.Count(text[:at[0]], "\n") + 1, flow: flow}
		if len(info) > 0 {
			s.language = info[0]
		}
		for _, word := range info {
			if file, found := strings.CutPrefix(word, "file="); found {
				s.file = file
			}
		}
		indent := text[at[2]:at[3]]
		s.text = strings.ReplaceAll("\n"+text[at[6]:at[7]], "\n"+indent, "\n")[1:]
		before := strings.TrimRight(text[:at[0]], "\n")
		s.isExcerpt = strings.HasPrefix(before[strings.LastIndexByte(before, '\n')+1:], "From [`examples/")
		if s.language == "yaml" && strings.Contains("\n"+s.text, "\nhandle: ") {
			flow = s.text
		}
		list = append(list, s)
	}
	return list
}

// foreign lists the blocks of YAML that are no files of Postern, by their page and their first
// member, with the program that reads them.
func foreign() map[string]string {
	return map[string]string{
		"docs/connect/argocd.md # The redirect URI is https":  "Argo CD",
		"docs/connect/argocd.md apiVersion":                   "Argo CD",
		"docs/connect/forward-auth.md http":                   "Traefik",
		"docs/connect/java.md spring":                         "Spring Boot",
		"docs/connect/jenkins.md # The redirect URI is https": "Jenkins",
		"docs/connect/kubernetes.md apiVersion":               "Kubernetes",
		"docs/flows.md name":                                  "GitHub Actions",
		"docs/flows.md repos":                                 "pre-commit",
	}
}

// uncheckedLanguages lists the languages of blocks that this test does not read, with the reason.
func uncheckedLanguages() map[string]string {
	return map[string]string{
		"":        "usage lines, which TestCommandLineDocs compares, and header fields",
		"text":    "output, which TestFirstFlow in e2e and the tests of the pages compare",
		"mermaid": "drawings, which TestPage in flows/recipes compares",
		"js":      "excerpts of examples, which e2e runs", "tsx": "excerpts of examples, which e2e runs", "python": "excerpts of examples, which e2e runs",
		"ts":     "an excerpt, and a line for React",
		"csharp": "needs .NET", "java": "needs Java", "kotlin": "needs Android", "swift": "needs Xcode", "php": "needs PHP",
		"elisp": "needs Emacs", "lua": "needs Neovim", "toml": "needs Helix or oauth2-proxy", "ini": "needs Gitea, Grafana or PgBouncer",
		"html": "a page whose script e2e runs", "caddy": "needs Caddy", "nginx": "needs nginx", "apache": "needs Apache",
	}
}

// Every fenced block of the documentation is valid: flows, scenarios, configurations and resources in
// YAML, JSON, Go, and the postern commands of shell lines.
func TestSnippets(t *testing.T) {
	sequential(t)
	checks := map[string]func(*testing.T, snippet) error{
		"yaml": checkYAML, "json": checkJSON, "go": checkGo, "sh": checkShell, "console": checkShell,
	}
	unused := foreign()
	unusedLanguages := uncheckedLanguages()
	counts := map[string]int{}
	for _, page := range pagesOfDocs(t) {
		text := datatest.ReadFile(t, "../../"+page)
		for _, s := range snippetsOf(page, string(text)) {
			counts[s.language]++
			first, _, _ := strings.Cut(s.text, ":")
			if delete(unused, s.page+" "+first); foreign()[s.page+" "+first] != "" && s.language == "yaml" {
				continue
			}
			delete(unusedLanguages, s.language)
			if s.language == "sh" || s.language == "console" {
				counts["postern"] += len(posternCommands(shellLines(s)))
			}
			check := checks[s.language]
			if check == nil {
				if uncheckedLanguages()[s.language] == "" {
					t.Errorf("%s:%d: the language %q is unknown; add it to this test, or use text", s.page, s.line, s.language)
				}
				continue
			}
			if err := check(t, s); err != nil {
				t.Errorf("%s:%d: %v", s.page, s.line, err)
			}
		}
	}
	if counts["yaml"] < 70 || counts["sh"] < 55 || counts["json"] < 6 || counts["go"] < 5 || counts["postern"] < 60 {
		t.Errorf("only %v blocks were checked", counts)
	}
	for exception := range unused {
		t.Errorf("no page has the exception %s", exception)
	}
	for language := range unusedLanguages {
		t.Errorf("no page has a block in the language %q", language)
	}
}

func checkJSON(_ *testing.T, s snippet) error {
	var value any
	return json.Unmarshal([]byte(s.text), &value)
}

// checkGo parses a block as a file, as declarations, or as statements.
func checkGo(_ *testing.T, s snippet) error {
	if s.isExcerpt {
		return nil // the example is compiled
	}
	var faults []error
	for _, text := range []string{s.text, "package p\n" + s.text, "package p\nfunc f() {\n" + s.text + "\n}"} {
		_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
		if err == nil {
			return nil
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// checkYAML checks a block by its form: a flow, scenarios, a configuration, resources, or a part of a
// flow or of scenarios.
func checkYAML(t *testing.T, s snippet) error {
	if s.file != "" || s.page == "docs/rules.md" {
		return nil // TestWalkThrough runs the commands on the file; flows/rules checks each example
	}
	doc, problems := schemas.ParseYAML([]byte(s.text))
	if doc == nil {
		return fmt.Errorf("%v", problems)
	}
	const flow, scenarios = "handle: f\nname: f\nflowType: AUTHENTICATION\n", "scenarios:\n"
	members := doc.Members()
	has := func(names ...string) bool {
		return len(members) > 0 && !slices.ContainsFunc(members, func(m string) bool { return !slices.Contains(names, m) })
	}
	switch {
	case slices.Contains(members, "handle"):
		return checkFlow(s.text)
	case slices.Contains(members, "scenarios"):
		return checkScenarios(t, s)
	case has("waive", "guarantees", "requires"):
		return checkSchema("flow", flow+"nodes: [{id: key, use: passkey-authenticate}]\n"+s.text)
	case has("users"):
		if _, err := declare.ReadSeed(s.page, []byte(s.text)); err == nil {
			return nil
		}
		return checkSchema("scenario", s.text+scenarios+"  - {name: a, steps: [{}]}\n")
	case len(members) == 0 && strings.Contains(s.text, "use: "):
		return checkSchema("flow", flow+"nodes:\n"+s.text)
	case len(members) == 0:
		return checkSchema("scenario", scenarios+s.text)
	}
	if _, isResource := declare.NounOf(members[0]); isResource {
		_, err := declare.ReadSeed(s.page, []byte(s.text))
		return err
	}
	path := filepath.Join(t.TempDir(), "postern.yaml")
	datatest.WriteFile(t, path, s.text)
	_, err := config.Load(path, nil)
	return err
}

// checkFlow compiles a flow. Findings that it waives are no faults.
func checkFlow(text string) error {
	_, _, problems := engine.Check([]byte(text), true, nodes.Kinds(nodes.Deps{}))
	for _, p := range problems {
		if !strings.Contains(p.Message, "(waived: ") {
			return fmt.Errorf("%v", p)
		}
	}
	return nil
}

// checkScenarios runs scenarios on the last flow above them.
func checkScenarios(t *testing.T, s snippet) error {
	dir := t.TempDir()
	datatest.WriteFile(t, filepath.Join(dir, "flow.yaml"), s.flow)
	datatest.WriteFile(t, filepath.Join(dir, "flow_test.yaml"), s.text)
	if code, output := runProgram(t, nil, "flow", "test", dir); code != exitFine {
		return errors.New(output)
	}
	return nil
}

func checkSchema(name, text string) error {
	raw, err := schemaText(name, nodes.Kinds(nodes.Deps{}))
	if err != nil {
		return err
	}
	schema, err := schemas.CompileSchema(name, raw)
	if err != nil {
		return err
	}
	doc, problems := schemas.ParseYAML([]byte(text))
	if doc != nil {
		problems = schema.Check(doc.JSON())
	}
	if len(problems) > 0 {
		return fmt.Errorf("%v", problems)
	}
	return nil
}

// The checks find faults.
func TestSnippetChecks(t *testing.T) {
	for text, want := range map[string]string{
		"```yaml\nhandle: f\nname: f\nflowType: AUTHENTICATION\nnodes: [{id: done, use: authorization-code}]\n```": "unauthenticated",
		"```yaml\nserver: {listen_to: 1}\n```":                                                "listen_to",
		"```yaml\n- {id: a, use: passkey-authenticate, with: {mod: x}, next: done}\n```":      "mod",
		"```yaml\naplications: [{name: x}]\n```":                                              "aplications",
		"```yaml\nscenarios: [{name: x, steps: [{expect: {step: who}}]}]\n```":                "flow",
		"```yaml\n- {name: x, step: []}\n```":                                                 "step",
		"```yaml\na: [\n```":                                                                  "expected a value",
		"  ```json\n  {\"a\": }\n  ```":                                                       "invalid character",
		"```go\nfunc f( {\n```":                                                               "expected",
		"```sh\npostern flow chek flows\n```":                                                 "chek",
		"```sh\nX=1 bin/postern serve --trie && true\n```":                                    "trie",
		"```console\n$ TOKEN=$(postern tokn) true\n```":                                       "tokn",
		"```sh\ncurl -H \"Authorization: Bearer $(bin/postern token --nope)\" | cat # x\n```": "nope",
		"```sh\npostern app create A --type \\\n  wob\n```":                                   "wob",
	} {
		found := snippetsOf("page.md", text+"\n")
		if len(found) != 1 {
			t.Errorf("%s: %d blocks", text, len(found))
			continue
		}
		check := map[string]func(*testing.T, snippet) error{"yaml": checkYAML, "json": checkJSON, "go": checkGo, "sh": checkShell, "console": checkShell}[found[0].language]
		if err := check(t, found[0]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nis reported as %v, want %s", text, err, want)
		}
	}
}
