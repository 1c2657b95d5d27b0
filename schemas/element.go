package schemas

import (
	"encoding/json"
	"strconv"
	"strings"
)

// shape is the kind of a JSON value, in the words JSON Schema uses for it.
type shape string

const (
	nullShape    shape = "null"
	booleanShape shape = "boolean"
	numberShape  shape = "number"
	stringShape  shape = "string"
	arrayShape   shape = "array"
	objectShape  shape = "object"
)

// words names a JSON type as a message does. Schemas say "integer" too.
func (s shape) words() string {
	switch s {
	case booleanShape:
		return "true or false"
	case numberShape:
		return "a number"
	case "integer":
		return "a whole number"
	case stringShape:
		return "a string"
	case arrayShape:
		return "a list"
	case objectShape:
		return "an object"
	}
	return string(s)
}

// element is a parsed value that knows where it stands. Line and column start
// at 1; columns count characters, not bytes.
type element struct {
	shape        shape
	text         string // a string's value; a number, true, false or null as written
	line, column int
	items        []*element
	members      []member
	index        map[string]int // member name → position in members
}

// member is one member of an object, with the place of its name.
type member struct {
	name         string
	line, column int
	value        *element
}

// add appends a member and reports false if the object has one of that name.
func (e *element) add(m member) bool {
	if _, taken := e.index[m.name]; taken {
		return false
	}
	if e.index == nil {
		e.index = make(map[string]int)
	}
	e.index[m.name] = len(e.members)
	e.members = append(e.members, m)
	return true
}

// member returns the member of that name, or nil.
func (e *element) member(name string) *member {
	if i, ok := e.index[name]; ok {
		return &e.members[i]
	}
	return nil
}

// plain returns the value as the schema validator takes it, numbers unrounded.
func (e *element) plain() any {
	switch e.shape {
	case objectShape:
		object := make(map[string]any, len(e.members))
		for _, m := range e.members {
			object[m.name] = m.value.plain()
		}
		return object
	case arrayShape:
		list := make([]any, len(e.items))
		for i, item := range e.items {
			list[i] = item.plain()
		}
		return list
	case stringShape:
		return e.text
	case numberShape:
		return json.Number(e.text)
	case booleanShape:
		return e.text == "true"
	}
	return nil
}

// appendJSON writes the value as JSON, members in the author's order.
func (e *element) appendJSON(out []byte) []byte {
	switch e.shape {
	case objectShape:
		out = append(out, '{')
		for i, m := range e.members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendString(out, m.name), ':')
			out = m.value.appendJSON(out)
		}
		return append(out, '}')
	case arrayShape:
		out = append(out, '[')
		for i, item := range e.items {
			if i > 0 {
				out = append(out, ',')
			}
			out = item.appendJSON(out)
		}
		return append(out, ']')
	case stringShape:
		return appendString(out, e.text)
	}
	return append(out, e.text...)
}

// appendString writes a JSON string.
func appendString(out []byte, s string) []byte {
	if !strings.ContainsFunc(s, special) {
		return append(append(append(out, '"'), s...), '"')
	}
	quoted, _ := json.Marshal(s) // a string always marshals
	return append(out, quoted...)
}

// special reports whether a character may need an escape in a JSON string.
func special(c rune) bool { return c < ' ' || c > '~' || c == '"' || c == '\\' }

// numberFault says why a JSON number is refused, or "". Numbers a float64
// cannot hold are refused because exact arithmetic on their exponents would
// cost whatever the author of 1e999999 likes.
func numberFault(text string) string {
	const longest = 100
	if len(text) > longest {
		return "expected a number of at most 100 characters"
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || (f == 0 && !isZero(text)) {
		return "the number " + text + " is out of range; expected one between 1e-300 and 1e300"
	}
	return ""
}

// isZero reports whether the digits before any exponent are all zero.
func isZero(number string) bool {
	for _, c := range number {
		switch {
		case c == 'e' || c == 'E':
			return true
		case c >= '1' && c <= '9':
			return false
		}
	}
	return true
}
