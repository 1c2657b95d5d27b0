package schemas

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Strict decodes exactly one JSON value into a pointer to a Go value, for
// requests that have no schema of their own. Every member must be one of the
// Go type, in its exact spelling. What is wrong is an Invalid error with code
// invalid_request and a problem for each fault, nested ones too. A null counts
// as a member left out, as clients written in JavaScript expect.
func Strict(data []byte, into any) error {
	d, problems := ParseJSON(data)
	if len(problems) == 0 {
		problems = d.Locate(decode(d.root, d.text, into))
	}
	if len(problems) == 0 {
		return nil
	}
	return Errorf(Invalid, CodeInvalidRequest, "the request body is not as expected: %s", problems[0]).WithProblems(problems)
}

// decode compares a value with a Go type, and fills the Go value only if the
// two agree. encoding/json alone would stop at the first fault, match names in
// any letter case, and know no paths.
func decode(root *element, text json.RawMessage, into any) []Problem {
	target := reflect.TypeOf(into)
	if target == nil || target.Kind() != reflect.Pointer {
		panic(fmt.Sprintf("decode into %T: it must be a pointer", into))
	}
	f := fitting{}
	f.fit("", root, target.Elem())
	if len(f.problems) > 0 {
		return f.problems
	}
	if err := json.Unmarshal(text, into); err != nil {
		return []Problem{{Message: err.Error()}}
	}
	return nil
}

// fitting collects where a value does not fit a Go type.
type fitting struct{ problems []Problem }

var (
	jsonReading = reflect.TypeFor[json.Unmarshaler]()
	textReading = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// fit compares one value with the type that is to hold it.
func (f *fitting) fit(path string, e *element, t reflect.Type) {
	if e.shape == nullShape || t.Kind() == reflect.Interface {
		return
	}
	if reflect.PointerTo(t).Implements(jsonReading) || reflect.PointerTo(t).Implements(textReading) {
		f.try(path, e, t)
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		f.fit(path, e, t.Elem())
	case reflect.Struct:
		f.fitStruct(path, e, t)
	case reflect.Map:
		if f.expect(path, e, objectShape) {
			for _, m := range e.members {
				f.fit(memberPath(path, m.name), m.value, t.Elem())
			}
		}
	case reflect.Slice, reflect.Array:
		f.fitList(path, e, t)
	default:
		f.fitScalar(path, e, t)
	}
}

func (f *fitting) fitStruct(path string, e *element, t reflect.Type) {
	if !f.expect(path, e, objectShape) {
		return
	}
	members := membersOf(t)
	var known []string
	for _, m := range members {
		known = append(known, m.name)
	}
	for _, m := range e.members {
		if field, ok := fieldNamed(members, m.name); ok {
			f.fit(memberPath(path, m.name), m.value, field)
			continue
		}
		f.problems = append(f.problems, stranger(path, m.name, known))
	}
}

func (f *fitting) fitList(path string, e *element, t reflect.Type) {
	if t.Elem().Kind() == reflect.Uint8 {
		f.try(path, e, t)
		return
	}
	if !f.expect(path, e, arrayShape) {
		return
	}
	for i, item := range e.items {
		f.fit(itemPath(path, i), item, t.Elem())
	}
}

func (f *fitting) fitScalar(path string, e *element, t reflect.Type) {
	switch kind := t.Kind(); {
	case kind == reflect.String:
		f.expect(path, e, stringShape)
	case kind == reflect.Bool:
		f.expect(path, e, booleanShape)
	case reflect.New(t).Elem().CanInt(), reflect.New(t).Elem().CanUint():
		if f.expect(path, e, "integer") {
			f.try(path, e, t)
		}
	default:
		if f.expect(path, e, numberShape) {
			f.try(path, e, t)
		}
	}
}

// expect reports whether the value has the shape, and notes it if not.
func (f *fitting) expect(path string, e *element, want shape) bool {
	if e.shape == want || want == "integer" && e.shape == numberShape {
		return true
	}
	f.note(path, "expected "+want.words()+", got "+e.shape.words())
	return false
}

// try decodes a value whose type has a notation of its own, or a range. The
// decoder's own words are shown only where the type is ours, or a well-known
// one, and says what it expects.
func (f *fitting) try(path string, e *element, t reflect.Type) {
	err := json.Unmarshal(e.appendJSON(nil), reflect.New(t).Interface())
	if err == nil {
		return
	}
	switch {
	case reflect.New(t).Elem().CanInt():
		f.note(path, fmt.Sprintf("expected a whole number of at most %d bits, got %s", t.Bits(), e.text))
	case reflect.New(t).Elem().CanUint():
		f.note(path, fmt.Sprintf("expected a whole number from 0 of at most %d bits, got %s", t.Bits(), e.text))
	case t.PkgPath() == "time":
		f.note(path, "expected a time such as 2026-01-31T12:00:00Z (RFC 3339)")
	default:
		f.note(path, err.Error())
	}
}

func (f *fitting) note(path, message string) {
	f.problems = append(f.problems, Problem{Path: path, Message: message})
}

// field is a member a Go struct has in JSON.
type field struct {
	name string
	typ  reflect.Type
}

// membersOf lists a struct's members, those of embedded structs among them.
func membersOf(t reflect.Type) []field {
	var members []field
	for i := range t.NumField() {
		sf := t.Field(i)
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case sf.Anonymous && name == "" && sf.Type.Kind() == reflect.Struct:
			members = append(members, membersOf(sf.Type)...)
		case !sf.IsExported():
		case name == "":
			members = append(members, field{name: sf.Name, typ: sf.Type})
		default:
			members = append(members, field{name: name, typ: sf.Type})
		}
	}
	return members
}

func fieldNamed(members []field, name string) (reflect.Type, bool) {
	for _, m := range members {
		if m.name == name {
			return m.typ, true
		}
	}
	return nil, false
}
