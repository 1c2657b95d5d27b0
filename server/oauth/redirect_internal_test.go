package oauth

import (
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// TestNearMiss checks what the error for an unregistered redirect URI reveals: a common difference, and
// never the URI itself.
func TestNearMiss(t *testing.T) {
	c := &client{oauth: &schemas.OAuthProfile{RedirectURIs: []string{"https://app.example.com/callback", "http://localhost:3000/", "http://localhost/native"}}}
	for uri, want := range map[string]string{
		"https://app.example.com/callback/": "the slash at the end",
		"http://localhost:3000":             "the slash at the end",
		"http://app.example.com/callback":   "http and https",
		"http://127.0.0.1:3000/":            "localhost and 127.0.0.1",
		"https://app.example.com/Callback":  "upper and lower case",
		"https://evil.example.com/callback": "",
		"https://app.example.com/callback2": "",
		"https://app.example.com/callback#": "",
	} {
		if c.redirects(uri) {
			t.Errorf("%s is registered", uri)
		}
		got := c.nearMiss(uri)
		if _, difference, _ := strings.Cut(got, "differs only in "); difference != want {
			t.Errorf("%s: %q, expected %q", uri, got, want)
		}
	}
}
