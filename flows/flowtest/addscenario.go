package flowtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/postern-id/postern/schemas"
)

// FirstFile is the start of a scenario file for a flow that has none: a user with a password and a
// passkey.
const FirstFile = `users:
  ada: {attributes: {username: ada, email: ada@example.org, email_verified: true}, password: a long password, passkeys: [laptop]}
`

// HasScenarios reports whether the text of a scenario file has a list of scenarios, or cannot be parsed.
func HasScenarios(file []byte) bool {
	if isBlank(string(file)) {
		return false
	}
	doc, problems := schemas.ParseYAML(file)
	return len(problems) > 0 || !doc.IsObject() || len(doc.ItemsAt("scenarios")) > 0
}

// WithUsers returns the text of a scenario file; that of FirstFile for one without any content.
func WithUsers(file []byte) string {
	if isBlank(string(file)) {
		return FirstFile
	}
	return string(file)
}

// AddScenario adds a scenario, as Player.Scenario returns it, to the text of a scenario file as the
// last one. Everything else stays as it is, comments included. The error reports a file that is not
// valid YAML, that has a scenario of the same name, or whose list is in flow style ([…]).
func AddScenario(file []byte, scenario string) ([]byte, error) {
	if isBlank(string(file)) {
		file = append(slices.Clone(file), FirstFile...)
	}
	before, problems := schemas.ParseYAML(file)
	if len(problems) > 0 {
		return nil, errors.New(problems[0].String())
	}
	added, problems := schemas.ParseYAML([]byte("scenarios:\n" + scenario))
	if len(problems) > 0 {
		return nil, errors.New(problems[0].String())
	}
	name := added.TextAt("scenarios[0].name")
	if hasScenario(before, name) {
		return nil, fmt.Errorf("the file has a scenario %q; choose another name", name)
	}
	changed, err := insertScenario(file, scenario)
	if err != nil {
		return nil, err
	}
	after, problems := schemas.ParseYAML(changed)
	if len(problems) > 0 || !extends(before, after, added) {
		return nil, errors.New("the list of scenarios has a form that cannot be extended; expected a block list, such as\nscenarios:\n" + scenario)
	}
	return changed, nil
}

func hasScenario(file *schemas.Document, name string) bool {
	list := file.At("scenarios")
	if list == nil {
		return false
	}
	items, _ := list.Items()
	return slices.ContainsFunc(items, func(s *schemas.Document) bool { return s.TextAt("name") == name })
}

// extends reports whether a file has the meaning of another and one more scenario.
func extends(before, after, added *schemas.Document) bool {
	var was, is, more map[string]any
	for doc, members := range map[*schemas.Document]*map[string]any{before: &was, after: &is, added: &more} {
		if json.Unmarshal(doc.JSON(), members) != nil {
			return false
		}
	}
	list, _ := was["scenarios"].([]any)
	was["scenarios"] = append(slices.Clone(list), more["scenarios"].([]any)...)
	return bytes.Equal(encode(was), encode(is))
}

func encode(members map[string]any) []byte {
	text, _ := json.Marshal(members) // it was JSON
	return text
}

// insertScenario inserts the lines of a scenario at the end of the list of scenarios.
func insertScenario(file []byte, scenario string) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(file, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("expected an object with the members of a scenario file")
	}
	if crlf := []byte("\r\n"); bytes.Contains(file, crlf) {
		changed, err := insertScenario(bytes.ReplaceAll(file, crlf, []byte("\n")), scenario)
		return bytes.ReplaceAll(changed, []byte("\n"), crlf), err
	}
	lines := strings.Split(strings.TrimRight(string(file), "\n"), "\n")
	list := findList(doc.Content[0].Content)
	last := lastLine(lines, list.next)
	text := strings.TrimRight(indentScenario(scenario, list.indent), "\n")
	switch {
	case !list.found:
		text = "scenarios:\n" + text
	case list.isEmpty:
		lines[list.line-1] = "scenarios:"
		last = list.line
	}
	return []byte(strings.Join(slices.Insert(lines, last, text), "\n") + "\n"), nil
}

// scenarioList is where the list of scenarios is in a text. Lines count from 1.
type scenarioList struct {
	found, isEmpty bool
	line           int // of its name
	next           int // the line of the next member, 0 if there is none
	indent         int
}

func findList(members []*yaml.Node) scenarioList {
	list := scenarioList{indent: 2}
	for i := 0; i+1 < len(members); i += 2 {
		name, value := members[i], members[i+1]
		switch {
		case list.found && list.next == 0:
			list.next = name.Line
		case name.Value == "scenarios":
			list.found, list.line, list.isEmpty = true, name.Line, len(value.Content) == 0
			if !list.isEmpty {
				list.indent = value.Column - 1
			}
		}
	}
	return list
}

// lastLine returns the number of the last line before the line of the next member, or of the file,
// that is neither empty nor a comment about what follows.
func lastLine(lines []string, next int) int {
	last := len(lines)
	if next > 0 {
		last = next - 1
	}
	for last > 0 {
		line := strings.TrimRight(lines[last-1], " \t")
		if line != "" && line != "..." && !strings.HasPrefix(line, "#") {
			break
		}
		last--
	}
	return last
}

// indentScenario indents a scenario, which is indented by two spaces, as the list demands.
func indentScenario(scenario string, indent int) string {
	var b strings.Builder
	for line := range strings.Lines(scenario) {
		b.WriteString(strings.Repeat(" ", indent) + strings.TrimPrefix(line, "  "))
	}
	return b.String()
}
