package nodes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/postern-id/postern/schemas"
)

// askedAttribute is an attribute with what a form needs to collect it.
type askedAttribute struct {
	field
	kind string // JSON type: string, number, integer or boolean
}

// property is the part of an attribute's schema in a user type that forms use.
type property struct {
	Title      string `json:"title"`
	Type       any    `json:"type"`
	Format     string `json:"format"`
	Enum       []any  `json:"enum"`
	MinLength  int    `json:"minLength"`
	MaxLength  int    `json:"maxLength"`
	Credential bool   `json:"x-credential"`
}

// readUserType returns the attributes of a type that a form can collect, and the names of the
// required ones.
func readUserType(t *schemas.UserType) (known map[string]askedAttribute, required []string, err error) {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal(t.Schema, &schema); err != nil {
		return nil, nil, fmt.Errorf("the user type %s: %w", t.Name, err)
	}
	known = map[string]askedAttribute{}
	for name, raw := range schema.Properties {
		var p property
		if json.Unmarshal(raw, &p) != nil || p.Credential {
			continue // collected by other nodes, or secret
		}
		if one, ok := p.asked(name); ok {
			known[name] = one
		}
	}
	return known, schema.Required, nil
}

// asked returns the form input for the attribute; false if no form can collect it.
func (p property) asked(name string) (askedAttribute, bool) {
	kind, _ := p.Type.(string)
	f := field{Identifier: name, Label: cmp.Or(p.Title, name), Required: true, MinLength: p.MinLength, MaxLength: p.MaxLength, Autocomplete: autofillTokens()[name]}
	switch {
	case kind != "string" && kind != "number" && kind != "integer" && kind != "boolean":
		return askedAttribute{}, false
	case kind == "boolean":
		f.Type, f.Options = schemas.SelectInput, []string{always, never}
	case len(p.Enum) > 0:
		f.Type = schemas.SelectInput
		for _, value := range p.Enum {
			f.Options = append(f.Options, fmt.Sprint(value))
		}
	case kind != "string":
		f.Type = schemas.NumberInput
	default:
		f.Type = p.inputType(name)
	}
	return askedAttribute{f, kind}, len(f.compile(true)) == 0
}

// The options of a boolean attribute.
const (
	always = "Yes"
	never  = "No"
)

// inputType returns the input type of a string attribute.
func (p property) inputType(name string) schemas.InputType {
	switch {
	case p.Format == "email", p.Format == "idn-email":
		return schemas.EmailInput
	case p.Format == "date", name == "birthdate":
		return schemas.DateInput
	case name == "phone_number":
		return schemas.PhoneInput
	}
	return schemas.TextInput
}

// autofillTokens maps standard claims to the autofill field names of browsers (HTML Living
// Standard).
func autofillTokens() map[string]string {
	return map[string]string{
		"username": "username", "email": "email", "name": "name", "given_name": "given-name", "middle_name": "additional-name",
		"family_name": "family-name", "nickname": "nickname", "birthdate": "bday", "phone_number": "tel", "website": "url", "gender": "sex",
	}
}

// acceptAttributes returns the submitted values, or the faults in them.
func acceptAttributes(asked []askedAttribute, inputs map[string]string) (given map[string]any, faults []schemas.FieldError) {
	given = map[string]any{}
	for _, one := range asked {
		text, fault := one.accept(inputs[one.Identifier])
		value, readable := one.value(text)
		if fault == "" && !readable {
			fault = "Enter a whole number."
		}
		if fault != "" {
			faults = append(faults, schemas.FieldError{Identifier: one.Identifier, Message: fault})
			continue
		}
		given[one.Identifier] = value
	}
	return given, faults
}

// value converts submitted text to the attribute's JSON type.
func (a askedAttribute) value(text string) (any, bool) {
	switch a.kind {
	case "boolean":
		return text == always, true
	case "integer":
		n, err := strconv.ParseInt(text, 10, 53) // the range that JSON represents exactly
		return float64(n), err == nil
	case "number":
		n, err := strconv.ParseFloat(text, 64)
		return n, err == nil
	}
	return text, true
}
