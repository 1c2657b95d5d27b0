package schemas_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// An address identifies its user only while it is verified; a username always does.
func TestAudit02UnverifiedAddressIdentifiesNoUser(t *testing.T) {
	for _, test := range []struct {
		verified any
		want     string
	}{{nil, ""}, {false, ""}, {"true", ""}, {1.0, ""}, {true, "ada@example.org"}} {
		u := schemas.User{Attributes: map[string]any{"username": "ada", "email": "ada@example.org", "email_verified": test.verified}}
		if got := u.Identifier("email"); got != test.want {
			t.Errorf("email_verified %v: found by %q, want %q", test.verified, got, test.want)
		}
		if got := u.Identifier("username"); got != "ada" {
			t.Errorf("the username is %q", got)
		}
		if got := u.Profile(nil, true)["email_verified"]; got != (test.want != "") {
			t.Errorf("email_verified %v is the claim %v", test.verified, got)
		}
	}
	nothing := schemas.User{Attributes: map[string]any{"email_verified": true}}
	if claims := nothing.Profile(nil, true); len(claims) != 0 {
		t.Errorf("a user without an address has the claims %v", claims)
	}
}

// What is verified is a value: with another value nothing is, unless the change says so.
func TestAudit02ChangedAddressIsNotVerified(t *testing.T) {
	u := &schemas.User{Attributes: map[string]any{
		"email": "ada@example.org", "email_verified": true, "phone_number": "+44 1", "phone_number_verified": true,
	}}
	tests := map[string]struct {
		change map[string]any
		lost   []string
	}{
		"another name":         {map[string]any{"name": "Ada"}, nil},
		"the same, spelled so": {map[string]any{"email": "Ada@Example.org"}, nil},
		"another address":      {map[string]any{"email": "other@example.org"}, []string{"email_verified"}},
		"none":                 {map[string]any{"email": ""}, []string{"email_verified"}},
		"another, stated":      {map[string]any{"email": "other@example.org", "email_verified": true}, nil},
		"another phone number": {map[string]any{"phone_number": "+44 2"}, []string{"phone_number_verified"}},
	}
	for name, test := range tests {
		got := u.With(test.change)
		var lost []string
		for _, attested := range []string{"email_verified", "phone_number_verified"} {
			if got.Attributes[attested] != true {
				lost = append(lost, attested)
			}
		}
		if !reflect.DeepEqual(lost, test.lost) {
			t.Errorf("%s: lost %v, want %v", name, lost, test.lost)
		}
	}
	if u.Attributes["email"] != "ada@example.org" {
		t.Error("the user itself was changed")
	}
}

// A user type that has an address and says nothing of its verification has room for it:
// else no user of the type could be found by the address.
func TestEmailVerifiedGoesWithEmail(t *testing.T) {
	for _, test := range []struct {
		properties, attributes string
		faults                 int
	}{
		{`{"email": {"type": "string"}}`, `{"email": "a@example.org", "email_verified": true}`, 0},
		{`{"email": {"type": "string"}}`, `{"email": "a@example.org", "email_verified": "yes"}`, 1},
		{`{"email": {"type": "string"}, "email_verified": {"const": false}}`, `{"email_verified": true}`, 1},
		{`{"name": {"type": "string"}}`, `{"email_verified": true}`, 1},
	} {
		compiled, err := schemas.CompileUserType(&schemas.UserType{Name: "T", Schema: json.RawMessage(
			`{"type": "object", "additionalProperties": false, "properties": ` + test.properties + `}`)})
		if err != nil {
			t.Fatal(err)
		}
		if found := compiled.Check(json.RawMessage(test.attributes), false); len(found) != test.faults {
			t.Errorf("%s with %s: %v", test.attributes, test.properties, found)
		}
	}
}
