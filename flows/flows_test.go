package flows_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// Every built-in flow is proven safe. Only those for recovery and invitations have waivers, one for each
// node that adds a credential: there a mail has to be enough.
func TestBuiltinFlowsCompile(t *testing.T) {
	list, err := flows.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	handles := map[string]bool{}
	waivers := map[string]int{"forgotten-password": 1, "lost-passkey": 2, "invitation": 2}
	for _, f := range list {
		g, problems := engine.Compile(&f, nodes.Kinds(nodes.Deps{}))
		waived := slices.DeleteFunc(problems, func(p schemas.Problem) bool { return p.Warning && p.Rule == engine.RuleChain })
		if g == nil || len(waived) > 0 || len(f.Waive) != waivers[f.Handle] {
			t.Errorf("%s: %v", f.Handle, problems)
		}
		key := string(f.FlowType) + " " + f.Handle
		if handles[key] {
			t.Errorf("there are two flows %s", key)
		}
		handles[key] = true
	}
	if len(list) < 6 {
		t.Errorf("there are %d built-in flows", len(list))
	}
}

// The scenarios of each built-in flow, and of the flows in testdata with scenarios, pass and
// reach every outcome of every node.
func TestFlowsByScenario(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*_test.yaml", "testdata/scenarios/*_test.yaml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatal(paths, err)
		}
		files = append(files, paths...)
	}
	for _, path := range files {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			playAll(t, path)
		})
	}
}

// Every built-in flow has scenarios.
func TestBuiltinFlowsHaveScenarios(t *testing.T) {
	for _, path := range datatest.Glob(t, "*.yaml") {
		if !flows.IsFlow(path) {
			continue
		}
		if _, err := os.Stat(flows.ScenariosOf(path)); err != nil {
			t.Error(err)
		}
	}
}

// neverReached are outcomes that no run takes, although the analysis cannot exclude them: a user
// who is new, or who has just set up an app or used a code, has nothing to keep.
func neverReached() map[string][]string {
	return map[string][]string{
		"code_as_second_factor_test.yaml": {"codes kept"},
		"lost_passkey_test.yaml":          {"codes kept"},
		"sign_up_with_app_test.yaml":      {"app kept", "codes kept"},
		// the condition has tested that there is an app
		"step_up_for_administrators_test.yaml": {"code none"},
	}
}

func playAll(t *testing.T, path string) {
	t.Helper()
	f, err := flowtest.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	report, err := f.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results {
		if r.Failure != nil {
			t.Errorf("%s\n%s", r.Name, r.Failure.Text(path))
		}
	}
	for _, missed := range report.Coverage.Missed() {
		if !slices.Contains(neverReached()[filepath.Base(path)], missed) {
			t.Errorf("no scenario reaches %s", missed)
		}
	}
}

// versions is a source with one flow in two versions.
type versions struct {
	flows []schemas.Flow
	asked int
}

func (v *versions) ActiveVersion(_ context.Context, id string) (int, error) {
	if id != "f" {
		return 0, schemas.Errorf(schemas.NotFound, schemas.CodeFlowNotFound, "there is no flow %q", id)
	}
	return len(v.flows), nil
}

func (v *versions) FlowVersion(_ context.Context, id string, version int) (*schemas.Flow, error) {
	v.asked++
	if id != "f" || version > len(v.flows) {
		return nil, schemas.Errorf(schemas.NotFound, schemas.CodeFlowNotFound, "there is no flow %q version %d", id, version)
	}
	f := v.flows[version-1]
	f.ID, f.ActiveVersion = "f", version
	return &f, nil
}

func flowThatShows(title string) schemas.Flow {
	return schemas.Flow{Handle: "f", Name: title, FlowType: schemas.Registration, Nodes: []schemas.Node{
		{ID: "q", Use: "prompt", With: []byte(`{"title":"` + title + `","actions":[{"ref":"go"}]}`), Next: schemas.Next{To: schemas.End}},
	}}
}

func TestCatalog(t *testing.T) {
	ctx := context.Background()
	source := &versions{flows: []schemas.Flow{flowThatShows("one")}}
	c := flows.NewCatalog(source, nodes.Kinds(nodes.Deps{}))
	first, err := c.Active(ctx, "f")
	if err != nil || first.Flow().Name != "one" {
		t.Fatal(first, err)
	}
	source.flows = append(source.flows, flowThatShows("two"))
	if second, err := c.Active(ctx, "f"); err != nil || second.Flow().Name != "two" {
		t.Errorf("the active version is %v, %v", second, err)
	}
	asked := source.asked
	if again, err := c.Graph(ctx, "f", 1); err != nil || again != first || source.asked != asked {
		t.Errorf("version 1 was compiled again: %v, %v", again, err)
	}
	if _, err := c.Active(ctx, "g"); !schemas.HasCode(err, schemas.CodeFlowNotFound) {
		t.Errorf("a flow that does not exist: %v", err)
	}
	source.flows = append(source.flows, schemas.Flow{Handle: "f", FlowType: schemas.Authentication, Nodes: []schemas.Node{{ID: "done", Use: "authorization-code"}}})
	var refused *schemas.Error
	if g, err := c.Active(ctx, "f"); err == nil || errors.As(err, &refused) || !strings.Contains(err.Error(), engine.RuleUnauthenticated) {
		t.Errorf("a stored flow that is not safe: %v, %v, want an internal error", g, err)
	}
}

// Editors suggest the members that authors write, and not those that only the server sets.
func TestSchemaSuggests(t *testing.T) {
	text, err := flows.Schema(nodes.Kinds(nodes.Deps{}))
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]struct{ ReadOnly, DoNotSuggest bool }
	}
	datatest.Unmarshal(t, text, &schema)
	if p := schema.Properties; !p["createdAt"].DoNotSuggest || p["handle"].DoNotSuggest {
		t.Errorf("suggested are %+v", p)
	}
	for name, p := range schema.Properties {
		if p.ReadOnly != p.DoNotSuggest {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
