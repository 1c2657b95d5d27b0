package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// accident is a public accident of another product, and what Postern does about it.
type accident struct {
	ID      string `json:"id"`
	Product string `json:"product"` // and its affected versions, as far as the source names them
	Source  string `json:"source"`
	What    string `json:"what"`
	Here    string `json:"here"`
	// Flow has the nodes of a flow that repeats the mistake. Rule rejects it.
	Flow       string          `json:"flow"`
	Guarantees json.RawMessage `json:"guarantees"`
	Rule       string          `json:"rule"`
	// Tests attack Postern in the same way.
	Tests []string `json:"tests"`
}

func readAccidents(t *testing.T) (list []accident) {
	t.Helper()
	text := datatest.ReadFile(t, "testdata/accidents.yaml")
	document, problems := schemas.ParseYAML(text)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if problems := document.Decode(nil, &list); len(problems) > 0 {
		t.Fatal(problems)
	}
	return list
}

// TestAccidents repeats accidents of other products: the flows are rejected by the rules that
// docs/accidents.md names, and the tests that it names exist. The page is up to date.
func TestAccidents(t *testing.T) {
	list, exists := readAccidents(t), testNames(t)
	for _, a := range list {
		if a.Flow == "" && len(a.Tests) == 0 || (a.Flow == "") != (a.Rule == "") {
			t.Errorf("%s: expected a flow and its rule, or tests", a.ID)
		}
		for _, name := range a.Tests {
			if !exists[name] {
				t.Errorf("%s: there is no test %s", a.ID, name)
			}
		}
		if a.Flow != "" {
			a.checkFlow(t)
		}
	}
	const page = "../../docs/accidents.md"
	want := accidentsPage(list)
	if *updateDocs {
		datatest.WriteFile(t, page, want)
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("%s is out of date (%v): run go test ./cmd/postern -run Accidents -update-docs", page, err)
	}
	if len(list) < 30 {
		t.Errorf("only %d accidents", len(list))
	}
}

// checkFlow checks that the rule rejects the flow, and that all its findings are of rules that
// prove something: a misspelled flow shows nothing.
func (a accident) checkFlow(t *testing.T) {
	t.Helper()
	text := "handle: accident\nname: Accident\nflowType: AUTHENTICATION\n"
	if a.Guarantees != nil {
		text += "guarantees: " + string(a.Guarantees) + "\n"
	}
	_, g, problems := engine.Check([]byte(text+"nodes:\n"+a.Flow), true, nodes.Kinds(nodes.Deps{}))
	rejected := false
	for _, p := range problems {
		rejected = rejected || p.Rule == a.Rule
		switch p.Rule {
		case "takeover", "unauthenticated", "guarantee", "session", "chain", "conceal", "reveal":
		default:
			t.Errorf("%s: %s", a.ID, p)
		}
	}
	if g != nil || !rejected {
		t.Errorf("%s: expected a finding of the rule %s, got %v", a.ID, a.Rule, problems)
	}
}

// testNames lists the tests of the module.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
	names := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range function.FindAllStringSubmatch(string(text), -1) {
			names[found[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func accidentsPage(list []accident) string {
	var b strings.Builder
	b.WriteString(`# Accidents of other identity servers

Public security accidents in sign-in logic, and what Postern does about each. Every row is checked:
the rule rejects a flow that repeats the mistake, or the named tests attack Postern in the same way.
The flows are in [testdata/accidents.yaml](../cmd/postern/testdata/accidents.yaml);
` + "`go test ./cmd/postern -run Accidents -update-docs`" + ` writes this page. The facts are those of the
linked sources.

| accident | what happened | what Postern does | checked by |
|---|---|---|---|
`)
	for _, a := range list {
		var checks []string
		if a.Rule != "" {
			checks = append(checks, fmt.Sprintf("rule [%s](rules.md#%[1]s)", a.Rule))
		}
		for _, name := range a.Tests {
			checks = append(checks, "`"+name+"`")
		}
		fmt.Fprintf(&b, "| [%s](%s), %s | %s | %s | %s |\n", a.ID, a.Source, a.Product, a.What, a.Here, strings.Join(checks, ", "))
	}
	return b.String()
}
