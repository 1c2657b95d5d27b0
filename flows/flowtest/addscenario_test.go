package flowtest_test

import (
	"strings"
	"testing"

	"github.com/postern-id/postern/flows/flowtest"
)

const addedScenario = "  - name: new\n    steps:\n      - expect: {step: key}\n      # To do\n"

func TestAddScenario(t *testing.T) {
	flat := strings.ReplaceAll(addedScenario[2:], "\n  ", "\n")
	for name, tt := range map[string]struct{ file, want string }{
		"no file":        {"", flowtest.FirstFile + "scenarios:\n" + addedScenario},
		"only a comment": {"# Ada.\n", "# Ada.\n" + flowtest.FirstFile + "scenarios:\n" + addedScenario},
		"no list":        {"users: {}\n# The end.\n", "users: {}\nscenarios:\n" + addedScenario + "# The end.\n"},
		"an empty list":  {"scenarios: [] # none\nusers: {}\n", "scenarios:\n" + addedScenario + "users: {}\n"},
		"a null list":    {"users: {}\nscenarios:\n", "users: {}\nscenarios:\n" + addedScenario},
		"a list": {"scenarios:\n  # First.\n  - {name: a, steps: [{}]} # one\n\n# Users.\nusers: {}\n",
			"scenarios:\n  # First.\n  - {name: a, steps: [{}]} # one\n" + addedScenario + "\n# Users.\nusers: {}\n"},
		"a draft at the end": {"scenarios:\n  - name: a\n    steps:\n      - {}\n      # To do\n", "scenarios:\n  - name: a\n    steps:\n      - {}\n      # To do\n" + addedScenario},
		"no indentation":     {"scenarios:\n- {name: a, steps: [{}]}", "scenarios:\n- {name: a, steps: [{}]}\n" + flat},
		"another indentation": {"scenarios:\n    - {name: a, steps: [{}]}\n",
			"scenarios:\n    - {name: a, steps: [{}]}\n" + "  " + strings.ReplaceAll(strings.TrimSuffix(addedScenario, "\n"), "\n", "\n  ") + "\n"},
		"CRLF": {"scenarios:\r\n  - {name: a, steps: [{}]}\r\n", "scenarios:\r\n  - {name: a, steps: [{}]}\r\n" + strings.ReplaceAll(addedScenario, "\n", "\r\n")},
		"an end marker": {"scenarios:\n  - {name: a, steps: [{}]}\n...\n",
			"scenarios:\n  - {name: a, steps: [{}]}\n" + addedScenario + "...\n"},
	} {
		got, err := flowtest.AddScenario([]byte(tt.file), addedScenario)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v, got\n%s\nexpected\n%s", name, err, got, tt.want)
		}
	}
	for name, tt := range map[string]struct{ file, want string }{
		"the same name": {"scenarios:\n  - {name: new, steps: [{}]}\n", `the file has a scenario "new"`},
		"flow style":    {"scenarios: [{name: a, steps: [{}]}]\n", "expected a block list"},
		"one object":    {"{users: {}}\n", "expected a block list"},
		"no YAML":       {"scenarios: [\n", "1:1"},
		"a list alone":  {"- a\n", "expected an object"},
	} {
		if got, err := flowtest.AddScenario([]byte(tt.file), addedScenario); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %s; expected %s", name, err, got, tt.want)
		}
	}
}
