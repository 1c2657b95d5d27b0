package directory

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

// A redirect URI that is accepted leads, by whoever's reading, where it seems to:
// to a host over TLS, to this machine, or to an app that has the scheme.
func FuzzRedirectURI(f *testing.F) {
	for _, uri := range []string{
		"https://app.example.com/callback?x=1", "http://127.0.0.1:1/", "http://[::1]/", "http://localhost", "com.example.app:/callback",
		"javascript:alert(1)", "https://a@b/", "https://*.example.com", "https://a\\@b", "https:a", "//a", "https://a#b", "http://localhost.evil.example/",
		"HTTPS://A.EXAMPLE/", "https://[::1%25en0]/", "https://1.2.3.4:0/", "a.b://c", "https://%61/",
	} {
		f.Add(uri, true)
		f.Add(uri, false)
	}
	f.Fuzz(func(t *testing.T, uri string, private bool) {
		if redirectFault(uri, private) != "" {
			return
		}
		u, err := url.Parse(uri)
		if err != nil || strings.ContainsAny(uri, "#*\\ \t\r\n\x00") || u.User != nil {
			t.Fatalf("%q was accepted", uri)
		}
		switch scheme := strings.ToLower(u.Scheme); {
		case scheme == "https" && u.Hostname() != "" && u.Opaque == "":
		case scheme == "http" && strings.Contains(" localhost 127.0.0.1 ::1 ", " "+strings.ToLower(u.Hostname())+" "):
		case private && strings.Contains(scheme, "."):
		default:
			t.Fatalf("%q was accepted (private-use schemes: %v)", uri, private)
		}
	})
}

// Whatever a client sends as a key, a private one is never accepted.
func FuzzKey(f *testing.F) {
	for _, key := range []string{
		`{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`,
		`{"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0", "d": ""}`,
		`{"kty": "RSA", "n": "AQAB", "e": "AQAB", "alg": "none"}`, `{"kty": 7}`, `{"k": null}`, `{"kty": "EC", "crv": ["P-256"]}`,
	} {
		f.Add([]byte(key))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var key map[string]any
		if json.Unmarshal(text, &key) != nil {
			return
		}
		if _, wrong := keyFault(key); wrong != "" {
			return
		}
		for _, secret := range []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"} {
			if _, has := key[secret]; has {
				t.Fatalf("a key with the member %q was accepted: %s", secret, text)
			}
		}
		if key["kty"] != "EC" && key["kty"] != "RSA" && key["kty"] != "OKP" || key["alg"] == "none" {
			t.Fatalf("accepted: %s", text)
		}
	})
}
