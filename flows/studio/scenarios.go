package studio

import (
	"regexp"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/schemas"
)

// CompleteScenarios returns the members and values that can stand at a place of a scenario file for a
// flow.
func (s *Studio) CompleteScenarios(c Cursor, flow Source) (*Completions, error) {
	o := outlineAt(c.Text, nil, c.Line, c.Column)
	at := schemaAt(decodeSchema(flowtest.SchemaWithoutTables()), o.path)
	var options []Completion
	if o.inValue {
		options = append(s.scenarioNames(&o, c.Text, flow), at.values()...)
	} else {
		options = append(s.scenarioMembers(&o, c.Text, flow), at.members()...)
	}
	return &Completions{Typed: o.word, Options: append([]Completion{}, options...)}, nil
}

// scenarioMembers returns the names of members that the flow or the file defines.
func (s *Studio) scenarioMembers(o *outline, text string, flow Source) []Completion {
	switch path := o.below("scenarios", "[]"); {
	case path == "start", path == "steps.[].send.inputs":
		return namesOf(inputsOf(parsedNodes(s.parsed(flow.Text))), ": ", "input")
	case path == "consents", path == "steps.[].expect.passkeys", path == "steps.[].expect.identities":
		return namesOf(usersIn(text), ": ", "user")
	case o.at("users", "*", "attributes"):
		return namesOf(s.attributes, ": ", "attribute")
	}
	return nil
}

// scenarioNames returns the values that the flow or the file defines.
func (s *Studio) scenarioNames(o *outline, text string, flow Source) []Completion {
	switch o.below("scenarios", "[]") {
	case "steps.[].expect.step":
		return s.stepNames(flow)
	case "steps.[].expect.error", "steps.[].expect.refused":
		return s.errorCodes(flow)
	case "steps.[].send.action", "steps.[].expect.actions.[]":
		return namesOf(actionsOf(parsedNodes(s.parsed(flow.Text))), "", "action")
	case "steps.[].expect.inputs.[]":
		return namesOf(inputsOf(parsedNodes(s.parsed(flow.Text))), "", "input")
	case "steps.[].expect.user", "steps.[].send.passkey.as", "steps.[].send.invitation", "session.user", "steps.[].expect.events.[].user":
		return namesOf(usersIn(text), "", "user")
	}
	return nil
}

// below returns the path below a beginning, "" outside.
func (o *outline) below(beginning ...string) string {
	if n := len(beginning); len(o.path) > n && slices.Equal(o.path[:n], beginning) {
		return strings.Join(o.path[n:], ".")
	}
	return ""
}

// stepNames returns the nodes of a flow: those of its sub-flows only if it has no errors.
func (s *Studio) stepNames(flow Source) (options []Completion) {
	if g := s.check(flow).graph; g != nil {
		for _, n := range g.Nodes() {
			options = append(options, Completion{n.ID, n.ID, n.Kind, ""})
		}
		return options
	}
	for _, n := range outlineNodes(flow.Text, s.parsed(flow.Text)) {
		options = append(options, Completion{n.id, n.id, n.use, ""})
	}
	return options
}

// errorCodes returns the codes of the errors that the steps of a flow can have: first those of its
// kinds.
func (s *Studio) errorCodes(flow Source) (options []Completion) {
	by := map[string]string{}
	var codes []string
	note := func(kind string) {
		if s.kinds[kind] == nil {
			return
		}
		for _, code := range s.kinds[kind].Codes {
			if _, known := by[code]; !known {
				by[code] = "reported by " + kind
				codes = append(codes, code)
			}
		}
	}
	if g := s.check(flow).graph; g != nil {
		for _, n := range g.Nodes() {
			note(n.Kind)
		}
	} else {
		for _, n := range outlineNodes(flow.Text, s.parsed(flow.Text)) {
			note(n.use)
		}
	}
	for _, code := range engine.CommonCodes() {
		if _, known := by[code]; !known {
			by[code] = "reported by every flow"
			codes = append(codes, code)
		}
	}
	for _, code := range codes {
		options = append(options, Completion{code, code, by[code], ""})
	}
	return options
}

// actionsOf lists the actions of nodes: those of prompts, and the alternatives of other kinds.
func actionsOf(list []outlineNode) (names []string) {
	for _, n := range list {
		for _, member := range []string{"with.actions", "with.alternatives"} {
			if n.document == nil || n.document.At(member) == nil {
				continue
			}
			items, _ := n.document.At(member).Items()
			for _, item := range items {
				if name := item.TextAt("ref"); name != "" && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

var (
	usersBlock = regexp.MustCompile(`(?m)^users:[^\n]*\n((?:[ #][^\n]*\n|\n)*)`)
	userMember = regexp.MustCompile(`(?m)^  (?:- )?"?([\w.@-]+)"?:`)
)

// usersIn returns the names of the users of a scenario file, which need not be YAML yet.
func usersIn(text string) (names []string) {
	if d, _ := schemas.ParseYAML([]byte(text)); d != nil {
		if d.At("users") == nil {
			return nil
		}
		return d.At("users").Members()
	}
	if block := usersBlock.FindStringSubmatch(text); block != nil {
		for _, m := range userMember.FindAllStringSubmatch(block[1], -1) {
			names = append(names, m[1])
		}
	}
	return names
}
