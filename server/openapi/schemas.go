package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// object is a JSON object. encoding/json sorts its members, so documents are reproducible.
type object = map[string]any

// Named are the schemas that operations refer to by name.
type Named struct {
	// Types are values of Go types with the names of their schemas. Schemas of other types refer
	// to them.
	Types map[string]any
	// Texts are JSON Schemas (draft 2020-12) with the names that a Ref gives them.
	Texts map[string]json.RawMessage
	// Special are the schemas of Go types that write their JSON themselves.
	Special map[reflect.Type]*jsonschema.Schema
}

// components are the schemas of a document.
type components struct {
	schemas object
	options *jsonschema.ForOptions
}

const componentPrefix = "#/components/schemas/"

func newComponents(named Named) (*components, error) {
	c := &components{object{}, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{}}}
	for t, schema := range named.Special {
		c.options.TypeSchemas[t] = schema
	}
	for name, value := range named.Types {
		c.options.TypeSchemas[reflect.TypeOf(value)] = &jsonschema.Schema{Ref: componentPrefix + name}
	}
	for name, value := range named.Types {
		schema, err := c.infer(fieldsOf(reflect.TypeOf(value)))
		if err != nil {
			return nil, err
		}
		c.schemas[name] = schema
	}
	for name, text := range named.Texts {
		if err := c.addText(name, text); err != nil {
			return nil, fmt.Errorf("openapi: the schema %s: %w", name, err)
		}
	}
	return c, nil
}

// fieldsOf returns a struct type without a name that has the fields of a named one. The named one
// has a component, so inferring its own schema would only find the reference to that.
func fieldsOf(t reflect.Type) reflect.Type {
	var fields []reflect.StructField
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() && !f.Anonymous {
			f.Index, f.Offset = nil, 0
			fields = append(fields, f)
		}
	}
	return reflect.StructOf(fields)
}

// infer returns the schema of a Go type as encoding/json writes it. Members may be added to the
// type later, so others are allowed.
func (c *components) infer(t reflect.Type) (object, error) {
	inferred, err := jsonschema.ForType(t, c.options)
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	schema, err := decode(inferred)
	if err != nil {
		return nil, err
	}
	walk(schema, func(o object) {
		if _, isStruct := o["properties"]; isStruct {
			delete(o, "additionalProperties")
		}
		types, _ := o["type"].([]any)
		if _, isRef := o["$ref"]; isRef {
			delete(o, "type") // of a pointer, which is never null: it is omitted instead
		} else if slices.Contains(types, any("array")) {
			o["type"] = "array" // an empty list is [], not null
		}
	})
	return schema, nil
}

// addText adds a schema and, as components of their own, its definitions.
func (c *components) addText(name string, text json.RawMessage) error {
	schema, err := decodeOrdered(text)
	if err != nil {
		return err
	}
	definitions, _ := schema["$defs"].(object)
	for _, member := range []string{"$defs", "$id", "$schema"} {
		delete(schema, member)
	}
	c.addMoved(name, name, schema)
	for definition, value := range definitions {
		if o, ok := value.(object); ok {
			c.addMoved(name, definitionName(name, definition), o)
		}
	}
	return nil
}

// addMoved adds a schema whose references lead to definitions of the schema "of".
func (c *components) addMoved(of, name string, schema object) {
	walk(schema, func(o object) {
		if ref, ok := o["$ref"].(string); ok {
			if definition, own := strings.CutPrefix(ref, "#/$defs/"); own {
				o["$ref"] = componentPrefix + definitionName(of, definition)
			} else if ref == "#" {
				o["$ref"] = componentPrefix + of
			}
		}
	})
	c.schemas[name] = schema
}

func definitionName(of, definition string) string {
	return of + strings.ToUpper(definition[:1]) + definition[1:]
}

// schemaOf returns the schema of a body or reply.
func (c *components) schemaOf(value any) (object, error) {
	switch v := value.(type) {
	case Ref:
		if c.schemas[string(v)] == nil {
			return nil, fmt.Errorf("openapi: there is no schema %s", v)
		}
		return object{"$ref": componentPrefix + string(v)}, nil
	case List:
		item, err := c.schemaOf(v.Item)
		return listSchema(v.Plural, item), err
	}
	return c.infer(reflect.TypeOf(value))
}

func listSchema(plural string, item object) object {
	number := object{"type": "integer"}
	return object{
		"type":     "object",
		"required": []string{"totalResults", "startIndex", "count", plural, "links"},
		"properties": object{
			"totalResults": number, "startIndex": number, "count": number,
			plural:  object{"type": "array", "items": item},
			"links": object{"type": "array", "items": object{"$ref": componentPrefix + "Link"}},
		},
	}
}

// decode returns a value as the JSON object it is written as.
func decode(value any) (o object, err error) {
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	return o, err
}

// orderMark is the member of a schema with its place among the properties of an object, from 0: a JSON
// object has no order of its own.
const orderMark = "x-order"

// decodeOrdered returns a JSON Schema whose properties have their place in the text.
func decodeOrdered(text json.RawMessage) (object, error) {
	value, err := readOrdered(json.NewDecoder(bytes.NewReader(text)), false)
	if err != nil {
		return nil, err
	}
	schema, isObject := value.(object)
	if !isObject {
		return nil, fmt.Errorf("expected an object, not %T", value)
	}
	return schema, nil
}

// readOrdered reads a value. The members of properties are names of members, not keywords.
func readOrdered(d *json.Decoder, isProperties bool) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			item, err := readOrdered(d, false)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		return readOrderedObject(d, isProperties)
	}
	return token, nil
}

func readOrderedObject(d *json.Decoder, isProperties bool) (object, error) {
	o := object{}
	for place := 0; d.More(); place++ {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		value, err := readOrdered(d, name == "properties" && !isProperties)
		if err != nil {
			return nil, err
		}
		if property, isSchema := value.(object); isSchema && isProperties {
			property[orderMark] = place
		}
		o[name] = value
	}
	_, err := d.Token()
	return o, err
}

// walk calls visit with each object in a value.
func walk(value any, visit func(object)) {
	switch v := value.(type) {
	case object:
		visit(v)
		for _, member := range v {
			walk(member, visit)
		}
	case []any:
		for _, item := range v {
			walk(item, visit)
		}
	}
}
