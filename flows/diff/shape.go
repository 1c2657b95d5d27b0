package diff

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/postern-id/postern/schemas"
)

// shape is the part of a schema that affects the meaning of a value: its default, and whether
// the order of a list matters.
type shape struct {
	Default    json.RawMessage   `json:"default"`
	Properties map[string]*shape `json:"properties"`
	Items      *shape            `json:"items"`
	Unordered  bool              `json:"x-unordered"`
}

func shapeOf(s *schemas.Schema) *shape {
	root := &shape{}
	if s == nil || json.Unmarshal(s.Raw(), root) != nil { // a schema that compiled is an object
		return nil
	}
	return root
}

// member returns the shape of a member, nil if unknown.
func (s *shape) member(name string) *shape {
	if s == nil {
		return nil
	}
	return s.Properties[name]
}

// item returns the shape of the items of a list.
func (s *shape) item() *shape {
	if s == nil {
		return nil
	}
	return s.Items
}

// fallback returns the default of a value, nil if there is none.
func (s *shape) fallback() any {
	if s == nil || s.Default == nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(s.Default))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return nil
	}
	return v
}

// index returns the name of an item in a path: its number, or its content if the order has no
// meaning.
func (s *shape) index(i int, item any) string {
	if s != nil && s.Unordered {
		if text, err := json.Marshal(item); err == nil {
			return string(text)
		}
	}
	return strconv.Itoa(i)
}
