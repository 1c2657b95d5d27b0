package jwtverify

import (
	"slices"
	"strings"
	"testing"
)

// FuzzParse looks for a token that is parsed with an algorithm or a header that is not supported.
func FuzzParse(f *testing.F) {
	for _, raw := range []string{
		"eyJhbGciOiJFUzI1NiJ9.e30.AA", "eyJhbGciOiJub25lIn0.e30.", "eyJhbGciOiJIUzI1NiJ9.e30.AA", "eyJhbGciOiJFUzI1NiIsImNyaXQiOlsiYjY0Il0sImI2NCI6ZmFsc2V9.e30.AA",
		"eyJhbGciOiJSUzI1NiIsInR5cCI6ImF0K2p3dCJ9.e30.AA", "..", "", "e30", `{"payload":"e30","signatures":[]}`, strings.Repeat("e30.", 20), "eyJhbGciOiJFUzI1NiIsInR5cCI6WyJKV1QiXX0.e30.AA",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		token, err := Parse(raw, "client-authentication+jwt")
		if err != nil {
			return
		}
		if !slices.Contains(Algorithms(), token.Algorithm) || strings.Count(raw, ".") != 2 || strings.ContainsAny(raw, "\r\n") {
			t.Errorf("%q is parsed with the algorithm %q", raw, token.Algorithm)
		}
		var claims map[string]any
		_ = token.Unverified(&claims)
		for _, key := range [][]byte{nil, []byte("secret")} {
			if err := token.Claims(key, &claims); err == nil {
				t.Errorf("%q is verified by a secret", raw)
			}
		}
	})
}
