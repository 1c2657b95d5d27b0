package nodes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// expressionConfig is the configuration of a node in a flow with an input.
func expressionConfig() *engine.Config {
	return &engine.Config{Collected: func() engine.Collected {
		return engine.Collected{Inputs: map[string]schemas.InputType{"email": schemas.EmailInput}}
	}}
}

// The message about a condition that does not compile states what is wrong and what to write, at the fault.
func TestFaultsOfConditions(t *testing.T) {
	tests := []struct{ text, at, message string }{
		{`request.headers == "x"`, "headers", `request has no member "headers"; it has acrValues, language, origin, scopes`},
		{`now > 3`, "now", "an expression has no clock"},
		{`user.isNew and user.hasTotp`, "and", "there is no operator and; write &&"},
		{`user.isNew or user.hasTotp`, "or", "write ||"},
		{`user.isNew AND user.hasTotp`, "AND", "write &&"},
		{`not user.isNew`, "user", "write ! before the condition"},
		{`"a" not in user.groups`, "not", "write !( )"},
		{`user.type = "x"`, "=", "write =="},
		{`user.type <> "x"`, "> \"x", "write !="},
		{`if user.isNew then true`, "", "write condition ? value : other value"},
		{`user.isNew == True`, "True", "write true"},
		{`user.id == None`, "None", "write null"},
		{`user.groups.length > 1`, "", "size(x)"},
		{`user.groups.includes("a")`, "includes", `did you mean "contains"?`},
		{`len(user.groups) > 1`, "len", `did you mean "size"?`},
		{`user.id.toLowerCase() == "a"`, "toLowerCase", "(?i)"},
		{`email == "x"`, "email", "the input is inputs.email"},
		{`hasTotp`, "hasTotp", "did you mean user.hasTotp?"},
		{`usr.id == "x"`, "usr", `did you mean "user"?`},
		{`user.department == "x"`, "department", "user.attributes.department"},
		{`user.type == 5`, "==", "== needs two values of one type, but gets (string, int)"},
		{`!user.type`, "!", "! needs true or false"},
		{`"a" in user.type`, "in", "write x.contains(y)"},
		{`(user.isNew`, "", "a ) is missing"},
		{`user.isNew)`, ")", "there is no ( for this )"},
		{`user.isNew &&`, "", "a value is missing"},
		{`user.type == "x`, `"x`, "no closing quote"},
		{`has(user)`, "", "has() takes a member"},
		{`user.groups contains "a"`, "contains", "contains is a function; write x.contains(y)"},
	}
	env := new(environment).with(expressionConfig())
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			_, faults := compileExpression(env, expressionConfig(), tt.text, nil)
			if len(faults) == 0 || !strings.Contains(faults[0].message, tt.message) {
				t.Fatalf("faults: %+v", faults)
			}
			if at := faults[0].within(tt.text) - 1; tt.at != "" && (at < 0 || !strings.HasPrefix(string([]rune(tt.text)[at:]), tt.at)) {
				t.Errorf("the place is %d, expected that of %q", at, tt.at)
			}
		})
	}
}

// Conditions over lists that are written in them prove what their items prove.
func TestConditionsOverListsProve(t *testing.T) {
	const both, authenticated, nothing = "[authenticated new]", "[authenticated]", "[]"
	tests := []struct{ text, isTrue, isFalse string }{
		{`[user.isAuthenticated, user.isNew].all(x, x)`, both, nothing},
		{`[user.isAuthenticated, user.isNew].exists(x, x)`, nothing, nothing},
		{`![user.isAuthenticated, user.isNew].exists(x, !x)`, both, nothing},
		{`[!user.isAuthenticated, !user.isNew].exists(x, x)`, nothing, both},
		{`[user.isAuthenticated].exists_one(x, x)`, authenticated, nothing},
		{`user.isAuthenticated in [true]`, authenticated, nothing},
		{`user.isAuthenticated in [true, true]`, authenticated, nothing},
		{`user.isAuthenticated in [true, false]`, nothing, authenticated},
		{`!(user.isAuthenticated in [false])`, authenticated, nothing},
		{`[user.isAuthenticated, user.isNew].all(x, x in [true])`, both, nothing},
		{`[true].all(x, [user.isAuthenticated].all(y, x == y))`, authenticated, nothing},
		{`[user.isAuthenticated, user.isNew] == [true, true]`, both, nothing},
		{`!(!user.isAuthenticated || !user.isNew)`, both, nothing},
		{`user.isNew ? user.isAuthenticated : (user.isAuthenticated ? true : false)`, authenticated, nothing},
		{`true == user.isAuthenticated`, authenticated, nothing},
		{`user.isAuthenticated != false`, authenticated, nothing},
		{`user.isAuthenticated == user.isNew`, nothing, nothing},
		{`(user.isAuthenticated == user.isNew) && user.isNew`, "[new]", nothing},
		{`user.groups.all(x, user.isAuthenticated)`, nothing, nothing},
		{`[user.isAuthenticated].all(user, user)`, nothing, nothing},
	}
	env := new(environment).with(expressionConfig())
	shown := func(p provenCases) string {
		list := []engine.Fact{}
		for _, f := range p.facts {
			if f == engine.Authenticated || f == engine.New {
				list = append(list, f)
			}
		}
		return fmt.Sprint(list)
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			e, faults := compileExpression(env, expressionConfig(), tt.text, nil)
			if len(faults) > 0 {
				t.Fatalf("faults: %+v", faults)
			}
			if shown(e.isTrue) != tt.isTrue || shown(e.isFalse) != tt.isFalse {
				t.Errorf("true proves %s, false %s; expected %s and %s", shown(e.isTrue), shown(e.isFalse), tt.isTrue, tt.isFalse)
			}
		})
	}
}

// A condition without effect is a warning; one that may have an effect is not.
func TestConditionsWithoutEffect(t *testing.T) {
	tests := []struct {
		message string
		cases   []string
	}{
		{"never true", []string{`false`}},
		{"never true", []string{`user.isNew && !user.isNew`}},
		{"never true", []string{`1 == 2`}},
		{"never true", []string{`user.type == "a" && user.type == "b"`}},
		{"always true", []string{`user.isNew || !user.isNew`}},
		{"always true", []string{`user.isNew ? true : !user.isNew`}},
		{"never applies", []string{`user.isNew`, `user.isNew && user.hasTotp`}},
		{"never applies", []string{`user.isNew`, `user.hasTotp`, `user.hasTotp == true`}},
		{"never applies", []string{`user.isNew || user.hasTotp`, `user.hasTotp`}},
		{"", []string{`user.isNew`, `!user.isNew`}},
		{"", []string{`true`, `user.isNew`}},
		{"", []string{`user.type == "a" || user.type == "b"`}},
		{"", []string{`"a" in user.groups && "b" in user.groups`}},
		{"", []string{`has(inputs.email) && inputs.email.endsWith("a") && !inputs.email.endsWith("b")`}},
	}
	env := new(environment).with(expressionConfig())
	for _, tt := range tests {
		t.Run(strings.Join(tt.cases, "; "), func(t *testing.T) {
			var list []*expression
			for _, text := range tt.cases {
				e, faults := compileExpression(env, expressionConfig(), text, nil)
				if len(faults) > 0 {
					t.Fatalf("faults: %+v", faults)
				}
				list = append(list, e)
			}
			f := checkEffect(list)
			if (f != nil) != (tt.message != "") || f != nil && !strings.Contains(f.message, tt.message) {
				t.Errorf("got %+v, expected %q", f, tt.message)
			}
		})
	}
}
