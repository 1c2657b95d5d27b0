package server

import "testing"

func TestCutBase(t *testing.T) {
	for path, want := range map[string]string{
		"/auth":                          "/",
		"/auth/":                         "/",
		"/auth/oauth2/token":             "/oauth2/token",
		"/auth/auth/passkey/start":       "/auth/passkey/start",
		"/authority":                     "",
		"/oauth2/token":                  "",
		"/":                              "",
		"//auth/x":                       "",
		"/auth//x":                       "//x",
		"/.well-known/webauthn":          "",
		"/auth/.well-known/webauthn":     "/.well-known/webauthn",
		"/.well-known/webauthn/auth":     "/.well-known/webauthn",
		"/.well-known/x/auth/mcp":        "/.well-known/x/mcp",
		"/.well-known/x/authority":       "",
		"/.well-known/":                  "",
		"/auth/.well-known/x/auth":       "/.well-known/x/auth",
		"/.well-known/auth/auth/auth/y/": "/.well-known/auth/auth/y/",
	} {
		if got, ok := cutBase("/auth", path); got != want || ok != (want != "") {
			t.Errorf("%s becomes %q, %v, want %q", path, got, ok, want)
		}
	}
	if _, ok := cutBase("", "/auth"); ok {
		t.Error("a server at the root has no base")
	}
}
