package schemas

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// checkLines is what Check says, one problem a string.
func checkLines(s *Schema, value string) []string {
	var all []string
	for _, p := range s.Check(json.RawMessage(value)) {
		all = append(all, p.String())
	}
	return all
}

func TestCheckExplainsEveryKeyword(t *testing.T) {
	tests := []struct{ schema, value, want string }{
		{`{"type": "string"}`, `[]`, `expected a string, got a list`},
		{`{"type": "object", "x-expect": "a map such as {a: b}"}`, `[]`, `expected a map such as {a: b}, got a list`},
		{`{"type": "integer"}`, `1.5`, `expected a whole number, got a number with a fraction`},
		{`{"type": ["boolean", "null", "object"]}`, `"x"`, `expected true or false, null or an object, got a string`},
		{`{"type": "string"}`, `false`, `expected a string, got false; put it in quotes`},
		{`{"enum": ["ALLOW", "DENY"]}`, `"ALOW"`, `expected "ALLOW" or "DENY", got "ALOW"; did you mean "ALLOW"?`},
		{`{"enum": [1, 2]}`, `3`, `expected 1 or 2, got a number`},
		{`{"const": "a"}`, `"b"`, `expected "a", got "b"`},
		{`{"pattern": "^a$"}`, `"secret"`, `expected text that matches ^a$`},
		{`{"pattern": "^a$", "x-expect": "the letter a"}`, `"secret"`, `expected the letter a`},
		{`{"format": "email"}`, `"secret"`, `expected an e-mail address`},
		{`{"format": "ipv4"}`, `"secret"`, `expected a valid ipv4`},
		{`{"minLength": 8}`, `"sécret"`, `expected at least 8 characters, got 6`},
		{`{"maxLength": 1}`, `"secret"`, `expected at most 1 character, got 6`},
		{`{"minLength": 8, "pattern": "[0-9]"}`, `"secret"`, `expected at least 8 characters, got 6`},
		{`{"minimum": 2}`, `1`, `expected at least 2, got 1`},
		{`{"maximum": 2}`, `3`, `expected at most 2, got 3`},
		{`{"exclusiveMinimum": 2}`, `2`, `expected more than 2, got 2`},
		{`{"exclusiveMaximum": 2}`, `2`, `expected less than 2, got 2`},
		{`{"multipleOf": 0.5}`, `0.7`, `expected a multiple of 0.5, got 0.7`},
		{`{"minItems": 2}`, `[1]`, `expected at least 2 items, got 1`},
		{`{"maxItems": 0}`, `[1]`, `expected at most 0 items, got 1`},
		{`{"uniqueItems": true}`, `[1, 2, 1]`, `[2]: expected each item once, and this one is already at [0]; remove one`},
		{`{"uniqueItems": true}`, `[{"a": 1, "b": 2}, {"b": 2, "a": 1}]`, `[1]: expected each item once, and this one is already at [0]; remove one`},
		{`{"uniqueItems": true}`, `[1, 1.0]`, `expected each item once, got two that are equal; remove one`},
		{`{"minProperties": 1}`, `{}`, `expected at least 1 member, got 0`},
		{`{"maxProperties": 1}`, `{"a": 1, "b": 2}`, `expected at most 1 member, got 2`},
		{`{"required": ["a"]}`, `{}`, `a: required member "a" is missing`},
		{`{"required": ["a"], "properties": {"a": {"description": "The first. And more."}}}`, `{}`, `a: required member "a" is missing: The first`},
		{`{"dependentRequired": {"a": ["b"]}}`, `{"a": 1}`, `required member "b" is missing: another member given here requires it`},
		{`{"properties": {"a": true}, "additionalProperties": false}`, `{"b": 1}`, `b: unknown member "b"; known: a`},
		{`{"additionalProperties": false}`, `{"b": 1}`, `b: unknown member "b"; none is known here`},
		{`{"properties": {"name": true}, "patternProperties": {"^x-": true}, "additionalProperties": false}`, `{"x-a": 1, "nam": 2}`, `nam: unknown member "nam"; did you mean "name"?`},
		{`{"properties": {"a": false}}`, `{"a": 1}`, `a: nothing is allowed here; remove it`},
		{`{"properties": {"a": true}, "unevaluatedProperties": false}`, `{"b": 1}`, `b: unknown member "b"; known: a`},
		{`{"allOf": [{"properties": {"name": true}}], "unevaluatedProperties": false}`, `{"nmae": 1}`, `nmae: unknown member "nmae"; did you mean "name"?`},
		{`{"propertyNames": {"pattern": "^[a-z]+$", "x-expect": "lower-case letters"}}`, `{"A B": 1}`, `["A B"]: the name "A B" is not allowed here: expected lower-case letters`},
		{`{"propertyNames": {"maxLength": 2}}`, `{"abc": "x"}`, `abc: the name "abc" is not allowed here: expected at most 2 characters, got 3`},
		{`{"properties": {"propertyNames": {"type": "string"}}}`, `{"propertyNames": 1}`, `propertyNames: expected a string, got a number; put it in quotes`},
		{`{"prefixItems": [true], "items": false}`, `[1, 2]`, `[1]: nothing is allowed here; remove it`},
		{`{"contains": {"const": 1}}`, `[2, 3]`, `expected a list with an item of another form: 1`},
		{`{"contains": {"const": 1}, "maxContains": 1}`, `[1, 1]`, `expected a list with fewer items of the same form: 1`},
		{`{"not": {"const": "end"}}`, `"end"`, `it must not be "end"`},
		{`{"not": {"type": "string"}}`, `"x"`, `this is not allowed here`},
		{`{"if": {"required": ["a"]}, "then": {"required": ["b"]}}`, `{"a": 1}`, `b: required member "b" is missing`},
		{`{"dependentSchemas": {"a": {"required": ["b"]}}}`, `{"a": 1}`, `b: required member "b" is missing`},
		{`{"$ref": "#/$defs/x", "$defs": {"x": {"type": "string"}}}`, `{}`, `expected a string, got an object`},
		{`{"properties": {"a/b~c%": {"type": "string"}}}`, `{"a/b~c%": []}`, `["a/b~c%"]: expected a string, got a list`},
		{`false`, `1`, `not allowed`},
		{`{"type": "object"}`, ``, `expected a value, got the end of the text`},
		{`{"type": "object"}`, `{"a": 1, "a": 2}`, `a: "a" is given twice, first on line 1; remove one`},
	}
	for _, test := range tests {
		s, err := CompileSchema("test", []byte(test.schema))
		if err != nil {
			t.Errorf("%s: %v", test.schema, err)
			continue
		}
		if got := checkLines(s, test.value); !slices.Equal(got, []string{test.want}) {
			t.Errorf("%s\n  of %s\n   got %q\n  want %q", test.schema, test.value, got, test.want)
		}
	}
}

