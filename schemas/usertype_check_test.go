package schemas

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func compileType(t testing.TB, schema string) *CompiledUserType {
	t.Helper()
	c, err := CompileUserType(&UserType{Name: "T", Schema: json.RawMessage(schema)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCheckAttributes(t *testing.T) {
	person := string(Person().Schema)
	tests := map[string]struct {
		schema, attributes string
		want               []string // path: message, in order
	}{
		"a person":           {person, `{"username": "ada", "email": "ada@example.org", "password": "analytical", "birthdate": "1815-12-10", "address": {"country": "UK"}, "email_verified": true}`, nil},
		"an address abroad":  {person, `{"email": "ada@münchen.example"}`, nil},
		"nothing":            {person, `{}`, nil},
		"no object":          {person, `[]`, []string{": expected an object, got a list"}},
		"an unknown one":     {person, `{"givenname": "Ada"}`, []string{`givenname: unknown member "givenname"; did you mean "given_name"?`}},
		"everything at once": {person, `{"username": 1, "email": "ada", "website": "ftp://a", "password": 7}`, []string{"username: expected a string, got a number", "email: This is not an e-mail address", "website: expected an absolute URL", "password: expected a string, got a number"}},
		"no identifier":      {person, `{"username": "a b"}`, []string{"username: A username may contain letters"}},
		"an empty one":       {person, `{"username": ""}`, []string{"username: expected at least 1 character"}},
		"null":               {person, `{"name": null}`, []string{"name: expected a value, got null; leave it out"}},
		"twice":              {person, `{"name": "a", "name": "b"}`, []string{"name: \"name\" is given twice"}},
		"a rounded number":   {`{"type": "object"}`, `{"a": [9007199254740993]}`, []string{"a[0]: this number has more digits than can be stored"}},
		"the largest number": {`{"type": "object"}`, `{"a": [9007199254740992, -9007199254740992, 0.1, 1e300]}`, nil},
		"too much":           {`{"type": "object"}`, `{"a": "` + strings.Repeat("a", maxAttributesSize) + `"}`, []string{": expected at most 32768 bytes"}},
		"too many":           {`{"type": "object"}`, `{"a": [` + strings.Repeat("1,", maxAttributeParts) + `1]}`, []string{": expected at most 2000 values"}},
		"a name of numbers":  {`{"type": "object"}`, `{"username": 1, "email": ["a"]}`, []string{"username: expected a string, got a number", "email: expected a string, got a list"}},
		"an unkept password": {`{"type": "object"}`, `{"password": "analytical"}`, []string{`password: users of the type "T" have no password`}},
		"unseen in a unique": {attributes(`"badge": {"type": "string", "x-unique": true}`), `{"badge": "1\u200b"}`, []string{"badge: This contains an invisible character"}},
		"an empty unique":    {attributes(`"badge": {"type": "string", "x-unique": true}`), `{"badge": " "}`, []string{"badge: This is empty"}},
		"a unique number":    {attributes(`"badge": {"type": "integer", "x-unique": true}`), `{"badge": 7}`, nil},
		"not shown":          {person, `{"password": "` + strings.Repeat("s", 129) + `"}`, []string{"password: expected at most 128 characters, got 129"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			problems := compileType(t, test.schema).Check(json.RawMessage(test.attributes), true)
			var got []string
			for _, p := range problems {
				got = append(got, p.Path+": "+p.Message)
			}
			if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
				t.Errorf("got %q, expected %q", got, test.want)
			}
		})
	}
}

func TestCheckCredential(t *testing.T) {
	c := compileType(t, `{"type": "object", "required": ["username", "password"], "properties": {
		"username": {"type": "string"}, "password": {"type": "string", "x-credential": true}}}`)
	if got := c.Check(json.RawMessage(`{"username": "ada"}`), false); len(got) > 0 {
		t.Errorf("of one who has it: %v", got)
	}
	for _, test := range []struct {
		attributes string
		whole      bool
		path       string
	}{{`{"username": "ada"}`, true, "password"}, {`{"password": "a"}`, false, "username"}, {`{"username": "ada", "password": 1}`, false, "password"}} {
		if got := c.Check(json.RawMessage(test.attributes), test.whole); len(got) != 1 || got[0].Path != test.path {
			t.Errorf("%s: %v", test.attributes, got)
		}
	}
}

// Who changes a type learns which users it no longer fits, not what they have.
func TestWithoutValue(t *testing.T) {
	c := compileType(t, attributes(`"colour": {"enum": ["red", "blue"]}, "age": {"type": "integer", "maximum": 9}, "on": {"type": "string"}, "username": {"type": "string"}`))
	for _, p := range c.Check(json.RawMessage(`{"colour": "secret", "age": 77, "on": true, "username": "secret secret"}`), true) {
		got := p.WithoutValue().Message
		if strings.Contains(got, "secret") || strings.Contains(got, "77") || strings.Contains(got, "true") || got == "" {
			t.Errorf("%s: %s", p.Path, got)
		}
	}
}

// FuzzCheckDefinition has hostile definitions checked, and applied to what costs
// most. Work is measured in memory: the validator allocates wherever it looks.
func FuzzCheckDefinition(f *testing.F) {
	for _, seed := range []string{
		string(Person().Schema), doubling("anyOf", 7), doubling("items", 6), nested(`{"properties": {"a": `, 20),
		`{"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}`,
		`{"type": "object", "patternProperties": {"^a": {"enum": [1, "b"]}}, "additionalProperties": {"uniqueItems": true}}`,
		`{"type": "object", "properties": {"a": {"oneOf": [{"not": {"contains": {"pattern": "a+b"}}}, {"minLength": 1e9}]}}}`,
		`{"type": "object", "properties": {"a": {"multipleOf": 1e-300, "const": 1e300}}}`,
		`{"type": "object", "properties": {"password": {"type": "string", "x-credential": true}}, "required": ["password"]}`,
	} {
		f.Add(seed)
	}
	list := strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("a", 10)+`",`, 50), ",")
	worst := []json.RawMessage{
		json.RawMessage(`{"a": [` + list + `]}`),
		json.RawMessage(`{"a": ` + strings.Repeat("[", 90) + strings.Repeat("]", 90) + `, "password": "a"}`),
		json.RawMessage(`{` + manyMembers(50) + `}`),
	}
	f.Fuzz(func(t *testing.T, schema string) {
		c, err := CompileUserType(&UserType{Name: "T", Schema: json.RawMessage(schema)})
		if err != nil {
			return
		}
		for _, attributes := range worst {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c.Check(attributes, true)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 256<<20 {
				t.Fatalf("%d MiB for %d bytes of schema", used>>20, len(schema))
			}
		}
	})
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"a%d": "b",`, i)
	}
	return b.String() + `"b": 1`
}

// The dearest definitions that are allowed cost what their bounds say.
func TestCheckIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and in one goroutine")
	}
	var also []string
	for i := range 700 {
		also = append(also, fmt.Sprintf(`{"maxProperties": %d}`, i))
	}
	list := json.RawMessage(`{"a": [` + strings.Repeat(`"aaaaaaaaaaaa",`, 1900) + `1]}`)
	for name, test := range map[string]struct {
		schema     string
		attributes json.RawMessage
	}{
		"choices of each item": {attributes(`"a": {"items": {"enum": ["` + strings.Repeat("b", 900*16) + `"]}}`), list},
		"patterns of each":     {attributes(`"a": {"items": {"pattern": "(a?){200}b"}}`), list},
		"many of one object":   {`{"type": "object", "allOf": [` + strings.Join(also, ",") + `]}`, json.RawMessage(`{` + manyMembers(1900) + `}`)},
		"doubled":              {doubling("anyOf", 7), list},
	} {
		c := compileType(t, test.schema)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if c.Check(test.attributes, true) == nil {
			t.Errorf("%s: the worst is that nothing fits", name)
		}
		runtime.ReadMemStats(&after)
		used := (after.TotalAlloc - before.TotalAlloc) >> 20
		t.Logf("%s: %d MiB", name, used)
		if used > 512 {
			t.Errorf("%s: %d MiB", name, used)
		}
	}
}
