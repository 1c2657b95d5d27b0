package flowtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// checkNames finds names that the file does not define, scenarios with the same name, and
// members without an effect.
func (f *File) checkNames() []schemas.Problem {
	problems := f.checkReferences("there is no user", slices.Sorted(maps.Keys(f.Users)),
		"scenarios.consents.*", "scenarios.steps.send.passkey.as", "scenarios.steps.send.meanwhile.*", "scenarios.steps.expect.user",
		"scenarios.steps.expect.events.user", "scenarios.steps.expect.identities.*", "scenarios.steps.expect.passkeys.*")
	first := map[string]int{}
	for i, s := range f.Scenarios {
		if before, taken := first[s.Name]; taken {
			line, _ := f.place(scenarioPath(before))
			problems = append(problems, problem(scenarioPath(i)+".name", "the scenario on line %d has the same name", line))
		} else {
			first[s.Name] = i
		}
		for j, x := range s.Steps {
			if like := x.Expect.like(); like > j {
				problems = append(problems, problem(stepPath(i, j)+".expect.like", "this is step %d; expected the number of one before it, got %d", j+1, like))
			}
			problems = append(problems, x.Send.check(stepPath(i, j)+".send", j == 0)...)
		}
	}
	return problems
}

// checkGraphNames finds names that the flow does not have. A misspelled name of a provider
// or service would have no effect, and the scenario would test something else than intended.
func (f *File) checkGraphNames(g *engine.Graph) []schemas.Problem {
	var ids, providers, targets []string
	for _, n := range g.Nodes() {
		ids = append(ids, n.ID)
		var with struct{ Provider, Target string }
		_ = json.Unmarshal(n.Config, &with) // a node can have no configuration
		switch n.Kind {
		case "federated-oidc":
			providers = append(providers, with.Provider)
		case "http-request":
			targets = append(targets, with.Target)
		}
	}
	return slices.Concat(
		f.checkReferences("the flow has no node", ids, "scenarios.steps.expect.step"),
		f.checkReferences("the flow names no identity provider", providers, "scenarios.down", "scenarios.steps.expect.provider"),
		f.checkReferences("the flow names no target", targets, "scenarios.http.*"))
}

// checkReferences finds names in the file that are not known. A pattern is a path of
// members without the indexes of lists; "*" stands for the names of an object's members.
func (f *File) checkReferences(missing string, known []string, patterns ...string) (problems []schemas.Problem) {
	var file any
	_ = json.Unmarshal(f.doc.JSON(), &file) // it has been decoded before
	for _, pattern := range patterns {
		visitNames(file, "", strings.Split(pattern, "."), func(path, name string) {
			if !slices.Contains(known, name) {
				problems = append(problems, problem(path, "%s %q%s", missing, name, schemas.Hint(name, known)))
			}
		})
	}
	return problems
}

// visitNames calls visit with each name at a pattern below a value, and its path.
func visitNames(value any, path string, pattern []string, visit func(path, name string)) {
	switch v := value.(type) {
	case string:
		if len(pattern) == 0 {
			visit(path, v)
		}
	case []any:
		for i, item := range v {
			visitNames(item, itemPath(path, i), pattern, visit)
		}
	case map[string]any:
		switch {
		case len(pattern) == 0:
		case pattern[0] == "*":
			for _, name := range slices.Sorted(maps.Keys(v)) {
				visit(schemas.MemberPath(path, name), name)
			}
		case v[pattern[0]] != nil:
			visitNames(v[pattern[0]], schemas.MemberPath(path, pattern[0]), pattern[1:], visit)
		}
	}
}

// check finds members that have no effect in combination with others.
func (s Send) check(at string, first bool) (problems []schemas.Problem) {
	without := func(where string, object any, why string, allowed ...string) {
		members, _ := toJSON(object).(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if !slices.Contains(allowed, name) {
				problems = append(problems, problem(where+"."+name, "%s", why))
			}
		}
	}
	switch {
	case first:
		without(at, s, "the first step starts the run and answers nothing; inputs of the start belong in the scenario's `start`", "after", "elsewhere", "meanwhile")
	case s.Resume:
		without(at, s, "a step with resume requests the step again and cannot answer it", "after", "elsewhere", "meanwhile", "resume")
	}
	const again = "a replayed answer (replay) cannot be changed"
	if s.Federated != nil && s.Federated.Replay {
		without(at+".federated", s.Federated, again, "replay")
	}
	if s.Passkey != nil && s.Passkey.Replay {
		without(at+".passkey", s.Passkey, again, "replay", "device")
	}
	return problems
}

func problem(path, format string, args ...any) schemas.Problem {
	return schemas.Problem{Path: path, Message: fmt.Sprintf(format, args...)}
}

func scenarioPath(i int) string { return itemPath("scenarios", i) }

func stepPath(i, j int) string { return itemPath(scenarioPath(i)+".steps", j) }

func itemPath(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
