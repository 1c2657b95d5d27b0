package schemas

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Our own annotations in the schema of a user type: two mark attributes, and the third is the text
// of a message.
const (
	uniqueMark     = "x-unique"
	credentialMark = "x-credential"
	expectMark     = "x-expect"
)

// passwordAttribute is the one attribute that may be marked as a credential.
const passwordAttribute = "password"

// UniqueAttributes lists, sorted, the attributes whose values are unique, as the schema marks them.
// Identifying attributes are unique regardless.
func (t *UserType) UniqueAttributes() []string { return t.marked(uniqueMark) }

// verifiedSuffix ends the name of an attribute that states whether another one is verified: OpenID
// Connect Core §5.1.
const verifiedSuffix = "_verified"

// AttributeNames returns the attributes that the schema names, sorted. Open reports whether users can
// have others.
func (t *UserType) AttributeNames() (names []string, open bool) {
	var schema struct {
		Properties           map[string]json.RawMessage `json:"properties"`
		PatternProperties    map[string]json.RawMessage `json:"patternProperties"`
		AdditionalProperties json.RawMessage            `json:"additionalProperties"`
	}
	_ = json.Unmarshal(t.Schema, &schema) // a schema that is none has no properties
	open = len(schema.PatternProperties) > 0 || string(bytes.TrimSpace(schema.AdditionalProperties)) != "false"
	return slices.Sorted(maps.Keys(schema.Properties)), open
}

// AccountAttributes returns the attributes, in their order, that identify, reach or recover the
// account, here or in applications: a caller who can set one could take over the account. They are
// identifying and unique attributes, addresses (by format), attributes that can be verified, such
// as phone_number, and attributes that state a verification, such as email_verified.
func (t *UserType) AccountAttributes(attributes []string) []string {
	var definition struct {
		Properties map[string]struct{ Format string } `json:"properties"`
	}
	_ = json.Unmarshal(t.Schema, &definition) // a schema that is none has no properties
	unique := t.UniqueAttributes()
	var list []string
	for _, name := range attributes {
		_, verifiable := definition.Properties[name+verifiedSuffix]
		format := definition.Properties[name].Format
		if strings.HasSuffix(name, verifiedSuffix) || verifiable || slices.Contains(ProfileAttributes(), name+verifiedSuffix) ||
			format == "email" || format == "idn-email" || slices.Contains(unique, name) || slices.Contains(IdentifyingAttributes(), name) {
			list = append(list, name)
		}
	}
	return list
}

// CredentialAttribute returns the attribute that is stored as a hash and never shown, "" if users
// of the type have none.
func (t *UserType) CredentialAttribute() string {
	if slices.Contains(t.marked(credentialMark), passwordAttribute) {
		return passwordAttribute
	}
	return ""
}

// withEmailVerified adds EmailVerified to the schema of a user type that has an email address and
// does not mention whether it is verified: without that attribute, no user of the type could be
// found by their address.
func withEmailVerified(schema json.RawMessage) json.RawMessage {
	var top, properties map[string]json.RawMessage
	if json.Unmarshal(schema, &top) != nil || json.Unmarshal(top["properties"], &properties) != nil {
		return schema
	}
	if _, declared := properties[EmailVerified]; declared || properties["email"] == nil {
		return schema
	}
	properties[EmailVerified] = json.RawMessage(`{"type": "boolean"}`)
	var err error
	if top["properties"], err = json.Marshal(properties); err != nil {
		return schema
	}
	extended, err := json.Marshal(top)
	if err != nil {
		return schema
	}
	return extended
}

// marked lists, sorted, the attributes that have a mark. A schema that is none
// has no attributes.
func (t *UserType) marked(mark string) []string {
	var definition struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(t.Schema, &definition) != nil {
		return nil
	}
	var attributes []string
	for name, property := range definition.Properties {
		var marks map[string]any
		if json.Unmarshal(property, &marks) == nil && marks[mark] == true {
			attributes = append(attributes, name)
		}
	}
	slices.Sort(attributes)
	return attributes
}
