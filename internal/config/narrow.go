package config

import (
	"encoding/json"

	"github.com/postern-id/postern/schemas"
)

// checkSchema returns the problems of a partial configuration. To compile the whole schema takes a part of
// the start of a server, so only the members of the given keys are compiled, unless there are problems:
// their texts need the others.
func checkSchema(text json.RawMessage) []schemas.Problem {
	if narrow, err := narrowSchema(text); err == nil && len(narrow.Check(text)) == 0 {
		return nil
	}
	return Schema().Check(text)
}

// narrowSchema returns the schema with true, which accepts all values, in place of the members that a
// value does not have.
func narrowSchema(text json.RawMessage) (*schemas.Schema, error) {
	var root map[string]any
	if err := json.Unmarshal([]byte(schemaText), &root); err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	narrow(root, value)
	narrowed, err := json.Marshal(root)
	if err != nil {
		return nil, err
	}
	return schemas.CompileSchema("config", narrowed)
}

// narrow removes the schemas of the members that a value does not have.
func narrow(schema map[string]any, value any) {
	given, _ := value.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		member, isGiven := given[name]
		if !isGiven {
			properties[name] = true
		} else if below, ok := property.(map[string]any); ok {
			narrow(below, member)
		}
	}
}
