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

// item returns the shape of the items of a list.
func (s shape) item() shape {
	if s.Items == nil {
		return shape{}
	}
	return *s.Items
}

// fallback returns the default of a value, nil if there is none.
func (s shape) fallback() any {
	var v any
	if s.Default == nil || decode(s.Default, &v) != nil {
		return nil
	}
	return v
}

// decode decodes JSON with numbers in their notation.
func decode(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// index returns the name of an item in a path: its number, or its content if the order has no
// meaning.
func (s shape) index(i int, item any) string {
	if s.Unordered {
		if text, err := json.Marshal(item); err == nil {
			return string(text)
		}
	}
	return strconv.Itoa(i)
}
