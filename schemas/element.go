package schemas

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// shape is the kind of a JSON value.
type shape byte

const (
	nullShape shape = iota
	booleanShape
	numberShape
	integerShape // only in types and schemas; a parsed value is a number
	stringShape
	arrayShape
	objectShape
)

// shapeNames are the names of the shapes in JSON Schema and in messages.
func shapeNames() [objectShape + 1][2]string {
	return [...][2]string{
		nullShape:    {"null", "null"},
		booleanShape: {"boolean", "true or false"},
		numberShape:  {"number", "a number"},
		integerShape: {"integer", "a whole number"},
		stringShape:  {"string", "a string"},
		arrayShape:   {"array", "a list"},
		objectShape:  {"object", "an object"},
	}
}

// words returns the name of the shape in messages.
func (s shape) words() string { return shapeNames()[s][1] }

// typeWords returns the name of a JSON Schema type in messages.
func typeWords(name string) string {
	for _, names := range shapeNames() {
		if names[0] == name {
			return names[1]
		}
	}
	return name
}

// place is a position in a text. Line and column start at 1; columns count characters, not bytes.
type place struct{ line, column int32 }

// problem is a problem at the place.
func (at place) problem(path, message string) Problem {
	return Problem{Path: path, Message: message, Line: int(at.line), Column: int(at.column)}
}

// element is a parsed value with its position. An untrusted text has one for every few bytes, so it
// is small.
type element struct {
	place
	text   string // a string's value; a number, true, false or null as written
	shape  shape
	items  []*element
	object *object // its members, if any
}

// object is the members of an object in the author's order.
type object struct {
	members []member
	index   map[string]int // member name → position, once there are more than a few
}

// member is one member of an object, with the place of its name.
type member struct {
	place
	name  string
	value *element
}

// fewAlternatives is the largest number of members that are searched without an index.
const fewAlternatives = 8

// addItem appends an item. It doubles the capacity of a full list, because append would copy long
// lists more often.
func (e *element) addItem(item *element) {
	if len(e.items) == cap(e.items) {
		e.items = slices.Grow(e.items, max(1, len(e.items)))
	}
	e.items = append(e.items, item)
}

// add appends a member and reports false if the object has one of that name.
func (e *element) add(m member) bool {
	if e.member(m.name) != nil {
		return false
	}
	if e.object == nil {
		e.object = new(object)
	}
	o := e.object
	if o.members = append(o.members, m); len(o.members) <= fewAlternatives {
		return true
	}
	if o.index == nil {
		o.index = make(map[string]int, 2*fewAlternatives)
		for i, m := range o.members {
			o.index[m.name] = i
		}
	}
	o.index[m.name] = len(o.members) - 1
	return true
}

// members returns the members of an object; none for any other value.
func (e *element) members() []member {
	if e.object == nil {
		return nil
	}
	return e.object.members
}

// member returns the member of that name, or nil.
func (e *element) member(name string) *member {
	members := e.members()
	if len(members) > fewAlternatives {
		if i, ok := e.object.index[name]; ok {
			return &members[i]
		}
		return nil
	}
	for i := range members {
		if members[i].name == name {
			return &members[i]
		}
	}
	return nil
}

// isNull reports whether a member counts as absent because its value is null.
func (m member) isNull() bool { return m.value.shape == nullShape }

// plain returns the value in the form of the schema validator: numbers are unrounded, and members
// that are null are absent.
func (e *element) plain() any {
	switch e.shape {
	case objectShape:
		object := make(map[string]any, len(e.members()))
		for _, m := range e.members() {
			if !m.isNull() {
				object[m.name] = m.value.plain()
			}
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
		for i, m := range e.members() {
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
	if !strings.ContainsFunc(s, needsEscape) {
		return append(append(append(out, '"'), s...), '"')
	}
	quoted, _ := json.Marshal(s) // a string always marshals
	return append(out, quoted...)
}

// needsEscape reports whether a character may need an escape in a JSON string.
func needsEscape(c rune) bool { return c < ' ' || c > '~' || c == '"' || c == '\\' }

// numberFault returns why a JSON number is rejected, or "". Numbers that a float64 cannot represent
// are rejected, because exact arithmetic with an exponent such as that of 1e999999 is expensive.
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
