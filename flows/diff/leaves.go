package diff

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/postern-id/postern/schemas"
)

// leaves returns the scalars of a configuration by their paths, without those
// that say what the schema says anyway. Numbers are as they are written. An empty
// object or list is a leaf, "{}" or "[]".
func leaves(with json.RawMessage, s *shape) map[string]any {
	all := map[string]any{}
	if len(with) == 0 {
		return all
	}
	decoder := json.NewDecoder(bytes.NewReader(with))
	decoder.UseNumber()
	var root map[string]any
	if err := decoder.Decode(&root); err != nil {
		return map[string]any{"": string(with)} // a compiled flow has none of these
	}
	for name, value := range root {
		collect(all, schemas.MemberPath("", name), value, s.member(name))
	}
	return all
}

// members returns the members of guarantees as leaves.
func members(g schemas.Guarantees) map[string]any {
	text, err := json.Marshal(g)
	if err != nil {
		panic("diff: guarantees that are no JSON: " + err.Error()) // they are strings and truths
	}
	return leaves(text, &shape{Properties: map[string]*shape{"amr": {Unordered: true}}})
}

// empty is a leaf that holds nothing; no text equals it.
type empty string

func collect(all map[string]any, path string, value any, s *shape) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			all[path] = empty("{}")
		}
		for name, member := range v {
			collect(all, schemas.MemberPath(path, name), member, s.member(name))
		}
	case []any:
		if len(v) == 0 {
			all[path] = empty("[]")
		}
		for i, item := range v {
			collect(all, fmt.Sprintf("%s[%s]", path, s.index(i, item)), item, s.item())
		}
	default:
		if !s.isDefault(v) {
			all[path] = v
		}
	}
}
