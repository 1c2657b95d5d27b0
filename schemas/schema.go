package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Draft is the only dialect of JSON Schema that Postern supports.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// Schema is a compiled JSON Schema (draft 2020-12) and its text. It is safe
// for concurrent use.
//
// Formats are asserted. Our own annotation "x-expect" describes a pattern, format or "not" in words
// that fit after "expected":
//
//	{"type": "string", "pattern": "^[a-z]+$", "x-expect": "lower-case letters"}
//
// Two more annotations are true or absent: "x-unordered" states that the order of a list has no
// meaning, and "x-verbatim" at a top-level member that null in its value is data, not absence.
//
// Forms and documentation take everything that they show from the schema of a noun: the order of the members,
// their "title" and "description", whose first sentence states what the member does, and
//
//	"x-groups"  at the root: the groups of members in their order, each with a name, title, description and sections
//	"x-group"   the place of a member, group/section; without it, the place of the member that contains it
//	"x-labels"  the values of an enum in words
//	"x-unit"    "seconds": the number is a duration
//	"x-hidden"  true: no form shows it, because another member is the same, or because it has one possible value
//
// texts/ has their translations.
type Schema struct {
	raw      func() json.RawMessage
	compiled func() *compiledSchema
	accepted acceptedValues // by Check
}

// compiledSchema is what the checks of values need.
type compiledSchema struct {
	*jsonschema.Schema
	doc any    // the text, decoded, to look up what a keyword said
	url string // the address of the text for the validator

	optionalText []string   // the members of type string that may be empty or absent
	verbatim     []string   // the members in which null is data
	lists        []longList // the members that are lists of many items
}

// ofProgram are the schemas of the program, by name and text.
var ofProgram sync.Map

// MustSchema returns a schema that is part of the program. It is compiled once, when it first checks a
// value, because a server needs few of its schemas at its start. Then an invalid schema panics.
// The name appears in messages about the schema only.
func MustSchema(name, text string) *Schema {
	key := [2]string{name, text}
	if s, ok := ofProgram.Load(key); ok {
		return s.(*Schema)
	}
	s := new(Schema)
	s.raw = sync.OnceValue(func() json.RawMessage {
		d, problems := ParseJSON([]byte(text))
		if len(problems) > 0 {
			panic(fmt.Sprintf("schema %s: %s", name, problems[0]))
		}
		return d.JSON()
	})
	s.compiled = sync.OnceValue(func() *compiledSchema {
		compiled, err := CompileSchema(name, []byte(text))
		if err != nil {
			panic(fmt.Sprintf("schema %s: %v", name, err))
		}
		return compiled.compiled()
	})
	first, _ := ofProgram.LoadOrStore(key, s)
	return first.(*Schema)
}

// CompileSchema compiles a schema that may come from outside. A reference to
// another document is an error: nothing is ever fetched or opened.
func CompileSchema(name string, text []byte) (s *Schema, err error) {
	// The validator panics on some schemas that its own meta-schema lets pass.
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("not a usable JSON Schema: %v", r)
		}
	}()
	d, problems := ParseJSON(text)
	if len(problems) > 0 {
		return nil, fmt.Errorf("not valid JSON: %s", problems[0])
	}
	if m := d.root.member("$schema"); m != nil && m.value.text != Draft && m.value.text != Draft+"#" {
		return nil, fmt.Errorf("$schema is %s; expected %s", quote(m.value.text), Draft)
	}
	compiled, err := compile("urn:postern:schema:"+url.PathEscape(name), text)
	if err != nil {
		return nil, err
	}
	at, _, _ := strings.Cut(compiled.Location, "#")
	c := &compiledSchema{Schema: compiled, doc: d.root.plain(), url: at}
	for _, name := range slices.Sorted(maps.Keys(compiled.Properties)) {
		property := compiled.Properties[name]
		// An empty secret, which has a minimum length, is a mistake, not an absent one.
		if slices.Equal(property.Types, []string{"string"}) && property.MinLength <= 0 && !slices.Contains(compiled.Required, name) {
			c.optionalText = append(c.optionalText, name)
		}
		if d.At(JoinPath("properties", MemberPath(MemberPath("", name), "x-verbatim"))) != nil {
			c.verbatim = append(c.verbatim, name)
		}
		c.addList(name, property)
	}
	raw := d.JSON()
	return &Schema{raw: func() json.RawMessage { return raw }, compiled: func() *compiledSchema { return c }}, nil
}

func compile(url string, text []byte) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	c.RegisterExtension("email", nil, emailFormat{})
	c.LoadURL = func(ref string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("it refers to %s, but a schema may only refer to its own definitions (#/$defs/…)", ref)
	}
	if err := c.AddResource(url, bytes.NewReader(text)); err != nil {
		return nil, err
	}
	return c.Compile(url)
}

// Raw returns the schema's text.
func (s *Schema) Raw() json.RawMessage { return s.raw() }

// Check returns the problems of a value, in the order of the value, with paths relative to it and
// without lines. Each fault is reported once; at most fifty are returned, the last with the number
// of the others.
func (s *Schema) Check(value json.RawMessage) []Problem {
	if s.accepted.has(value) {
		return nil
	}
	d, problems := ParseJSON(value)
	if len(problems) > 0 {
		return withoutLines(problems)
	}
	found := s.check(d.root)
	if found.isEmpty() {
		s.accepted.add(value)
	}
	return withoutLines(found.inPlace())
}

// check validates a parsed value.
func (s *Schema) check(root *element) (found findings) {
	compiled := s.compiled()
	err := compiled.Validate(compiled.shortened(root).plain())
	if err == nil {
		return found
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		found.note(root.place, "the schema cannot be applied: ", truncate(err.Error(), maxCauseLength))
		return found
	}
	check := schemaErrors{schema: compiled, root: root, rules: make(map[string]rule)}
	var faults faultList
	check.faults(invalid, &faults)
	found = check.problemsOf(&faults)
	if found.isEmpty() { // a value that the validator rejects has at least one problem
		found.note(place{}, "this does not fit: ", truncate(invalid.Message, maxCauseLength))
	}
	return found
}

func withoutLines(problems []Problem) []Problem {
	for i := range problems {
		problems[i].Line, problems[i].Column = 0, 0
	}
	return problems
}
