package schemas

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// attributes is a definition with the properties.
func attributes(properties string) string {
	return `{"type": "object", "properties": {` + properties + `}}`
}

func TestCheckDefinitionRefuses(t *testing.T) {
	tests := map[string]struct{ schema, path, message string }{
		"not JSON":                   {`{"type": `, "schema.type", "expected a value"},
		"doubled":                    {`{"type": "object", "type": "object"}`, "schema.type", "given twice"},
		"a list":                     {`[]`, "schema", "expected object or boolean, but got array"},
		"another draft":              {`{"type": "object", "$schema": "http://json-schema.org/draft-07/schema#"}`, "schema", "expected https://json-schema.org/draft/2020-12/schema"},
		"no type":                    {`{"properties": {}}`, "schema", `expected "type": "object" at the top`},
		"of a string":                {`{"type": "string"}`, "schema", `expected "type": "object" at the top`},
		"a misspelt keyword":         {`{"type": "object", "propertys": {}}`, "schema.propertys", `unknown keyword "propertys"; did you mean "properties"?`},
		"a keyword of another draft": {`{"type": "object", "definitions": {}}`, "schema.definitions", `unknown keyword "definitions"; remove it`},
		"an anchor":                  {attributes(`"a": {"$anchor": "b"}`), "schema.properties.a.$anchor", `unknown keyword "$anchor"`},
		"a dynamic reference":        {attributes(`"a": {"$dynamicRef": "#meta"}`), "schema.properties.a.$dynamicRef", `unknown keyword "$dynamicRef"`},
		"an unknown type":            {attributes(`"a": {"type": "text"}`), "schema.properties.a.type", `value must be one of "array"`},
		"a bound of words":           {attributes(`"a": {"type": "string", "minLength": "8"}`), "schema.properties.a.minLength", "expected integer, but got string"},
		"a negative bound":           {attributes(`"a": {"type": "string", "maxLength": -1}`), "schema.properties.a.maxLength", "must be >= 0"},
		"an unknown format":          {attributes(`"a": {"type": "string", "format": "e-mail"}`), "schema.properties.a.format", `unknown format "e-mail"; did you mean "email"?`},
		"a compiling format":         {attributes(`"a": {"type": "string", "format": "regex"}`), "schema.properties.a.format", `unknown format "regex"`},
		"a broken pattern":           {attributes(`"a": {"pattern": "("}`), "schema.properties.a.pattern", "regex"},
		"looking ahead":              {attributes(`"a": {"pattern": "(?=a)b"}`), "schema.properties.a.pattern", "regex"},
		"a large pattern":            {attributes(`"a": {"pattern": "(a{100}b{100}){9}"}`), "schema.properties.a.pattern", "instructions, expected at most 1000"},
		"many classes":               {attributes(`"a": {"pattern": "` + strings.Repeat(`\\pL`, 21) + `"}`), "schema.properties.a.pattern", "classes of Unicode characters"},
		"wide ranges without case":   {attributes(`"a": {"pattern": "(?i)[\\x{0}-\\x{ffff}]"}`), "schema.properties.a.pattern", "use shorter ranges"},
		"a broken name pattern":      {`{"type": "object", "patternProperties": {"(": {}}}`, `schema.patternProperties["("]`, "is not"},
		"a misspelt mark":            {attributes(`"a": {"type": "string", "x-uniqe": true}`), "schema.properties.a.x-uniqe", `did you mean "x-unique"?`},
		"a mark cut short":           {attributes(`"a": {"type": "string", "x-uniq": true}`), "schema.properties.a.x-uniq", `did you mean "x-unique"?`},
		"a mark drawn out":           {attributes(`"a": {"type": "string", "x-unique-value": true}`), "schema.properties.a.x-unique-value", `did you mean "x-unique"?`},
		"another misspelt mark":      {attributes(`"password": {"type": "string", "x-credential": true, "x-credentials": true}`), "schema.properties.password.x-credentials", `did you mean "x-credential"?`},
		"a mark of words":            {attributes(`"a": {"type": "string", "x-unique": "yes"}`), "schema.properties.a.x-unique", "expected true or false, got a string"},
		"unique lists":               {attributes(`"a": {"type": "array", "x-unique": true}`), "schema.properties.a.x-unique", "only an attribute of one type can be unique"},
		"unique anything":            {attributes(`"a": {"x-unique": true}`), "schema.properties.a.x-unique", "only an attribute of one type can be unique"},
		"unique parts":               {attributes(`"a": {"type": "object", "properties": {"b": {"type": "string", "x-unique": true}}}`), "schema.properties.a.properties.b.x-unique", "only attributes themselves"},
		"unique definitions":         {`{"type": "object", "$defs": {"a": {"type": "string", "x-unique": true}}}`, "schema.$defs.a.x-unique", "only attributes themselves"},
		"unique at the top":          {`{"type": "object", "x-unique": true}`, "schema.x-unique", "only attributes themselves"},
		"unique in a choice":         {`{"type": "object", "anyOf": [{"properties": {"a": {"type": "string", "x-unique": true}}}]}`, "schema.anyOf[0].properties.a.x-unique", "only attributes themselves"},
		"a secret of another name":   {attributes(`"pin": {"type": "string", "x-credential": true}`), "schema.properties.pin.x-credential", `only the attribute "password"`},
		"a password in the clear":    {attributes(`"password": {"type": "string"}`), "schema.properties.password", "stored and returned in the clear"},
		"a password of numbers":      {attributes(`"password": {"type": "integer", "x-credential": true}`), "schema.properties.password", "a password is text"},
		"a unique password":          {attributes(`"password": {"type": "string", "x-credential": true, "x-unique": true}`), "schema.properties.password.x-unique", "another user has the same"},
		"a username of numbers":      {attributes(`"username": {"type": "integer"}`), "schema.properties.username", "users sign in with it"},
		"an email of anything":       {attributes(`"email": true`), "schema.properties.email", "users sign in with it"},
		"an expectation of numbers":  {attributes(`"a": {"type": "string", "x-expect": 1}`), "schema.properties.a.x-expect", "expected a string"},
		"a blank in a name":          {attributes(`"a b": {}`), `schema.properties["a b"]`, "without spaces"},
		"a long name":                {attributes(`"` + strings.Repeat("a", 65) + `": {}`), `schema.properties["` + strings.Repeat("a", 64) + `…"]`, "at most 64 bytes"},
		"required and impossible":    {`{"type": "object", "additionalProperties": false, "required": ["emial"], "properties": {"email": {"type": "string"}}}`, "schema.required[0]", `unknown attribute "emial"; did you mean "email"?`},
		"an id inside":               {attributes(`"a": {"$id": "urn:a"}`), "schema.properties.a.$id", "only at the top"},
		"definitions inside":         {attributes(`"a": {"$defs": {"b": {}}}`), "schema.properties.a.$defs", "definitions must be at the top"},
		"a reference away":           {attributes(`"a": {"$ref": "https://example.com/schema"}`), "schema.properties.a.$ref", "refer to a definition at the top"},
		"a reference to a file":      {attributes(`"a": {"$ref": "file:///etc/passwd"}`), "schema.properties.a.$ref", "refer to a definition at the top"},
		"a reference to nothing":     {attributes(`"a": {"$ref": "#/$defs/b"}`), "schema.properties.a.$ref", `there is no "#/$defs/b"`},
		"a reference to the root":    {attributes(`"a": {"$ref": "#"}`), "schema.properties.a.$ref", "refer to a definition at the top"},
		"going round":                {`{"type": "object", "$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/a"}}}}}`, "schema.$defs.a.properties.b.$ref", `"a" refers to itself`},
		"going round in two":         {`{"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"not": {"$ref": "#/$defs/a"}}}}`, "schema.$defs.b.not.$ref", `"a" refers to itself`},
		"too large":                  {attributes(`"a": {"description": "` + strings.Repeat("a", maxDefinition) + `"}`), "schema", "expected at most 65536 bytes"},
		"too deep":                   {nested(`{"properties": {"a": `, 40), "schema", "deeper than 32 levels"},
		"doubling":                   {doubling("anyOf", 10), "schema", "would be too expensive"},
		"doubling members":           {doubling("items", 12), "schema", "would be too expensive"},
		"many choices":               {attributes(`"a": {"enum": [` + strings.Repeat("1,", 10000) + `1]}`), "schema", "would be too expensive"},
		"many choices of each":       {attributes(`"a": {"items": {"enum": [` + strings.Repeat("1,", 1000) + `1]}}`), "schema", "would be too expensive"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			u := UserType{Name: "T", Schema: json.RawMessage(test.schema)}
			reported := false
			problems := u.CheckDefinition()
			for _, p := range problems {
				reported = reported || p.Path == test.path && strings.Contains(p.Message, test.message)
			}
			if !reported {
				t.Errorf("got %v, expected %s: … %s", problems, test.path, test.message)
			}
			if _, err := CompileUserType(&u); !HasClass(err, Invalid) {
				t.Errorf("compiled: %v", err)
			}
		})
	}
}