// TestCheckReportsEachFaultOnce has schemas whose branches fail together.
func TestCheckReportsEachFaultOnce(t *testing.T) {
	const shapes = `{"oneOf": [
		{"type": "object", "required": ["kind", "radius"], "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "additionalProperties": false},
		{"type": "object", "required": ["kind", "side"], "properties": {"kind": {"const": "square"}, "side": {"type": "number"}}, "additionalProperties": false}
	]}`
	tests := []struct {
		schema, value string
		want          []string
	}{
		{`{"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "object"}]}`, `[]`,
			[]string{"expected a string, a number or an object, got a list"}},
		{`{"oneOf": [{"const": "a"}, {"const": "b"}]}`, `"c"`, []string{`expected "a" or "b", got "c"`}},
		{`{"anyOf": [{"enum": ["left", "right"]}, {"enum": ["up", "down"]}]}`, `"lift"`, []string{`expected "left", "right", "up" or "down", got "lift"; did you mean "left"?`}},
		{`{"anyOf": [{"required": ["a"]}, {"required": ["b", "c"]}]}`, `{}`, []string{`expected "a" or "b" with "c"`}},
		{`{"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"type": "string"}}}]}`, `{"a": []}`,
			[]string{"a: expected a string, got a list"}},
		{`{"anyOf": [{"type": "string", "pattern": "^a"}, {"type": "object"}]}`, `"b"`, []string{"expected text that matches ^a"}},
		{shapes, `{"kind": "square", "side": "x"}`, []string{"side: expected a number, got a string"}},
		{shapes, `{"kind": "circle", "side": 1}`, []string{`radius: required member "radius" is missing`, `side: unknown member "side"; known: kind, radius`}},
		{shapes, `{"kind": "triangle"}`, []string{`kind: expected "circle" or "square", got "triangle"`}},
		{`{"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}`, `{"a": 1, "b": 1}`, []string{"it matches two forms at once; remove the members of one of them"}},
		{`{"allOf": [{"required": ["a"]}, {"required": ["a"]}]}`, `{}`, []string{`a: required member "a" is missing`}},
		{`{"allOf": [{"minLength": 2}, {"pattern": "b"}]}`, `"a"`, []string{"expected at least 2 characters, got 1"}},
		{`{"required": ["name"], "properties": {"name": true}, "additionalProperties": false}`, `{"nmae": 1}`,
			[]string{`nmae: unknown member "nmae"; did you mean "name"?`}},
		{`{"required": ["name"], "properties": {"name": {"type": "string"}}, "additionalProperties": false}`, `{"name": [], "nmae": 1}`,
			[]string{"name: expected a string, got a list", `nmae: unknown member "nmae"; did you mean "name"?`}},
		{`{"properties": {"a": {"type": "string"}, "b": {"items": {"type": "string"}}}, "required": ["c"], "additionalProperties": false}`,
			`{"b": ["x", 1, 2], "d": 1, "a": []}`,
			[]string{`c: required member "c" is missing`, "b[1]: expected a string, got a number; put it in quotes", "b[2]: expected a string, got a number; put it in quotes", `d: unknown member "d"; known: a, b`, "a: expected a string, got a list"}},
	}
	for _, test := range tests {
		if got := checkLines(MustSchema("test", test.schema), test.value); !slices.Equal(got, test.want) {
			t.Errorf("%s\n  of %s\n   got %q\n  want %q", test.schema, test.value, got, test.want)
		}
	}
}

