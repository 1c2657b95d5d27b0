// Package rules is the catalog of the rules for flow files: why each exists, how to fix a
// violation, and a bad and a good example. docs/rules.md and `postern flow explain` are made
// from it.
package rules

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/postern-id/postern/schemas"
)

// Scenario is the rule of scenario files: they match their schema, and everything they name
// exists, including the flow that they test. The other rules are the engine's.
const Scenario = "scenario"

// Rule documents one rule for authors.
type Rule struct {
	ID string `json:"id"`
	// Title describes in a few words what the rule finds.
	Title string `json:"title"`
	// Why describes what would go wrong, and Fix the remedy, each as a paragraph.
	Why string `json:"why"`
	Fix string `json:"fix"`
	// Bad is a YAML file that breaks only this rule. Good is the corrected file.
	Bad  string `json:"-"`
	Good string `json:"-"`
}

//go:embed rules.yaml examples/*.yaml
var files embed.FS

// All returns every rule, in the order of the documentation: from the shape of a flow to its
// proofs. Callers must not change it.
func All() []Rule { return all() }

var all = sync.OnceValue(func() []Rule {
	var list []Rule
	if err := yaml.Unmarshal([]byte(file("rules.yaml")), &list); err != nil {
		panic(fmt.Sprintf("rules: %v", err)) // the files are part of the program
	}
	for i := range list {
		r := &list[i]
		r.Bad, r.Good = file("examples/"+r.ID+"_bad.yaml"), file("examples/"+r.ID+"_good.yaml")
	}
	return list
})

func file(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("rules: %v", err))
	}
	return string(text)
}

// Find returns the rule with an ID. The error suggests a similar one.
func Find(id string) (Rule, error) {
	if i := slices.IndexFunc(All(), func(r Rule) bool { return r.ID == id }); i >= 0 {
		return All()[i], nil
	}
	var ids []string
	for _, r := range All() {
		ids = append(ids, r.ID)
	}
	hint := cmp.Or(schemas.Hint(id, ids), "; `postern flow explain --list` lists them")
	return Rule{}, fmt.Errorf("there is no rule %q%s", id, hint)
}
