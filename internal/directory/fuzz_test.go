package directory

import (
	"net/url"
	"strings"
	"testing"
)

// An accepted redirect URI leads, for every parser, to the same place: a host over TLS,
// this machine, or an app with a private-use scheme.
func FuzzRedirectURI(f *testing.F) {
	for _, uri := range []string{
		"https://app.example.com/callback?x=1", "http://127.0.0.1:1/", "http://[::1]/", "http://localhost", "com.example.app:/callback",
		"javascript:alert(1)", "https://a@b/", "https://*.example.com", "https://a\\@b", "https:a", "//a", "https://a#b", "http://localhost.evil.example/", "http://shop.localhost:1/",
		"HTTPS://A.EXAMPLE/", "https://[::1%25en0]/", "https://1.2.3.4:0/", "a.b://c", "https://%61/", "cursor://a/b", "CURSOR:c", "vscode://a",
	} {
		f.Add(uri, true)
		f.Add(uri, false)
	}
	f.Fuzz(func(t *testing.T, uri string, private bool) {
		if (redirectRules{private: private, schemes: []string{"cursor"}}).fault(uri) != "" {
			return
		}
		u, err := url.Parse(uri)
		if err != nil || strings.ContainsAny(uri, "#*\\ \t\r\n\x00") || u.User != nil {
			t.Fatalf("%q was accepted", uri)
		}
		switch scheme := strings.ToLower(u.Scheme); {
		case scheme == "https" && u.Hostname() != "" && u.Opaque == "":
		case scheme == "http" && strings.HasSuffix(strings.ToLower(u.Hostname()), ".localhost"):
		case scheme == "http" && strings.Contains(" localhost 127.0.0.1 ::1 ", " "+strings.ToLower(u.Hostname())+" "):
		case private && (strings.Contains(scheme, ".") || scheme == "cursor"):
		default:
			t.Fatalf("%q was accepted (private-use schemes: %v)", uri, private)
		}
	})
}
