package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

type schemaCommand struct {
	Name string `arg:"" optional:"" default:"flow" help:"flow, scenario, user, application, credential, or the name of a kind of node."`
}

// Run prints a JSON Schema. That of a flow knows the configuration of every
// kind of node, so that an editor can complete and check it.
func (c schemaCommand) Run(p program) error {
	kinds := nodes.Kinds(nodes.Deps{})
	var text json.RawMessage
	switch c.Name {
	case "flow":
		all, err := flowSchema(kinds)
		if err != nil {
			return err
		}
		text = all
	case "scenario":
		text = flowtest.Schema().Raw()
	case "user":
		text = schemas.UserSchema().Raw()
	case "application":
		text = schemas.ApplicationSchema().Raw()
	case "credential":
		text = schemas.CredentialSchema().Raw()
	default:
		kind := kinds[c.Name]
		if kind == nil || kind.With == nil {
			return fmt.Errorf("there is no schema %q; there are flow, scenario, user, application, credential and the kinds %v", c.Name, slices.Sorted(maps.Keys(kinds)))
		}
		text = kind.With.Raw()
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.stdout, out.String())
	return err
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
		with := map[string]any{"maxProperties": 0}
		if kinds[name].With != nil {
			with = map[string]any{}
			if err := json.Unmarshal(kinds[name].With.Raw(), &with); err != nil {
				return nil, err
			}
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