// TestCheckNeverShowsValues guards passwords, which are checked by schemas too.
func TestCheckNeverShowsValues(t *testing.T) {
	const secret = "hunter2-hunter2"
	schemas := []string{
		`{"type": "number"}`, `{"pattern": "^x$"}`, `{"format": "email"}`, `{"format": "uuid"}`, `{"maxLength": 2}`,
		`{"minLength": 99}`, `{"not": {"type": "string"}}`, `{"anyOf": [{"pattern": "^x$"}, {"maxLength": 1}]}`, `false`,
	}
	for _, schema := range schemas {
		got := checkLines(MustSchema("test", schema), `"`+secret+`"`)
		if len(got) == 0 || strings.Contains(strings.Join(got, "\n"), "hunter2") {
			t.Errorf("%s: %q", schema, got)
		}
	}
}

func TestCompileSchemaRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "other.json")
	datatest.WriteFile(t, file, `{"type": "string"}`)
	tests := map[string]string{
		`{"type": "strin"}`:                           "",
		`{"type": "object"`:                           "not valid JSON",
		`[]`:                                          "",
		`{"$ref": "#/$defs/missing"}`:                 "",
		`{"$ref": "file://` + file + `"}`:             "its own definitions",
		`{"$ref": "` + file + `"}`:                    "its own definitions",
		`{"$ref": "https://example.com/schema.json"}`: "its own definitions",
		`{"$id": "https://example.com/a/", "$ref": "schema.json"}`: "its own definitions",
		`{"$dynamicRef": "https://example.com/schema.json#x"}`:     "its own definitions",
		`{"$schema": "http://json-schema.org/draft-07/schema#"}`:   "expected " + Draft,
		`{"$schema": "https://example.com/meta"}`:                  "expected " + Draft,
		`{"$schema": 5}`:                     "expected " + Draft,
		`{"pattern": "("}`:                   "",
		`{"pattern": "(?=a)"}`:               "",
		`{"patternProperties": {"(": true}}`: "",
		`{"$ref": "#"}`:                      "",
		`{"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"$ref": "#/$defs/a"}}}`: "",
		`{"type": "string", "type": "number"}`:                                      "given twice",
		`{"maximum": 1e999999999}`:                                                  "out of range",
		`{"$id": "urn:x#y"}`:                                                        "",
	}
	for text, want := range tests {
		s, err := CompileSchema("test", []byte(text))
		if err == nil {
			t.Errorf("%s: accepted: %q", text, checkLines(s, `{}`))
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, expected it to say %q", text, err, want)
		}
	}
}

func TestSchemaWithIDResolvesItself(t *testing.T) {
	for _, id := range []string{"https://example.com/schemas/a.json", "urn:example:a", "a.json"} {
		s := MustSchema("a b", `{"$id": "`+id+`", "type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"enum": ["one"]}}}`)
		if got, want := checkLines(s, `{"a": "two"}`), []string{`a: expected "one", got "two"`}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, expected %q", id, got, want)
		}
	}
}

func TestMustSchemaPanics(t *testing.T) {
	defer func() {
		if r, _ := recover().(string); !strings.Contains(r, "schema broken") {
			t.Errorf("got %q, expected a panic that names the schema", r)
		}
	}()
	MustSchema("broken", `{"type": 5}`).Check([]byte(`1`))
}

func TestRaw(t *testing.T) {
	text := `{"type": "string"}`
	if got := string(MustSchema("test", text+"\n").Raw()); got != text {
		t.Errorf("got %s", got)
	}
}
