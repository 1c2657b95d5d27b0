package diff

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	"github.com/postern-id/postern/schemas"
)

// shape is the part of a schema that affects the meaning of a value: its default, and whether
// the order of a list matters.
type shape struct {
	Default    json.RawMessage  `json:"default"`
	Properties map[string]shape `json:"properties"`
	Items      *shape           `json:"items"`
	Unordered  bool             `json:"x-unordered"`
}

func shapeOf(s *schemas.Schema) (root shape) {
	if s != nil {
		_ = json.Unmarshal(s.Raw(), &root) // a schema that compiled is an object
	}
	return root
}

// leaves are the scalars of a configuration by path. Numbers keep their notation. An empty
// object or list is a leaf.
type leaves struct {
	// value contains all leaves, also the defaults of members that are not written.
	value map[string]any
	// isDefault marks the leaves that have their defaults, written or not.
	isDefault map[string]bool
}

// emptyLeaf is an empty object or list, "{}" or "[]"; no string equals it.
type emptyLeaf string

func leavesOf(with json.RawMessage, s shape) leaves {
	all, root := leaves{map[string]any{}, map[string]bool{}}, map[string]any{}
	if len(with) > 0 {
		decode(with, &root)
	}
	all.collectMembers("", root, s)
	return all
}

// significant returns the values without the defaults that have no meaning in a comparison with
// another configuration: where that has no value, or if it is of another kind.
func (l leaves) significant(other leaves, sameKind bool) map[string]any {
	values := maps.Clone(l.value)
	maps.DeleteFunc(values, func(path string, _ any) bool {
		return l.isDefault[path] && (!sameKind || other.value[path] == nil)
	})
	return values
}

// guaranteeLeaves returns the members of guarantees as leaves.
func guaranteeLeaves(g schemas.Guarantees) map[string]any {
	text, _ := json.Marshal(g) // they are strings and booleans
	return leavesOf(text, shape{Properties: map[string]shape{"amr": {Unordered: true}}}).value
}

// decode decodes JSON of a compiled flow, with numbers in their notation.
func decode(text []byte, into any) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	_ = decoder.Decode(into) // it has been decoded before
}

func (l leaves) collectMembers(path string, object map[string]any, s shape) {
	for name, member := range object {
		l.collect(schemas.MemberPath(path, name), member, s.Properties[name])
	}
	for name, member := range s.Properties {
		if _, written := object[name]; !written && member.Default != nil {
			l.collect(schemas.MemberPath(path, name), member.fallback(), member)
		}
	}
}

func (l leaves) collect(path string, value any, s shape) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			l.value[path] = emptyLeaf("{}")
		}
		l.collectMembers(path, v, s)
	case []any:
		if len(v) == 0 {
			l.value[path] = emptyLeaf("[]")
		}
		for i, item := range v {
			l.collect(fmt.Sprintf("%s[%s]", path, s.index(i, item)), item, *cmp.Or(s.Items, &shape{}))
		}
	default:
		l.value[path], l.isDefault[path] = v, v == s.fallback()
	}
}

// fallback returns the default of a value, nil if there is none.
func (s shape) fallback() (value any) {
	if s.Default != nil {
		decode(s.Default, &value)
	}
	return value
}

// index returns the name of an item in a path: its number, or its content if the order has no
// meaning.
func (s shape) index(i int, item any) string {
	if s.Unordered {
		text, _ := json.Marshal(item) // it has been decoded from JSON
		return string(text)
	}
	return strconv.Itoa(i)
}
