package nodes

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

func TestEveryKindIsDocumented(t *testing.T) {
	kinds := Kinds(Deps{})
	if len(kinds) != len(declarations(Deps{})) || len(kinds) < 24 {
		t.Errorf("%d kinds of %d declarations", len(kinds), len(declarations(Deps{})))
	}
	for name, kind := range kinds {
		if kind.Name != name || kind.Doc == "" || kind.New == nil {
			t.Errorf("%s: name %q, doc %q", name, kind.Name, kind.Doc)
		}
		if kind.Terminal != (len(kind.Outcomes) == 0) {
			t.Errorf("%s: terminal %v with %d outcomes", name, kind.Terminal, len(kind.Outcomes))
		}
		for _, o := range kind.Outcomes {
			if o.Name() == "" || o.Doc == "" {
				t.Errorf("%s: the outcome %q is not documented", name, o.Name())
			}
		}
		for _, need := range kind.Needs {
			if len(need.AnyOf) == 0 || need.Why == "" || need.Fix == "" {
				t.Errorf("%s: the need of %v does not say why, or how to fix it", name, need.AnyOf)
			}
		}
	}
}

// Every member of a configuration has a description, which editors show.
func TestMembersAreDescribed(t *testing.T) {
	for name, kind := range Kinds(Deps{}) {
		if kind.With == nil {
			continue
		}
		root := schemaNode{Description: name}
		datatest.Unmarshal(t, kind.With.Raw(), &root)
		everyMember(name, root, func(path string, s schemaNode) {
			if s.Description == "" {
				t.Errorf("%s has no description", path)
			}
			if s.Type == "object" && s.Properties != nil && string(s.AdditionalProperties) != "false" {
				t.Errorf("%s: additionalProperties is %s, want false", path, s.AdditionalProperties)
			}
		})
	}
}

// schemaNode contains the members of a schema that the test compares.
type schemaNode struct {
	Type                 string
	Description          string
	Default              json.RawMessage
	Enum                 []string
	Properties           map[string]schemaNode
	Items                *schemaNode
	AdditionalProperties json.RawMessage
}

// TestConfigurationIsOptional checks that kinds without required members work without
// configuration.
func TestConfigurationIsOptional(t *testing.T) {
	w := newFixture(t)
	collected := map[string]schemas.InputType{"username": schemas.TextInput}
	for _, use := range []string{"user-create", "passkey-register", "passkey-authenticate", "password-authenticate", "password-set", "email-otp", "session-check"} {
		if _, problems := w.try(use, `{}`, collected, schemas.Next{}); len(problems) > 0 {
			t.Errorf("%s: %s", use, texts(problems))
		}
	}
	for _, use := range []string{"prompt", "user-resolve", "decision"} {
		if _, problems := w.try(use, `{}`, collected, schemas.Next{}); len(problems) == 0 {
			t.Errorf("%s: accepted without configuration", use)
		}
	}
}

func TestUnknownMembersAreRefused(t *testing.T) {
	for name, kind := range Kinds(Deps{}) {
		if kind.With != nil && len(kind.With.Check(json.RawMessage(`{"lable": "x"}`))) == 0 {
			t.Errorf("%s accepts any member", name)
		}
	}
}

