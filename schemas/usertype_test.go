package schemas

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestMarkedAttributes(t *testing.T) {
	tests := map[string]struct {
		schema     string
		unique     []string
		credential string
	}{
		"none":        {`{"type": "object"}`, nil, ""},
		"sorted":      {`{"properties": {"b": {"x-unique": true}, "a": {"x-unique": true}, "c": {"x-unique": false}}}`, []string{"a", "b"}, ""},
		"a password":  {`{"properties": {"password": {"type": "string", "x-credential": true}}}`, nil, "password"},
		"another one": {`{"properties": {"pin": {"type": "string", "x-credential": true}}}`, nil, ""},
		"a boolean":   {`{"properties": {"a": true, "b": {"x-unique": true}}}`, []string{"b"}, ""},
		"no boolean":  {`{"properties": {"a": {"x-unique": "true"}}}`, nil, ""},
		"deeper":      {`{"properties": {"a": {"properties": {"b": {"x-unique": true}}}}}`, nil, ""},
		"no schema":   {`[]`, nil, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			u := UserType{Schema: json.RawMessage(test.schema)}
			if got := u.UniqueAttributes(); !slices.Equal(got, test.unique) {
				t.Errorf("unique are %q, expected %q", got, test.unique)
			}
			if got := u.CredentialAttribute(); got != test.credential {
				t.Errorf("the credential is %q, expected %q", got, test.credential)
			}
		})
	}
}
