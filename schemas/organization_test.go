package schemas

import "testing"

func TestCoversPermission(t *testing.T) {
	for _, test := range []struct {
		has, wanted string
		want        bool
	}{
		{"system", "system", true},
		{"system", "system:users:read", true},
		{"system:users", "system:users:read", true},
		{"system:users", "system", false},
		{"system:users", "system:usersets", false},
		{"sys", "system", false},
		{"openid", "system", false},
		{"", "system", false},
		{"system", "", false},
	} {
		if got := CoversPermission(test.has, test.wanted); got != test.want {
			t.Errorf("%q covers %q: %v, expected %v", test.has, test.wanted, got, test.want)
		}
	}
}
