package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// shape is a JSON Schema of an object for clients. It has no $schema and no $id: the protocol
// determines the dialect (draft 2020-12), and validators store schemas by id, which two tools would
// share.
type shape map[string]any

// shapeOf returns the published schema of a noun, without the annotations for Postern's own
// messages.
func shapeOf(raw json.RawMessage) shape {
	var s shape
	if err := json.Unmarshal(raw, &s); err != nil {
		panic(err) // our own schemas
	}
	delete(s, "$schema")
	delete(s, "$id")
	adapt(map[string]any(s))
	return s
}

// keywordsOf are the keywords that apply only to values of one type.
func keywordsOf(typ string) []string {
	return map[string][]string{
		"string":  {"pattern", "minLength", "maxLength", "format", "enum"},
		"object":  {"properties", "required", "minProperties", "maxProperties", "propertyNames", "additionalProperties"},
		"array":   {"items", "minItems", "maxItems", "uniqueItems"},
		"integer": {"minimum", "maximum"}, "number": {"minimum", "maximum"},
	}[typ]
}

// adapt gives each schema, at any depth, a single type, and drops our own annotations: some clients
// support neither enums without a type nor lists of types. A schema with a list of types becomes a
// choice between schemas with one type each.
func adapt(v any) {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(keyword string, _ any) bool { return strings.HasPrefix(keyword, "x-") })
		for _, inner := range v {
			adapt(inner)
		}
		if _, isEnum := v["enum"].([]any); isEnum && v["type"] == nil {
			v["type"] = "string" // our enums are of texts
		}
		if types, several := v["type"].([]any); several {
			v["anyOf"] = split(v, types)
			delete(v, "type")
		}
	case []any:
		for _, inner := range v {
			adapt(inner)
		}
	}
}

// split moves the keywords of a schema to schemas of one type each.
func split(schema map[string]any, types []any) []any {
	var branches []any
	for _, typ := range types {
		name, _ := typ.(string)
		branch := map[string]any{"type": name}
		for _, keyword := range keywordsOf(name) {
			if value, ok := schema[keyword]; ok {
				branch[keyword] = value
				delete(schema, keyword)
			}
		}
		branches = append(branches, branch)
	}
	return branches
}

// object returns a schema that allows only the properties.
func object(properties map[string]any, required ...string) shape {
	s := shape{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// with returns the schema with additional properties. Only the given ones are required.
func (s shape) with(properties map[string]any, required ...string) shape {
	all := maps.Clone(s["properties"].(map[string]any))
	maps.Copy(all, properties)
	s = maps.Clone(s)
	s["properties"], s["required"] = all, required
	return s
}

// outline returns the schema of a result: its possible members with their descriptions, and the
// required ones only with their type. The schema of the arguments has the details.
func (s shape) outline(required ...string) shape {
	members := map[string]any{}
	for name, p := range s["properties"].(map[string]any) {
		of := p.(map[string]any)
		member := s.typeOf(of)
		for _, keyword := range []string{"enum", "description"} {
			if value, ok := of[keyword]; ok {
				member[keyword] = value
			}
		}
		members[name] = member
	}
	return object(members, required...)
}

// typeOf returns the type of a value and, for a list, that of its items.
func (s shape) typeOf(of map[string]any) map[string]any {
	for ref, ok := of["$ref"].(string); ok; ref, ok = of["$ref"].(string) {
		of = s["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	typ := map[string]any{"type": of["type"]}
	if items, ok := of["items"].(map[string]any); ok {
		typ["items"] = s.typeOf(items)
	}
	return typ
}

// of returns the shape with only the named properties.
func (s shape) of(names ...string) shape {
	members := maps.Clone(s["properties"].(map[string]any))
	maps.DeleteFunc(members, func(name string, _ any) bool { return !slices.Contains(names, name) })
	s = maps.Clone(s)
	s["properties"] = members
	return s
}

// listOf returns the schema of a page of a list.
func listOf(plural string, item shape) shape {
	return object(map[string]any{
		"total_count": map[string]any{"type": "integer", "minimum": 0, "description": "The total number of results."},
		plural:        map[string]any{"type": "array", "items": item},
	}, "total_count", plural)
}

// schema compiles a shape for checks of arguments.
func (s shape) schema(name string) *schemas.Schema {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // made of texts and numbers
	}
	return schemas.MustSchema(name, string(text))
}

func text(description string) map[string]any {
	return map[string]any{"type": "string", "description": description}
}

// dryRun is the parameter of all tools that write.
func dryRun() map[string]any {
	return map[string]any{"type": "boolean", "default": false,
		"description": "Validate without storing anything. The result is the same as without dry_run."}
}
