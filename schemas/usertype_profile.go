package schemas

import (
	"encoding/json"
	"slices"
)

// ProfileField is an attribute that users can change themselves.
type ProfileField struct {
	Name, Title string
	Required    bool
	Options     []string // the possible values; nil for any
}

// ProfileFields returns the attributes that users can change themselves: those that describe a
// person (OpenID Connect Core §5.1), are text, and that the schema does not mark readOnly. Account
// attributes are not included, nor names that applications could mistake for the name of the
// account.
func (t *UserType) ProfileFields() (fields []ProfileField) {
	var definition struct {
		Properties map[string]struct {
			Title    string
			Type     any
			Enum     []any
			ReadOnly bool
		} `json:"properties"`
		Required []string `json:"required"`
	}
	_ = json.Unmarshal(t.Schema, &definition) // a schema that is none has no properties
	account := t.AccountAttributes(ProfileAttributes())
	for _, name := range ProfileAttributes() {
		p, declared := definition.Properties[name]
		if !declared || p.Type != "string" || p.ReadOnly || name == "preferred_username" || slices.Contains(account, name) {
			continue
		}
		f := ProfileField{Name: name, Title: p.Title, Required: slices.Contains(definition.Required, name)}
		for _, o := range p.Enum {
			if text, ok := o.(string); ok {
				f.Options = append(f.Options, text)
			}
		}
		fields = append(fields, f)
	}
	return fields
}

// FormAttributes returns the attributes that a form can ask for, sorted: texts, numbers and booleans that are no
// credential.
func (t *UserType) FormAttributes() (names []string) {
	var definition struct {
		Properties map[string]struct {
			Type       any
			Credential bool `json:"x-credential"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(t.Schema, &definition) // a schema that is none has no properties
	for name, p := range definition.Properties {
		if kind, _ := p.Type.(string); !p.Credential && slices.Contains([]string{"string", "number", "integer", "boolean"}, kind) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// RequiresPassword reports whether users of the type must have a password.
func (t *UserType) RequiresPassword() bool { return t.Requires(t.CredentialAttribute()) }

// Requires reports whether users of the type must have an attribute.
func (t *UserType) Requires(attribute string) bool {
	var definition struct{ Required []string }
	_ = json.Unmarshal(t.Schema, &definition)
	return slices.Contains(definition.Required, attribute)
}
