package config

import "testing"

func TestOriginFault(t *testing.T) {
	tests := map[string]bool{
		"https://login.example.com":      true,
		"https://login.example.com:8443": true,
		"http://localhost":               true,
		"http://localhost:3000":          true,
		"http://app.localhost:3000":      true,
		"http://127.0.0.1:3000":          true,
		"http://127.8.9.1":               true,
		"http://[::1]:3000":              true,
		"https://192.0.2.1":              true, // a page there just cannot use passkeys
		"https://xn--gre-6ka8l.example":  true,

		"":                                false,
		"*":                               false,
		"null":                            false,
		"https://":                        false,
		"https://*.example.com":           false,
		"https://login.example.com/":      false,
		"https://login.example.com/path":  false,
		"https://login.example.com?":      false,
		"https://login.example.com#":      false,
		"https://login.example.com:443":   false,
		"https://login.example.com:":      false,
		"https://login.example.com:0":     false,
		"https://login.example.com:08":    false,
		"https://login.example.com:99999": false,
		"https://Login.example.com":       false,
		"HTTPS://login.example.com":       false,
		"https://user@login.example.com":  false,
		"https://login.example.com.":      false,
		"https://login..example.com":      false,
		"https://größe.example":           false,
		"https://a b.example":             false,
		"https://1.2.3.4.5":               false,
		" https://login.example.com":      false,
		"login.example.com":               false,
		"ftp://login.example.com":         false,
		"http://login.example.com":        false,
		"http://localhost.example.com":    false,
		"http://evil-localhost":           false,
		"http://192.0.2.1":                false,
		"http://128.0.0.1":                false,
		"android:apk-key-hash:abc":        false,
	}
	for text, fine := range tests {
		if fault := originFault(text, secureContext); (fault == "") != fine {
			t.Errorf("%q: got %q", text, fault)
		}
	}
}

func TestURLFault(t *testing.T) {
	tests := map[string]bool{
		"https://login.example.com":      true,
		"https://login.example.com:8443": true,
		"https://example.com/auth":       true,
		"http://localhost:8090":          true,
		"http://postern:8090":            true,
		"https://[::1]:8090":             true,

		"":                            false,
		"/auth":                       false,
		"https://login.example.com/":  false,
		"https://example.com/auth/":   false,
		"https://example.com//auth":   false,
		"https://example.com/a/../b":  false,
		"https://example.com/a b":     false,
		"https://example.com?x=1":     false,
		"https://example.com?":        false,
		"https://example.com#":        false,
		"https://user:pw@example.com": false,
		"https://Example.com":         false,
		"https://example.com:443":     false,
		"ws://example.com":            false,
		"https://exa mple.com":        false,
	}
	for text, fine := range tests {
		if fault := urlFault(text); (fault == "") != fine {
			t.Errorf("%q: got %q", text, fault)
		}
	}
}

func TestUnder(t *testing.T) {
	tests := []struct {
		host, id string
		want     bool
	}{
		{"login.example.com", "login.example.com", true},
		{"login.example.com", "example.com", true},
		{"localhost", "localhost", true},
		{"idp", "idp", true},
		{"login.example.com", "com", false},
		{"app.localhost", "localhost", false},
		{"evil-example.com", "example.com", false},
		{"example.com.evil.com", "example.com", false},
		{"example.com", "login.example.com", false},
	}
	for _, test := range tests {
		if got := isUnderDomain(test.host, test.id); got != test.want {
			t.Errorf("%s under %s: got %v", test.host, test.id, got)
		}
	}
}
