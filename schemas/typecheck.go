package schemas

import (
	"cmp"
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

// decode compares a document with a Go type, and fills the Go value only if the two agree.
// encoding/json alone would stop at the first fault, match names in any letter case, and know no
// paths. Bodies are untrusted, so the cost is linear in their length, whatever their problems are.
func decode(d *Document, s *Schema, into any) findings {
	target := reflect.TypeOf(into)
	if target == nil || target.Kind() != reflect.Pointer {
		panic(fmt.Sprintf("decode into %T: it must be a pointer", into))
	}
	f := typeChecker{types: make(map[reflect.Type]fields)}
	f.fit(d.root, target.Elem())
	if !f.isEmpty() {
		return f.findings
	}
	if d.root.hasNulls() {
		d = part(d.root.withoutNulls(s))
	}
	if err := json.Unmarshal(d.JSON(), into); err != nil {
		f.note(d.root.place, truncate(err.Error(), maxCauseLength))
	}
	return f.findings
}

// maxCauseLength limits the quoted error of another package, which may contain the value.
const maxCauseLength = 200

// typeChecker collects the differences between a value and a Go type.
type typeChecker struct {
	findings
	types map[reflect.Type]fields // the structs met so far
}

var (
	jsonReading = reflect.TypeFor[json.Unmarshaler]()
	anyJSON     = reflect.TypeFor[json.RawMessage]()
	textReading = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// fit compares one value with its Go type.
func (f *typeChecker) fit(e *element, t reflect.Type) {
	kind, pointer := t.Kind(), reflect.PointerTo(t)
	switch {
	case e.shape == nullShape:
		f.note(e.place, "expected a value, got null")
	case kind == reflect.Interface || t == anyJSON:
	case pointer.Implements(jsonReading):
		f.try(e, t)
	case kind == reflect.Pointer:
		f.fit(e, t.Elem())
	case pointer.Implements(textReading):
		if f.expect(e, stringShape) {
			f.try(e, t)
		}
	case kind == reflect.Struct:
		f.fitStruct(e, t)
	case kind == reflect.Map:
		f.fitParts(e, t, objectShape)
	case kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		f.try(e, t)
	case kind == reflect.Slice || kind == reflect.Array:
		f.fitParts(e, t, arrayShape)
	default:
		f.fitScalar(e, t)
	}
}

// fitParts compares the members of an object, or the items of a list, with their one type.
func (f *typeChecker) fitParts(e *element, t reflect.Type, want shape) {
	if !f.expect(e, want) {
		return
	}
	for m := range f.children(e) {
		if want == arrayShape || !m.isNull() {
			f.fit(m.value, t.Elem())
		}
	}
}

func (f *typeChecker) fitStruct(e *element, t reflect.Type) {
	if !f.expect(e, objectShape) {
		return
	}
	known, met := f.types[t]
	if !met {
		known = fieldsOf(t)
		f.types[t] = known
	}
	for _, m := range e.members() {
		i := slices.Index(known.names, m.name)
		switch {
		case i < 0:
			f.noteUnknown(m, known.names)
		case !m.isNull():
			f.at = f.at.member(m.name)
			f.fit(m.value, known.types[i])
			f.at = f.at.up()
		}
	}
}

func (f *typeChecker) fitScalar(e *element, t reflect.Type) {
	var err error
	sign := ""
	switch kind := t.Kind(); {
	case kind == reflect.String:
		f.expect(e, stringShape)
	case kind == reflect.Bool:
		f.expect(e, booleanShape)
	case kind == reflect.Float32 || kind == reflect.Float64:
		if f.expect(e, numberShape) {
			f.try(e, t)
		}
	case !f.expect(e, integerShape):
	case kind <= reflect.Int64:
		_, err = strconv.ParseInt(e.text, 10, t.Bits())
	default:
		_, err = strconv.ParseUint(e.text, 10, t.Bits())
		sign = "from 0 "
	}
	if err != nil {
		f.note(e.place, "expected a whole number ", sign, "of at most ", strconv.Itoa(t.Bits()), " bits, got ", e.text)
	}
}

// expect reports whether the value has the shape, and notes it if not.
func (f *typeChecker) expect(e *element, want shape) bool {
	if e.shape == want || want == integerShape && e.shape == numberShape {
		return true
	}
	f.note(e.place, "expected ", want.words(), ", got ", e.shape.words())
	return false
}

// try decodes a value whose type has its own JSON form, or a range.
func (f *typeChecker) try(e *element, t reflect.Type) {
	err := json.Unmarshal(e.appendJSON(nil), reflect.New(t).Interface())
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil:
	case t == reflect.TypeFor[time.Time]():
		f.note(e.place, "expected a time such as 2026-01-31T12:00:00Z (RFC 3339)")
	case errors.As(err, &mismatch):
		// The error of the package names Go types, which mean nothing to a client.
		f.note(e.place, "a value of this type is not allowed here")
	default:
		f.note(e.place, truncate(err.Error(), maxCauseLength))
	}
}

// fields are the JSON members of a Go struct.
type fields struct {
	names []string
	types []reflect.Type
}

// fieldsOf lists a struct's members, those of embedded structs among them.
func fieldsOf(t reflect.Type) fields {
	all := fields{make([]string, 0, t.NumField()), make([]reflect.Type, 0, t.NumField())}
	for i := range t.NumField() {
		sf := t.Field(i)
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case sf.Anonymous && name == "" && sf.Type.Kind() == reflect.Struct:
			inner := fieldsOf(sf.Type)
			all.names, all.types = append(all.names, inner.names...), append(all.types, inner.types...)
		case sf.IsExported():
			all.names, all.types = append(all.names, cmp.Or(name, sf.Name)), append(all.types, sf.Type)
		}
	}
	return all
}
