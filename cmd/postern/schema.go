package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

type schemaCommand struct {
	Name string `arg:"" optional:"" default:"flow" help:"flow, scenario, config, user, application, credential, or the name of a kind of node."`
}

// Run prints a JSON Schema. That of a flow knows the configuration of every
// kind of node, so that an editor can complete and check it.
func (c schemaCommand) Run(p program) error {
	text, err := schemaNamed(c.Name, nodes.Kinds(nodes.Deps{}))
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.stdout, out.String())
	return err
}

// fixedSchemas are the schemas that do not depend on the kinds of nodes.
func fixedSchemas() map[string]func() *schemas.Schema {
	return map[string]func() *schemas.Schema{
		"scenario":    flowtest.Schema,
		"config":      config.Schema,
		"user":        schemas.UserSchema,
		"application": schemas.ApplicationSchema,
		"credential":  schemas.CredentialSchema,
	}
}

// schemaNamed finds a schema by the name a person gave.
func schemaNamed(name string, kinds engine.Kinds) (json.RawMessage, error) {
	fixed := fixedSchemas()
	switch {
	case name == "flow":
		return flowSchema(kinds)
	case fixed[name] != nil:
		return fixed[name]().Raw(), nil
	case kinds[name] == nil:
		return nil, noSchema(name, append(slices.Sorted(maps.Keys(fixed)), "flow"), slices.Sorted(maps.Keys(kinds)))
	}
	described, err := kindSchema(kinds[name])
	if err != nil {
		return nil, err
	}
	return json.Marshal(described)
}

// noSchema tells what there is instead.
func noSchema(name string, things, kinds []string) error {
	if near := schemas.Suggest(name, slices.Concat(things, kinds)); near != "" {
		return fmt.Errorf("there is no schema %q; did you mean %q?", name, near)
	}
	return fmt.Errorf("there is no schema %q; there are those of %s, and of the kinds of node %s",
		name, strings.Join(things, ", "), strings.Join(kinds, ", "))
}

// flowSchema is the schema of flows with that of each kind's `with` put in its
// place: a node that uses a kind must fit the kind's schema.
func flowSchema(kinds engine.Kinds) (json.RawMessage, error) {
	var flow map[string]any
	if err := json.Unmarshal(schemas.FlowSchema().Raw(), &flow); err != nil {
		return nil, err
	}
	node, ok := findNode(flow)
	if !ok {
		return nil, fmt.Errorf("the flow schema describes no node")
	}
	names := slices.Sorted(maps.Keys(kinds))
	var rules []any
	docs := make([]any, 0, len(names))
	for _, name := range names {
		docs = append(docs, map[string]any{"const": name, "description": kinds[name].Doc})
		with, err := kindSchema(kinds[name])
		if err != nil {
			return nil, err
		}
		rules = append(rules, map[string]any{
			"if":   map[string]any{"properties": map[string]any{"use": map[string]any{"const": name}}, "required": []string{"use"}},
			"then": map[string]any{"properties": map[string]any{"with": with}},
		})
	}
	use := node["properties"].(map[string]any)["use"].(map[string]any)
	use["oneOf"] = docs
	node["allOf"] = rules
	return json.Marshal(flow)
}

// kindSchema is the schema of a kind's `with`, under the kind's name, with all
// that an author needs to know of the kind as its description.
func kindSchema(kind *engine.Kind) (map[string]any, error) {
	schema := map[string]any{"type": "object", "maxProperties": 0}
	if kind.With != nil {
		schema = map[string]any{}
		if err := json.Unmarshal(kind.With.Raw(), &schema); err != nil {
			return nil, err
		}
	}
	schema["title"], schema["description"] = kind.Name, kind.Describe()
	return schema, nil
}

// findNode returns the schema of a node: that of the items of `nodes`, or what
// it refers to.
func findNode(flow map[string]any) (map[string]any, bool) {
	nodesSchema, _ := member(flow, "properties", "nodes", "items")
	if ref, isRef := nodesSchema["$ref"].(string); isRef {
		return member(flow, "$defs", ref[len("#/$defs/"):])
	}
	return nodesSchema, nodesSchema["properties"] != nil
}

func member(m map[string]any, path ...string) (map[string]any, bool) {
	for _, key := range path {
		next, ok := m[key].(map[string]any)
		if !ok {
			return nil, false
		}
		m = next
	}
	return m, true
}
