package findings

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// A misspelled attribute of a node is an error if the user types are known, and otherwise a warning
// if it resembles a standard claim.
func TestMisspelledAttributes(t *testing.T) {
	flow := func(create, ask string) string {
		return "handle: join\nname: Join\nflowType: REGISTRATION\nnodes:\n" +
			"  - {id: who, use: prompt, with: {inputs: [{identifier: username, type: TEXT_INPUT, required: true}], actions: [{ref: go}]}, next: create}\n" +
			"  - {id: create, use: user-create, with: {" + create + "}, next: {created: more, taken: who}}\n" +
			"  - {id: more, use: attributes, with: {attributes: [" + ask + "]}, next: key}\n" +
			"  - {id: key, use: passkey-register, next: done}\n  - {id: done, use: authorization-code}\n"
	}
	closed := func(name, attribute string) schemas.UserType {
		return schemas.UserType{Name: name, Schema: json.RawMessage(`{"type": "object", "additionalProperties": false, "properties": {"username": {}, "` + attribute + `": {}}}`)}
	}
	open := schemas.UserType{Name: "Person", Schema: json.RawMessage(`{"type": "object"}`)}
	person, member := closed("Person", "department"), closed("Member", "nickname")
	const listed = "attributes: {username: username, depratment: username}"
	tests := []struct {
		name, create, ask string
		types             []schemas.UserType
		want              []string
	}{
		{"no types, a standard claim", "attributes: {username: username, given_nam: username}", "nickname", nil,
			[]string{`6:76 warning "given_nam" is not a standard attribute; did you mean "given_name"?`}},
		{"no types, another attribute", "attributes: {username: username, department: username}", "department, nicknam", nil,
			[]string{`7:65 warning "nicknam" is not a standard attribute; did you mean "nickname"?`}},
		{"the type", "type: Member, " + listed, "nickname", []schemas.UserType{person, member},
			[]string{`6:90 error the user type "Member" does not have an attribute "depratment"`}},
		{"any of the types", listed, "department", []schemas.UserType{person, member},
			[]string{`6:76 error no user type has an attribute "depratment"; did you mean "department"?`}},
		{"a type with any attributes", listed, "nicknam", []schemas.UserType{open}, nil},
		{"a type of another folder", "type: Club, " + listed, "department", []schemas.UserType{person}, nil},
		{"asked for", "", "nickname, departmnt", []schemas.UserType{person, member},
			[]string{`7:63 error no user type has an attribute "departmnt"; did you mean "department"?`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := checker()
			c.UserTypes = func(string) []schemas.UserType { return tt.types }
			list, err := c.Check(1, func(int) (Source, error) { return Source{Name: "a.yaml", Text: []byte(flow(tt.create, tt.ask))}, nil })
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range list[0].Findings {
				got = append(got, fmt.Sprintf("%d:%d %s %s", p.Line, p.Column, severity(p), p.Message))
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}
