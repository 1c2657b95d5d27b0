package flowtest

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Scenario returns the run so far as a scenario: an item of the list `scenarios` in YAML, indented
// by two spaces. It expects the steps, errors, mails, audit events and the result of this run. It
// records what the flow did, right or wrong: review it.
func (p *Player) Scenario(name string) string {
	s := p.run.scenario
	s.Name = name
	members := toJSON(s).(map[string]any)
	var b strings.Builder
	b.WriteString("  - name: " + flowStyle(name) + "\n")
	for _, member := range slices.Sorted(maps.Keys(members)) {
		if member != "name" && member != "steps" {
			b.WriteString("    " + member + ": " + flowStyle(members[member]) + "\n")
		}
	}
	b.WriteString("    steps:\n")
	for i, x := range s.Steps {
		b.WriteString(p.run.describeExchange(x.Send, p.run.replies[i]))
	}
	return b.String()
}

// describeExchange returns a step of a scenario.
func (p *scenarioRun) describeExchange(s Send, r *reply) string {
	text := ""
	if send := toJSON(s).(map[string]any); len(send) > 0 {
		text += "        send: " + flowStyle(send) + "\n"
	}
	text += "        expect: " + flowStyle(p.expected(r)) + "\n"
	return "      - " + strings.TrimPrefix(text, "        ")
}

// expected returns the members to expect of a reply like this one.
func (p *scenarioRun) expected(r *reply) map[string]any {
	want := map[string]any{}
	for _, name := range []string{"step", "check", "provider", "fieldErrors", "mails", "refusal"} {
		value := r.members[name]
		if list, isList := value.([]any); value != nil && value != "" && (!isList || len(list) > 0) {
			want[name] = value
		}
	}
	if items, _ := r.members["events"].([]any); len(items) > 0 {
		want["events"] = titles(items)
	}
	switch {
	case r.declined != nil:
		want["declined"] = reason(r.declined)
	case r.refused != nil:
		want["refused"] = r.refused.Code
	case r.step.Error != nil:
		want["error"] = r.step.Error.Code
	}
	if r.step != nil && r.step.FlowStatus != schemas.Incomplete {
		want["status"] = string(r.step.FlowStatus)
	}
	p.expectAssertion(want, r.members)
	return want
}

// expectAssertion adds the user and the methods of an assertion. A user that the run has created has
// no name in the file.
func (p *scenarioRun) expectAssertion(want, members map[string]any) {
	claims, ok := members["claims"].(map[string]any)
	if !ok {
		return
	}
	user, _ := members["user"].(string)
	if _, has := p.file.Users[user]; has {
		want["user"] = user
	}
	want["claims"] = map[string]any{"amr": claims["amr"], "acr": claims["acr"]}
}

// plain matches texts that YAML reads as they are, in every place and version.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./@-]*( [A-Za-z][A-Za-z0-9_./@-]*)*$`)

// reserved matches texts that some version of YAML reads as another type.
var reserved = regexp.MustCompile(`(?i)^(true|false|yes|no|on|off|null|y|n)$`)

// flowStyle writes a value of JSON as YAML in one line.
func flowStyle(value any) string {
	switch v := toJSON(value).(type) {
	case string:
		if plain.MatchString(v) && !reserved.MatchString(v) {
			return v
		}
	case []any:
		return "[" + strings.Join(namesOf(v, flowStyle), ", ") + "]"
	case map[string]any:
		members := namesOf(slices.Sorted(maps.Keys(v)), func(name string) string { return flowStyle(name) + ": " + flowStyle(v[name]) })
		return "{" + strings.Join(members, ", ") + "}"
	}
	text, _ := json.Marshal(value) // it is JSON, which is YAML too
	return string(text)
}
