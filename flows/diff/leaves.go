package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// leaves are the scalars of a configuration by their paths. Numbers are as they are
// written. An empty object or list is a leaf, "{}" or "[]".
type leaves struct {
	// value has those that say something that is not so by default.
	value map[string]any
	// fallback has, for each that is written, what is so by default, if the schema
	// says that.
	fallback map[string]any
}

func leavesOf(with json.RawMessage, s *shape) leaves {
	all := leaves{map[string]any{}, map[string]any{}}
	if len(with) == 0 {
		return all
	}
	decoder := json.NewDecoder(bytes.NewReader(with))
	decoder.UseNumber()
	var root map[string]any
	if err := decoder.Decode(&root); err != nil {
		all.value[""] = string(with) // a compiled flow has none of these
		return all
	}
	for name, value := range root {
		all.collect(schemas.MemberPath("", name), value, s.member(name))
	}
	return all
}

// members returns the members of guarantees as leaves.
func members(g schemas.Guarantees) map[string]any {
	text, err := json.Marshal(g)
	if err != nil {
		panic("diff: guarantees that are no JSON: " + err.Error()) // they are strings and truths
	}
	return leavesOf(text, &shape{Properties: map[string]*shape{"amr": {Unordered: true}}}).value
}

// emptyLeaf is a leaf that holds nothing; no text equals it.
type emptyLeaf string

func (l leaves) collect(path string, value any, s *shape) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			l.value[path] = emptyLeaf("{}")
		}
		for name, member := range v {
			l.collect(schemas.MemberPath(path, name), member, s.member(name))
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

// of is the value at a path. Where nothing is written it is what is so by default,
// if what the path leads through is there.
func (l leaves) of(path string, fallback any) any {
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
