package schemas

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestProfileFields(t *testing.T) {
	person := Person()
	custom := UserType{Schema: json.RawMessage(`{"required": ["nickname", "password"], "properties": {
		"given_name": {"type": "string", "readOnly": true}, "nickname": {"type": "string", "title": "Alias"}, "department": {"type": "string"},
		"preferred_username": {"type": "string"}, "zoneinfo": {"type": "string", "x-unique": true}, "website": {"type": "string", "format": "email"},
		"gender": {"type": "string", "enum": ["f", "m"]}, "address": {"type": "object"}, "password": {"type": "string", "x-credential": true}}}`)}
	for name, test := range map[string]struct {
		of     UserType
		fields []string
		needs  bool
	}{
		"Person":    {person, []string{"name", "given_name", "family_name", "middle_name", "nickname", "profile", "picture", "website", "gender", "birthdate", "zoneinfo", "locale"}, false},
		"own":       {custom, []string{"nickname", "gender"}, true},
		"no schema": {UserType{Schema: json.RawMessage(`7`)}, nil, false},
	} {
		var got []string
		for _, f := range test.of.ProfileFields() {
			got = append(got, f.Name)
		}
		if !slices.Equal(got, test.fields) || test.of.RequiresPassword() != test.needs {
			t.Errorf("%s: %v, %t; want %v, %t", name, got, test.of.RequiresPassword(), test.fields, test.needs)
		}
	}
	f := custom.ProfileFields()
	if !f[0].Required || f[0].Title != "Alias" || f[1].Required || !slices.Equal(f[1].Options, []string{"f", "m"}) {
		t.Errorf("%+v", f)
	}
}
