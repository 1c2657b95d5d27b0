package schemas_test

import (
	"reflect"
	"testing"

	"github.com/postern-id/postern/schemas"
)

func TestProfile(t *testing.T) {
	u := schemas.User{ID: "u1", Attributes: map[string]any{
		"username": "ada", "email": "ada@example.com", "sub": "root", "scope": "system", "shoeSize": 38.0,
	}}
	tests := []struct {
		name       string
		attributes []string
		unverified bool
		want       map[string]any
	}{
		{"the standard claims", nil, false, map[string]any{"username": "ada"}},
		{"an unverified address", []string{"email", "email_verified"}, false, map[string]any{}},
		{"with unverified addresses", nil, true, map[string]any{"username": "ada", "email": "ada@example.com", "email_verified": false}},
		{"those asked for", []string{"shoeSize", "nickname"}, false, map[string]any{"shoeSize": 38.0}},
		{"none", []string{}, true, map[string]any{}},
		{"never the issuer's", []string{"sub", "scope", "username"}, false, map[string]any{"username": "ada"}},
	}
	for _, tt := range tests {
		if got := u.Profile(tt.attributes, tt.unverified); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// A verified address is a claim everywhere; any value but true is no verification.
func TestProfileOfVerifiedAddresses(t *testing.T) {
	for _, verified := range []any{nil, false, "true", 1.0, true} {
		u := schemas.User{Attributes: map[string]any{"email": "ada@example.com", "email_verified": verified}}
		want := map[string]any{}
		if verified == true {
			want = u.Attributes
		}
		if got := u.Profile(nil, false); !reflect.DeepEqual(got, want) {
			t.Errorf("with email_verified %v the claims are %v, want %v", verified, got, want)
		}
	}
}

func TestNamesOfUsers(t *testing.T) {
	tests := []struct {
		attributes       map[string]any
		account, display string
	}{
		{map[string]any{"username": "ada", "email": "a@example.com", "name": "Ada L."}, "ada", "Ada L."},
		{map[string]any{"email": "a@example.com", "given_name": "Ada", "family_name": "Lovelace"}, "a@example.com", "Ada Lovelace"},
		{map[string]any{"username": "ada", "given_name": "Ada"}, "ada", "Ada"},
		{map[string]any{"username": 7.0}, "u1", "u1"},
	}
	for _, tt := range tests {
		u := schemas.User{ID: "u1", Attributes: tt.attributes}
		if u.AccountName() != tt.account || u.DisplayName() != tt.display {
			t.Errorf("%v: account %q, display %q, want %q, %q", tt.attributes, u.AccountName(), u.DisplayName(), tt.account, tt.display)
		}
	}
}
