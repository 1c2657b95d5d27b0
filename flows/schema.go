package flows

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Schema returns the JSON Schema of flows with the schema of each kind's `with`: a node must
// match the schema of its kind.
func Schema(kinds engine.Kinds) (json.RawMessage, error) {
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
		with, err := KindSchema(kinds[name])
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
	hideServerMembers(flow)
	return json.Marshal(flow)
}

// hideServerMembers marks members that only the server sets, so that editors do not suggest
// them. The language servers for YAML and JSON know the keyword.
func hideServerMembers(flow map[string]any) {
	members, _ := member(flow, "properties")
	for _, m := range members {
		if m, ok := m.(map[string]any); ok && m["readOnly"] == true {
			m["doNotSuggest"] = true
		}
	}
}

// KindSchema returns the JSON Schema of a kind's `with`, with the kind's name as its title and
// its documentation as its description.
func KindSchema(kind *engine.Kind) (map[string]any, error) {
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

// findNode returns the schema of a node: the items of `nodes`, or the definition that they refer
// to.
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
