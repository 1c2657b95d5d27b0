package diff

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// leaves are the scalars of a configuration by path. Numbers keep their notation. An empty
// object or list is a leaf, "{}" or "[]".
type leaves struct {
	// value contains the leaves that differ from their defaults.
	value map[string]any
	// fallback contains the defaults of the leaves that are present, if the schema has them.
	fallback map[string]any
}

func leavesOf(with json.RawMessage, s shape) leaves {
	all := leaves{map[string]any{}, map[string]any{}}
	if len(with) == 0 {
		return all
	}
	var root map[string]any
	if err := decode(with, &root); err != nil {
		all.value[""] = string(with) // cannot happen in a compiled flow
		return all
	}
	for name, value := range root {
		all.collect(schemas.MemberPath("", name), value, s.Properties[name])
	}
	return all
}

// guaranteeLeaves returns the members of guarantees as leaves.
func guaranteeLeaves(g schemas.Guarantees) map[string]any {
	text, err := json.Marshal(g)
	if err != nil {
		panic("diff: guarantees that are no JSON: " + err.Error()) // they are strings and booleans
	}
	return leavesOf(text, shape{Properties: map[string]shape{"amr": {Unordered: true}}}).value
}

// emptyLeaf is an empty object or list; no string equals it.
type emptyLeaf string

func (l leaves) collect(path string, value any, s shape) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			l.value[path] = emptyLeaf("{}")
		}
		for name, member := range v {
			l.collect(schemas.MemberPath(path, name), member, s.Properties[name])
		}
	case []any:
		if len(v) == 0 {
			l.value[path] = emptyLeaf("[]")
		}
		for i, item := range v {
			l.collect(fmt.Sprintf("%s[%s]", path, s.index(i, item)), item, s.item())
		}
	default:
		if d := s.fallback(); d != nil {
			l.fallback[path] = d
		}
		if v != l.fallback[path] {
			l.value[path] = v
		}
	}
}

// valueAt returns the value at a path. If it is missing it returns the default, provided that
// its parent is present.
func (l leaves) valueAt(path string, fallback any) any {
	if v, written := l.value[path]; written {
		return v
	}
	end := strings.LastIndexAny(path, ".[")
	if end < 0 {
		return fallback
	}
	for other := range l.value {
		if strings.HasPrefix(other, path[:end+1]) {
			return fallback
		}
	}
	return nil
}
