package schemas

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Strict decodes exactly one JSON value into a pointer to a Go value, for requests without a
// schema. Every member must be one of the Go type, in its exact spelling. The error is Invalid with
// the code invalid_request and a problem for each of the first fifty faults, nested ones too. A
// member that is null counts as absent, as JavaScript clients expect; an item of a list does not.
//
// Anyone can send a body, so the cost is linear in it whatever is wrong.
func Strict(data []byte, into any) error {
	d, problems := ParseJSON(data)
	if len(problems) == 0 {
		problems = decode(d.root, d.text, into).inPlace().listed()
	}
	if len(problems) == 0 {
		return nil
	}
	return Errorf(Invalid, CodeInvalidRequest, "the request body is not as expected: %s", problems[0]).WithProblems(problems)
}

// decode compares a value with a Go type, and fills the Go value only if the
// two agree. encoding/json alone would stop at the first fault, match names in
// any letter case, and know no paths.
func decode(root *element, text json.RawMessage, into any) findings {
	target := reflect.TypeOf(into)
	if target == nil || target.Kind() != reflect.Pointer {
		panic(fmt.Sprintf("decode into %T: it must be a pointer", into))
	}
	f := typeChecker{types: make(map[reflect.Type][]field)}
	if root.shape == nullShape {
		f.note(root, "expected a value, got null")
	}
	f.fit(root, target.Elem())
	if f.isEmpty() {
		if err := json.Unmarshal(text, into); err != nil {
			f.note(root, truncate(err.Error(), maxCauseLength))
		}
	}
	return f.findings
}

// maxCauseLength is how many characters are shown of what another package says
// about a value, which may quote the value.
const maxCauseLength = 200

// typeChecker collects where a value does not fit a Go type.
type typeChecker struct {
	findings
	types map[reflect.Type][]field // the structs met so far
	at    valuePath                // of the value being compared
}

var (
	jsonReading = reflect.TypeFor[json.Unmarshaler]()
	anyJSON     = reflect.TypeFor[json.RawMessage]()
	textReading = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// fit compares one value with the type that is to hold it.
func (f *typeChecker) fit(e *element, t reflect.Type) {
	if e.shape == nullShape || t.Kind() == reflect.Interface || t == anyJSON {
		return
	}
	switch pointer := reflect.PointerTo(t); {
	case pointer.Implements(jsonReading):
		f.try(e, t)
		return
	case pointer.Implements(textReading):
		if f.expect(e, stringShape) {
			f.try(e, t)
		}
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		f.fit(e, t.Elem())
	case reflect.Struct:
		f.fitStruct(e, t)
	case reflect.Map:
		if f.expect(e, objectShape) {
			for _, m := range e.members() {
				f.fitMember(m, t.Elem())
			}
		}
	case reflect.Slice, reflect.Array:
		f.fitList(e, t)
	default:
		f.fitScalar(e, t)
	}
}

func (f *typeChecker) fitStruct(e *element, t reflect.Type) {
	if !f.expect(e, objectShape) {
		return
	}
	fields, ok := f.types[t]
	if !ok {
		fields = fieldsOf(t)
		f.types[t] = fields
	}
	for _, m := range e.members() {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == m.name })
		if i >= 0 {
			f.fitMember(m, fields[i].typ)
		} else if f.acceptsMore() {
			f.addKept(unknownMember(f.at, m, fieldNames(fields)))
		}
	}
}

func (f *typeChecker) fitMember(m member, t reflect.Type) {
	f.at = f.at.member(m.name)
	f.fit(m.value, t)
	f.at = f.at.up()
}

func (f *typeChecker) fitList(e *element, t reflect.Type) {
	if t.Elem().Kind() == reflect.Uint8 {
		f.try(e, t)
		return
	}
	if !f.expect(e, arrayShape) {
		return
	}
	for i, item := range e.items {
		f.at = f.at.item(i)
		if item.shape == nullShape && t.Elem().Kind() != reflect.Interface && t.Elem() != anyJSON {
			f.note(item, "expected a value, got null")
		}
		f.fit(item, t.Elem())
		f.at = f.at.up()
	}
}

func (f *typeChecker) fitScalar(e *element, t reflect.Type) {
	switch kind := t.Kind(); {
	case kind == reflect.String:
		f.expect(e, stringShape)
	case kind == reflect.Bool:
		f.expect(e, booleanShape)
	case reflect.Int <= kind && kind <= reflect.Int64:
		if !f.expect(e, integerShape) {
			return
		}
		if _, err := strconv.ParseInt(e.text, 10, t.Bits()); err != nil && f.acceptsMore() {
			f.addKept(f.problem(e, fmt.Sprintf("expected a whole number of at most %d bits, got %s", t.Bits(), e.text)))
		}
	case reflect.Uint <= kind && kind <= reflect.Uintptr:
		if !f.expect(e, integerShape) {
			return
		}
		if _, err := strconv.ParseUint(e.text, 10, t.Bits()); err != nil && f.acceptsMore() {
			f.addKept(f.problem(e, fmt.Sprintf("expected a whole number from 0 of at most %d bits, got %s", t.Bits(), e.text)))
		}
	default:
		if f.expect(e, numberShape) {
			f.try(e, t)
		}
	}
}

// expect reports whether the value has the shape, and notes it if not.
func (f *typeChecker) expect(e *element, want shape) bool {
	if e.shape == want || want == integerShape && e.shape == numberShape {
		return true
	}
	if f.acceptsMore() {
		f.addKept(f.problem(e, "expected "+want.words()+", got "+e.shape.words()))
	}
	return false
}

// try decodes a value whose type has a notation of its own, or a range.
func (f *typeChecker) try(e *element, t reflect.Type) {
	err := json.Unmarshal(e.appendJSON(nil), reflect.New(t).Interface())
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil:
	case t == reflect.TypeFor[time.Time]():
		f.note(e, "expected a time such as 2026-01-31T12:00:00Z (RFC 3339)")
	case errors.As(err, &mismatch):
		// Its own words name Go types, which mean nothing to a client.
		f.note(e, "a value of this form does not fit here")
	default:
		f.note(e, truncate(err.Error(), maxCauseLength))
	}
}

// note adds a problem with the value, whose words cost nothing.
func (f *typeChecker) note(e *element, message string) {
	if f.acceptsMore() {
		f.addKept(f.problem(e, message))
	}
}

func (f *typeChecker) problem(e *element, message string) Problem {
	return Problem{Path: f.at.String(), Message: message, Line: int(e.line), Column: int(e.column)}
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
