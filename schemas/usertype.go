package schemas

import (
	"encoding/json"
	"slices"
)

// Our own annotations in the schema of a user type: two mark attributes, the
// third words a message.
const (
	uniqueMark     = "x-unique"
	credentialMark = "x-credential"
	expectMark     = "x-expect"
)

// passwordAttribute is the one attribute that may be marked as a credential.
const passwordAttribute = "password"

// UniqueAttributes lists, sorted, the attributes of which no two users have the
// same value, as the schema marks them. Identifying attributes are unique
// whether they are marked or not.
func (t *UserType) UniqueAttributes() []string { return t.marked(uniqueMark) }

// CredentialAttribute is the attribute that is kept as a hash and never shown,
// "" if users of the type have none.
func (t *UserType) CredentialAttribute() string {
	if slices.Contains(t.marked(credentialMark), passwordAttribute) {
		return passwordAttribute
	}
	return ""
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
