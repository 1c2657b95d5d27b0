package diff

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/postern-id/postern/schemas"
)

// shape is what a schema says of a value that matters to its meaning: what it is
// if it is left out, and whether the order of a list says something.
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

// member is the shape of a member, nil if nothing is said of it.
func (s *shape) member(name string) *shape {
	if s == nil {
		return nil
	}
	return s.Properties[name]
}

// item is the shape of the members of a list.
func (s *shape) item() *shape {
	if s == nil {
		return nil
	}
	return s.Items
}

// fallback is what a value is if it is left out, nil if nothing is said of that.
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

// index is how the path of an item names it: by its number, or by what it is
// where the order says nothing.
func (s *shape) index(i int, item any) string {
	if s != nil && s.Unordered {
		if text, err := json.Marshal(item); err == nil {
			return string(text)
		}
	}
	return strconv.Itoa(i)
}
