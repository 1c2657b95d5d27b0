package flowtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// externalNames are the names of external services that a flow uses.
type externalNames struct{ providers, targets []string }

func externalNamesOf(g *engine.Graph) (e externalNames) {
	for _, n := range g.Nodes() {
		var with struct{ Provider, Target string }
		if json.Unmarshal(n.Config, &with) != nil {
			continue // the node has no configuration
		}
		switch n.Kind {
		case "federated-oidc":
			e.providers = append(e.providers, with.Provider)
		case "http-request":
			e.targets = append(e.targets, with.Target)
		}
	}
	return e
}

// checkExternalNames finds identity providers that are down, and services with answers,
// that the flow does not use. A misspelled name would have no effect, and the scenario
// would test something else than intended.
func (f *File) checkExternalNames(g *engine.Graph) (problems []schemas.Problem) {
	known := externalNamesOf(g)
	check := func(path, noun, name string, known []string) {
		if !slices.Contains(known, name) {
			problems = append(problems, problem(path, "the flow names no %s %q%s", noun, name, schemas.Hint(name, known)))
		}
	}
	for i, s := range f.Scenarios {
		for j, provider := range s.Down {
			check(fmt.Sprintf("%s.down[%d]", scenarioPath(i), j), "identity provider", provider, known.providers)
		}
		for _, target := range slices.Sorted(maps.Keys(s.HTTP)) {
			check(schemas.MemberPath(scenarioPath(i)+".http", target), "target", target, known.targets)
		}
		for j, x := range s.Steps {
			if provider := x.Expect.Provider; provider != "" {
				check(stepPath(i, j)+".expect.provider", "identity provider", provider, known.providers)
			}
		}
	}
	return problems
}
