package federation

import (
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
)

// The time of authentication at a provider is in the past and as recent as requested.
func TestCheckAge(t *testing.T) {
	now := time.Unix(1_900_000_000, 0)
	hour := 3600
	for _, test := range []struct {
		claims string
		maxAge *int
		want   bool
	}{
		{`{}`, nil, true},
		{`{}`, &hour, false},
		{`{"auth_time": 1899000000}`, nil, true},
		{`{"auth_time": 1899000000}`, &hour, false},
		{`{"auth_time": 1899996340}`, &hour, true},
		{`{"auth_time": 1899996339}`, &hour, false},
		{`{"auth_time": 1900000060}`, &hour, true},
		{`{"auth_time": 1900000061}`, &hour, false},
		{`{"auth_time": 1900000061}`, nil, false},
		{`{"auth_time": "1900000000"}`, nil, false},
	} {
		var claims object
		datatest.Unmarshal(t, []byte(test.claims), &claims)
		if _, err := checkAge(claims, signInState{MaxAge: test.maxAge}, now); (err == nil) != test.want {
			t.Errorf("%s: %v", test.claims, err)
		}
	}
}