func TestOutcomesAreThoseOfTheExecutor(t *testing.T) {
	w := newFixture(t)
	collected := map[string]schemas.InputType{"username": schemas.TextInput}
	tests := []struct{ use, with, want string }{
		{"prompt", `{"actions": [{"ref": "a"}, {"ref": "b"}]}`, "a b"},
		{"user-resolve", `{"by": ["username"], "from": "username"}`, "found missing"},
		{"passkey-register", `{}`, "success failure"},
		{"passkey-register", `{"optional": true}`, "success failure skip"},
		{"passkey-authenticate", `{}`, "success failure"},
		{"passkey-authenticate", `{"alternatives": [{"ref": "password"}]}`, "success failure password"},
		{"email-otp", `{}`, "success failure"},
		{"email-otp", `{"alternatives": [{"ref": "key"}]}`, "success failure key"},
		{"email-change", `{}`, "success failure"},
		{"invitation", `{}`, "success failure"},
		{"http-request", `{"target": "crm", "mode": "notify"}`, "queued"},
		{"http-request", `{"target": "crm", "mode": "query"}`, "success failure"},
		{"federated-oidc", `{"provider": "corp"}`, "success unknown failure"},
		{"federated-oidc", `{"provider": "corp", "alternatives": [{"ref": "key"}]}`, "success unknown failure key"},
		{"decision", `{"cases": [{"when": "true", "outcome": "a"}, {"when": "true", "outcome": "b"}, {"when": "true", "outcome": "a"}]}`, "a b otherwise"},
		{"decision", `{"cases": [{"when": "true", "outcome": "otherwise"}]}`, "otherwise"},
	}
	for _, test := range tests {
		var names []string
		for _, o := range w.make(t, test.use, test.with, collected).(engine.OutcomeConfigurer).Outcomes() {
			names = append(names, o.Name())
			if o.Doc == "" {
				t.Errorf("%s: the outcome %s is not documented", test.use, o.Name())
			}
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%s %s: outcomes %s, want %s", test.use, test.with, got, test.want)
		}
	}
}

// Defaults are in the schema, for editors and flow diff, and equal those in the
// description.
func TestDefaultsAreInTheSchemas(t *testing.T) {
	quoted := regexp.MustCompile(`[Bb]y default '([^']+)'`)
	for name, kind := range Kinds(Deps{}) {
		if kind.With == nil {
			continue
		}
		var root schemaNode
		datatest.Unmarshal(t, kind.With.Raw(), &root)
		everyMember(name, root, func(path string, s schemaNode) {
			if said := quoted.FindStringSubmatch(s.Description); said != nil && string(s.Default) != strconv.Quote(said[1]) {
				t.Errorf("%s: by default %q, but its default is %s", path, said[1], s.Default)
			}
			word := strings.Trim(string(s.Default), `"`)
			switch {
			case s.Default == nil:
			case s.Type == "boolean" && word != "true" && word != "false", s.Type == "integer" && strings.Trim(word, "0123456789") != "":
				t.Errorf("%s: the default of a %s is %s", path, s.Type, s.Default)
			case s.Enum != nil && !slices.Contains(s.Enum, word):
				t.Errorf("%s: the default %s is none of %s", path, s.Default, s.Enum)
			case s.Type != "boolean" && !strings.Contains(s.Description, word):
				t.Errorf("%s: the description does not say that by default it is %s", path, word)
			}
		})
	}
}

// everyMember calls a function with every member of a schema.
func everyMember(path string, s schemaNode, do func(path string, s schemaNode)) {
	do(path, s)
	for name, member := range s.Properties {
		everyMember(path+"."+name, member, do)
	}
	if s.Items != nil {
		everyMember(path+"[]", *s.Items, do)
	}
}

// An explicit default changes neither the behavior nor the steps of a node.
func TestDefaultsWrittenOut(t *testing.T) {
	tests := []struct{ use, with, written string }{
		{"password-set", `{}`, `{"input": "password", "label": "New password"}`},
		{"password-authenticate", `{}`, `{"input": "password", "label": "Password"}`},
		{"prompt", `{"inputs": [{"identifier": "a", "type": "TEXT_INPUT"}], "actions": [{"ref": "go"}]}`,
			`{"inputs": [{"identifier": "a", "type": "TEXT_INPUT", "required": false}], "actions": [{"ref": "go"}]}`},
	}
	for _, tt := range tests {
		made := func(with string) any {
			x, found := Kinds(Deps{})[tt.use].New(&engine.Config{Node: &schemas.Node{}, With: json.RawMessage(with)})
			if len(found) > 0 {
				t.Fatalf("%s: %v", tt.use, found)
			}
			return x
		}
		if !reflect.DeepEqual(made(tt.with), made(tt.written)) {
			t.Errorf("%s: with %s it is\n%+v\nwith %s\n%+v", tt.use, tt.with, made(tt.with), tt.written, made(tt.written))
		}
	}
}
