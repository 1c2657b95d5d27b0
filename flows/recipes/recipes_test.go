package recipes

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

var update = flag.Bool("update", false, "rewrite docs/recipes.md")

// Each recipe compiles without an error, its handle is its name, and its scenarios pass.
func TestRecipes(t *testing.T) {
	if len(All()) < 12 {
		t.Errorf("%d recipes", len(All()))
	}
	for _, r := range All() {
		t.Run(r.Name, func(t *testing.T) {
			flow, graph, problems := engine.Check(r.Flow, true, nodes.Kinds(nodes.Deps{}))
			if graph == nil || flow.Handle != r.Name {
				t.Fatalf("the handle is %q: %v", flow.Handle, problems)
			}
			for _, p := range problems {
				if !p.Warning || !strings.Contains(p.Message, "(waived: ") {
					t.Error(p)
				}
			}
			suite := flowtest.Runner{}.RunFiles(t.Context(), []string{filepath.Join("../..", flows.ScenariosOf(r.Path))})
			if suite[0].Err != nil {
				t.Fatal(suite[0].Err)
			}
			report := suite[0].Report
			if len(report.Results) == 0 {
				t.Error("no scenarios")
			}
			for _, result := range report.Results {
				if !result.Passed {
					t.Errorf("%s: %v", result.Name, strings.Join(result.Transcript, "\n"))
				}
			}
		})
	}
}

// Every flow in the folder is a recipe.
func TestAllFilesAreRecipes(t *testing.T) {
	for _, name := range datatest.Glob(t, "*.yaml") {
		if flows.IsScenarios(name) {
			continue
		}
		if _, err := Find(strings.ReplaceAll(strings.TrimSuffix(name, ".yaml"), "_", "-")); err != nil {
			t.Error(err)
		}
	}
}

func TestFindSuggestsNames(t *testing.T) {
	for name, want := range map[string]string{
		"terms-of-servise": `there is no recipe "terms-of-servise"; did you mean "terms-of-service"?`,
		"frobnicate":       "there is no recipe \"frobnicate\"; `postern flow new --list` lists them",
	} {
		if _, err := Find(name); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// docs/recipes.md is up to date.
func TestPage(t *testing.T) {
	want, err := Page()
	if err != nil {
		t.Fatal(err)
	}
	const file = "../../docs/recipes.md"
	if *update {
		datatest.WriteFile(t, file, want)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s is not what the recipes describe (%v); run go test ./flows/recipes -update", file, err)
	}
}

// The page about second factors shows the recipe as it is, and its condition lists each class that a
// password does not satisfy.
func TestStepUpIsDocumented(t *testing.T) {
	r, err := Find("step-up")
	if err != nil {
		t.Fatal(err)
	}
	page := datatest.ReadFile(t, "../../docs/second-factors.md")
	_, flow, _ := strings.Cut(string(r.Flow), "\n") // without the line for editors
	if !strings.Contains(string(page), "```yaml\n"+flow+"```\n") {
		t.Error("docs/second-factors.md does not show flows/recipes/step_up.yaml without its first line")
	}
	for _, name := range []string{"step-up", "step-up-for-administrators"} {
		r, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		_, list, _ := strings.Cut(string(r.Flow), "c in [")
		list, _, _ = strings.Cut(list, "]")
		for _, class := range schemas.ACRs() {
			if listed := strings.Contains(list, `"`+class+`"`); listed == schemas.Satisfies(schemas.ACRPassword, class) {
				t.Errorf("%s: the condition lists %s: %v", name, class, listed)
			}
		}
	}
}
