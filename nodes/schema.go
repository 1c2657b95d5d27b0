package nodes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// The JSON Schema of a configuration
//
// The type of a configuration is its only description. A member with the option omitempty or omitzero is
// optional. Further tags are:
//
//	doc       the description
//	default   the default, a text or a JSON value
//	enum      the permitted texts, separated by commas; enumdoc describes them, separated by |
//	min, max  limits of a number, the length of a text, or the number of items or members
//	pattern   what a text must match; expect describes it
//	is        a common rule for texts: see textRules
//	unique    true if no item of a list may be repeated; unordered is true if their order means nothing
//
// Tags of the items of a list and the values of a map begin with "item.", those of the names of a map
// with "key.". A type with the method tag has tags of its own.

// tagged is a type that is described in one place for all members of the type.
type tagged interface{ tag() reflect.StructTag }

// textRules are the rules of texts by their names in tags.
func textRules() map[string]reflect.StructTag {
	return map[string]reflect.StructTag{
		"identifier": `pattern:"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$" expect:"a letter, then up to 63 letters, digits, dots, dashes or underscores"`,
	}
}

// schemaOf returns the JSON Schema of the configuration that T is, nil if it has no members.
func schemaOf[T any](kind string) *schemas.Schema {
	typ := reflect.TypeFor[T]()
	if len(membersOf(typ)) == 0 {
		return nil
	}
	var s schemaWriter
	s.object(typ)
	return schemas.MustSchema(kind, "{"+s.String()+"}")
}

// member is a member of a configuration.
type member struct {
	reflect.StructField
	name     string
	required bool
}

// membersOf lists the members of a configuration, in their order.
func membersOf(typ reflect.Type) (list []member) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		if text, tagged := f.Tag.Lookup("json"); tagged {
			name, options, _ := strings.Cut(text, ",")
			list = append(list, member{f, name, options == ""})
		}
	}
	return list
}

// schemaWriter writes the members of a schema.
type schemaWriter struct{ bytes.Buffer }

// add writes a member with a value.
func (s *schemaWriter) add(name string, value any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // the value is a text, a list of texts or JSON
	}
	s.addJSON(name, bytes.TrimSpace(text.Bytes()))
}

func (s *schemaWriter) addJSON(name string, value []byte) {
	if s.Len() > 0 {
		s.WriteByte(',')
	}
	fmt.Fprintf(s, "%q:%s", name, value)
}

// nest writes a member whose value is an object.
func (s *schemaWriter) nest(name string, write func(*schemaWriter)) {
	var inner schemaWriter
	write(&inner)
	s.addJSON(name, []byte("{"+inner.String()+"}"))
}

// object writes the schema of a struct.
func (s *schemaWriter) object(typ reflect.Type) {
	s.add("type", "object")
	s.add("additionalProperties", false)
	all := membersOf(typ)
	var required []string
	for _, m := range all {
		if m.required {
			required = append(required, m.name)
		}
	}
	if len(required) > 0 {
		s.add("required", required)
	}
	s.nest("properties", func(properties *schemaWriter) {
		for _, m := range all {
			properties.nest(m.name, func(p *schemaWriter) { p.value(m.Type, m.Tag) })
		}
	})
}

// value writes the schema of a type with tags.
func (s *schemaWriter) value(typ reflect.Type, tag reflect.StructTag) {
	if of, ok := reflect.Zero(typ).Interface().(tagged); ok {
		tag = of.tag()
	}
	if typ.Kind() == reflect.Pointer { // distinguishes an absent value
		typ = typ.Elem()
	}
	tag = textRules()[tag.Get("is")] + " " + tag
	switch enum := tag.Get("enum"); {
	case enum != "":
		s.add("enum", strings.Split(enum, ","))
	case typ.Kind() == reflect.Struct:
		s.object(typ)
	default:
		s.add("type", jsonType(typ))
	}
	s.rules(typ, tag)
	switch typ.Kind() {
	case reflect.Slice:
		s.nest("items", func(item *schemaWriter) { item.value(typ.Elem(), within("item.", tag)) })
	case reflect.Map:
		if names := within("key.", tag); names != "" {
			s.nest("propertyNames", func(name *schemaWriter) { name.rules(typ.Key(), names) })
		}
		s.nest("additionalProperties", func(value *schemaWriter) { value.value(typ.Elem(), within("item.", tag)) })
	}
}

// rules writes what tags state about a value.
func (s *schemaWriter) rules(typ reflect.Type, tag reflect.StructTag) {
	least, most := limitsOf(typ)
	for _, rule := range []struct{ tag, keyword string }{{"min", least}, {"max", most}, {"unique", "uniqueItems"}, {"unordered", "x-unordered"}} {
		if value := tag.Get(rule.tag); value != "" {
			s.addJSON(rule.keyword, []byte(value))
		}
	}
	for _, rule := range []struct{ tag, keyword string }{{"pattern", "pattern"}, {"expect", "x-expect"}, {"doc", "description"}} {
		if value := tag.Get(rule.tag); value != "" {
			s.add(rule.keyword, value)
		}
	}
	if value := tag.Get("enumdoc"); value != "" {
		s.add("enumDescriptions", strings.Split(value, "|"))
	}
	switch value, ok := tag.Lookup("default"); {
	case ok && typ.Kind() == reflect.String:
		s.add("default", value)
	case ok:
		s.addJSON("default", []byte(value))
	}
}

// limitsOf returns the keywords for the limits of a type.
func limitsOf(typ reflect.Type) (least, most string) {
	switch typ.Kind() {
	case reflect.String:
		return "minLength", "maxLength"
	case reflect.Slice:
		return "minItems", "maxItems"
	case reflect.Map:
		return "minProperties", "maxProperties"
	}
	return "minimum", "maximum"
}

func jsonType(typ reflect.Type) string {
	switch typ.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int:
		return "integer"
	case reflect.Slice:
		return "array"
	case reflect.Map:
		return "object"
	}
	panic(fmt.Sprintf("nodes: a configuration has a member of the type %s", typ)) // found by the first test
}

// within returns the tags with a prefix, without it.
func within(prefix string, tag reflect.StructTag) (inner reflect.StructTag) {
	for _, name := range tagNames() {
		if value, ok := tag.Lookup(prefix + name); ok {
			inner += reflect.StructTag(fmt.Sprintf("%s:%q ", name, value))
		}
	}
	return inner
}

func tagNames() []string {
	return []string{"doc", "default", "enum", "enumdoc", "min", "max", "pattern", "expect", "is", "unique", "unordered"}
}