func TestCheckDefinitionReportsAllErrors(t *testing.T) {
	u := UserType{Schema: json.RawMessage(`{"typ": "object", "properties": {"username": {"type": "integer", "minLength": "a"}, "b": {"format": "mail", "x-unique": 1}}}`)}
	got := ""
	for _, p := range u.CheckDefinition() {
		got += p.Path + "\n"
	}
	want := "schema\nschema.typ\nschema.properties.username\nschema.properties.username.minLength\n" +
		"schema.properties.b.format\nschema.properties.b.x-unique\n"
	if got != want {
		t.Errorf("got\n%sexpected\n%s", got, want)
	}
}

func TestCheckDefinitionAccepts(t *testing.T) {
	for name, schema := range map[string]string{
		"the least":       `{"type": "object"}`,
		"the dialect":     `{"$schema": "` + Draft + `", "$id": "urn:example:a", "type": "object"}`,
		"own annotations": attributes(`"a": {"x-order": 3, "x-widget": {"kind": "date"}}`),
		"shared parts": `{"type": "object", "$defs": {"short": {"type": "string", "maxLength": 20}, "pair": {"prefixItems": [{"$ref": "#/$defs/short"}, {"$ref": "#/$defs/short"}]}},
			"properties": {"a": {"$ref": "#/$defs/short"}, "b": {"type": "array", "items": {"$ref": "#/$defs/pair"}}}}`,
		"conditions": `{"type": "object", "if": {"required": ["vat"]}, "then": {"required": ["company"]}, "else": {"not": {"required": ["company"]}},
			"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"minProperties": 3}}, "properties": {"vat": {"type": "string"}, "company": {"type": "string"}}}`,
		"patterns of names": `{"type": "object", "patternProperties": {"^x_": {"type": "string"}}, "propertyNames": {"maxLength": 30}, "unevaluatedProperties": false}`,
		"marks":             attributes(`"employee": {"type": "integer", "x-unique": true}, "password": {"type": "string", "x-credential": true}, "b": {"x-unique": false}`),
		"two hundred attributes": attributes(strings.TrimSuffix(func() (all string) {
			for i := range 200 {
				all += fmt.Sprintf(`"attribute_%d": {"type": "string", "minLength": 1, "maxLength": 100, "pattern": "^[a-z]+-[0-9]{4}$", "title": "An attribute"},`, i)
			}
			return all
		}(), ",")),
	} {
		u := UserType{Name: "T", Schema: json.RawMessage(schema)}
		if problems := u.CheckDefinition(); len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

func TestPerson(t *testing.T) {
	person := Person()
	if problems := person.CheckDefinition(); len(problems) > 0 {
		t.Fatal(problems)
	}
	if got := fmt.Sprint(person.UniqueAttributes(), person.CredentialAttribute()); got != "[email username]password" {
		t.Errorf("marked are %s", got)
	}
	text := datatest.Marshal(t, person)
	if problems := UserTypeSchema().Check(text); len(problems) > 0 {
		t.Error(problems)
	}
	var definition struct {
		Properties map[string]struct{ Title, Description string }
	}
	datatest.Unmarshal(t, person.Schema, &definition)
	for _, name := range append(ProfileAttributes(), "password") {
		if p := definition.Properties[name]; p.Title == "" || p.Description == "" {
			t.Errorf("%s has no title or no description", name)
		}
	}
	if len(definition.Properties) != len(ProfileAttributes())+1 {
		t.Errorf("%d attributes, expected those of a profile and the password", len(definition.Properties))
	}
}

// nested is a definition within itself, of n levels.
func nested(open string, n int) string {
	opened := strings.Repeat(open, n)
	closing := strings.Repeat("}", strings.Count(opened, "{")) + "}"
	return `{"type": "object", "properties": {"a": ` + opened + "{}" + closing + "}"
}

// doubling is a definition of n schemas; each applies the next twice.
func doubling(keyword string, n int) string {
	var b strings.Builder
	b.WriteString(`{"type": "object", "properties": {"a": {"$ref": "#/$defs/s0"}}, "$defs": {`)
	for i := range n {
		next := fmt.Sprintf(`{"$ref": "#/$defs/s%d"}`, i+1)
		if keyword == "anyOf" {
			fmt.Fprintf(&b, `"s%d": {"anyOf": [%s, %s]}, `, i, next, next)
		} else {
			fmt.Fprintf(&b, `"s%d": {%q: %s, "contains": %s}, `, i, keyword, next, next)
		}
	}
	fmt.Fprintf(&b, `"s%d": {"type": "string"}}}`, n)
	return b.String()
}
