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
		want       map[string]any
	}{
		{"the standard claims", nil, map[string]any{"username": "ada", "email": "ada@example.com", "email_verified": false}},
		{"those asked for", []string{"shoeSize", "nickname"}, map[string]any{"shoeSize": 38.0}},
		{"none", []string{}, map[string]any{}},
		{"never the issuer's", []string{"sub", "scope", "username"}, map[string]any{"username": "ada"}},
	}
	for _, tt := range tests {
		if got := u.Profile(tt.attributes); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
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
