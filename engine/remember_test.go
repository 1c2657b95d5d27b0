package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func TestRemember(t *testing.T) {
	created := 0
	kinds := engine.Remember(engine.Kinds{"x": {Name: "x", New: func(c *engine.Config) (engine.Executor, []schemas.Problem) {
		created++
		if strings.Contains(string(c.With), "collected") {
			return nil, []schemas.Problem{{Message: string(c.Collected().Inputs["a"])}}
		}
		return nil, []schemas.Problem{{Message: string(c.With)}}
	}}})
	config := func(with string, input schemas.InputType) engine.Config {
		return engine.Config{
			FlowType: schemas.Authentication, With: json.RawMessage(with), Waived: []string{"chain"},
			Guarantees: schemas.Guarantees{AMR: []string{"pop"}},
			Node:       &schemas.Node{ID: "n", Use: "x", With: json.RawMessage(with), Next: schemas.Next{By: map[string]string{"ok": "m"}}},
			Subflow:    &schemas.Flow{Handle: "s"},
			Collected:  func() engine.Collected { return engine.Collected{Inputs: map[string]schemas.InputType{"a": input}} },
		}
	}
	// made returns the message of the problem, and whether the executor is new.
	made := func(c engine.Config) (string, bool) {
		before := created
		_, problems := kinds["x"].New(&c)
		return problems[0].Message, created > before
	}
	for _, tt := range []struct {
		name, with string
		input      schemas.InputType
		change     func(*engine.Config)
		message    string
		isNew      bool
	}{
		{"the first", `{}`, "TEXT_INPUT", nil, "{}", true},
		{"the same", `{}`, "TEXT_INPUT", nil, "{}", false},
		{"another input that it does not read", `{}`, "SELECT", nil, "{}", false},
		{"a type of flow", `{}`, "SELECT", func(c *engine.Config) { c.FlowType = schemas.Registration }, "{}", true},
		{"guarantees", `{}`, "SELECT", func(c *engine.Config) { c.Guarantees.AMR = []string{"otp"} }, "{}", true},
		{"targets", `{}`, "SELECT", func(c *engine.Config) { c.Node.Next.By["ok"] = "other" }, "{}", true},
		{"waivers", `{}`, "SELECT", func(c *engine.Config) { c.Waived = nil }, "{}", true},
		{"a sub-flow", `{}`, "SELECT", func(c *engine.Config) { c.Subflow.Name = "other" }, "{}", true},
		{"another node", `{}`, "SELECT", func(c *engine.Config) { c.Node.ID = "m" }, "{}", true},
		{"one that reads the inputs", `{"collected": 1}`, "TEXT_INPUT", nil, "TEXT_INPUT", true},
		{"the same inputs", `{"collected": 1}`, "TEXT_INPUT", nil, "TEXT_INPUT", false},
		{"another input", `{"collected": 1}`, "SELECT", nil, "SELECT", true},
		{"both are remembered", `{"collected": 1}`, "TEXT_INPUT", nil, "TEXT_INPUT", false},
	} {
		c := config(tt.with, tt.input)
		if tt.change != nil {
			tt.change(&c)
		}
		if message, isNew := made(c); message != tt.message || isNew != tt.isNew {
			t.Errorf("%s: %q, new %t, want %q, new %t", tt.name, message, isNew, tt.message, tt.isNew)
		}
	}
}
