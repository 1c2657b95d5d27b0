package schemas

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Strict decodes exactly one JSON value into a pointer to a Go value, for
// requests that have no schema of their own. Every member must be one of the
// Go type, in its exact spelling. What is wrong is an Invalid error with code
// invalid_request and a problem for each fault, nested ones too. A null counts
// as a member left out, as clients written in JavaScript expect.
func Strict(data []byte, into any) error {
	d, problems := ParseJSON(data)
	if len(problems) == 0 {
		problems = bounded(d.Locate(decode(d.root, d.text, into)))
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
	f := fitting{types: make(map[reflect.Type][]field)}
	if root.shape == nullShape {
		f.note(nil, "expected a value, got null")
	}
	f.fit(nil, root, target.Elem())
	if len(f.problems) > 0 {
		return f.problems
	}
	if err := json.Unmarshal(text, into); err != nil {
		return []Problem{{Message: err.Error()}}
	}
	return nil
}

// fitting collects where a value does not fit a Go type.
type fitting struct {
	types    map[reflect.Type][]field // the structs met so far
	problems []Problem
}

var (
	jsonReading = reflect.TypeFor[json.Unmarshaler]()
	anyJSON     = reflect.TypeFor[json.RawMessage]()
	textReading = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// fit compares one value with the type that is to hold it.
func (f *fitting) fit(at *trail, e *element, t reflect.Type) {
	if e.shape == nullShape || t.Kind() == reflect.Interface || t == anyJSON {
		return
	}
	switch pointer := reflect.PointerTo(t); {
	case pointer.Implements(jsonReading):
		f.try(at, e, t)
		return
	case pointer.Implements(textReading):
		if f.expect(at, e, stringShape) {
			f.try(at, e, t)
		}
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		f.fit(at, e, t.Elem())
	case reflect.Struct:
		f.fitStruct(at, e, t)
	case reflect.Map:
		if f.expect(at, e, objectShape) {
			for _, m := range e.members {
				f.fit(at.member(m.name), m.value, t.Elem())
			}
		}
	case reflect.Slice, reflect.Array:
		f.fitList(at, e, t)
	default:
		f.fitScalar(at, e, t)
	}
}

func (f *fitting) fitStruct(at *trail, e *element, t reflect.Type) {
	if !f.expect(at, e, objectShape) {
		return
	}
	fields, ok := f.types[t]
	if !ok {
		fields = fieldsOf(t)
		f.types[t] = fields
	}
	for _, m := range e.members {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == m.name })
		if i >= 0 {
			f.fit(at.member(m.name), m.value, fields[i].typ)
			continue
		}
		f.problems = append(f.problems, stranger(at.String(), m.name, fieldNames(fields)))
	}
}

func (f *fitting) fitList(at *trail, e *element, t reflect.Type) {
	if t.Elem().Kind() == reflect.Uint8 {
		f.try(at, e, t)
		return
	}
	if !f.expect(at, e, arrayShape) {
		return
	}
	for i, item := range e.items {
		f.fit(at.item(i), item, t.Elem())
	}
}

func (f *fitting) fitScalar(at *trail, e *element, t reflect.Type) {
	switch kind := t.Kind(); {
	case kind == reflect.String:
		f.expect(at, e, stringShape)
	case kind == reflect.Bool:
		f.expect(at, e, booleanShape)
	case reflect.New(t).Elem().CanInt(), reflect.New(t).Elem().CanUint():
		if f.expect(at, e, "integer") {
			f.try(at, e, t)
		}
	default:
		if f.expect(at, e, numberShape) {
			f.try(at, e, t)
		}
	}
}

// expect reports whether the value has the shape, and notes it if not.
func (f *fitting) expect(at *trail, e *element, want shape) bool {
	if e.shape == want || want == "integer" && e.shape == numberShape {
		return true
	}
	f.note(at, "expected "+want.words()+", got "+e.shape.words())
	return false
}

// try decodes a value whose type has a notation of its own, or a range.
func (f *fitting) try(at *trail, e *element, t reflect.Type) {
	target := reflect.New(t)
	err := json.Unmarshal(e.appendJSON(nil), target.Interface())
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil:
	case target.Elem().CanInt():
		f.note(at, fmt.Sprintf("expected a whole number of at most %d bits, got %s", t.Bits(), e.text))
	case target.Elem().CanUint():
		f.note(at, fmt.Sprintf("expected a whole number from 0 of at most %d bits, got %s", t.Bits(), e.text))
	case t == reflect.TypeFor[time.Time]():
		f.note(at, "expected a time such as 2026-01-31T12:00:00Z (RFC 3339)")
	case errors.As(err, &mismatch):
		// Its own words name Go types, which mean nothing to a client.
		f.note(at, "a value of this form does not fit here")
	default:
		f.note(at, err.Error())
	}
}

func (f *fitting) note(at *trail, message string) {
	f.problems = append(f.problems, Problem{Path: at.String(), Message: message})
}

// field is a member a Go struct has in JSON.
type field struct {
	name string
	typ  reflect.Type
}

// fieldsOf lists a struct's members, those of embedded structs among them.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		sf := t.Field(i)
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case sf.Anonymous && name == "" && sf.Type.Kind() == reflect.Struct:
			fields = append(fields, fieldsOf(sf.Type)...)
		case !sf.IsExported():
		case name == "":
			fields = append(fields, field{name: sf.Name, typ: sf.Type})
		default:
			fields = append(fields, field{name: name, typ: sf.Type})
		}
	}
	return fields
}

func fieldNames(fields []field) []string {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	return names
}
