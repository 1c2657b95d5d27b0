package main

import (
	"strings"
	"testing"
)

// Each sign-in method is a line. What users choose cannot control the terminal.
func TestSignInMethodsAreLines(t *testing.T) {
	user := resource{
		"password": true,
		"passkeys": []resource{
			{"id": "a", "name": "Phone\x1b[2J", "authenticator": "Example Manager", "backedUp": true, "createdAt": "2030-01-02T12:00:00Z", "lastUsedAt": "2030-01-03T12:00:00Z"},
			{"id": "b", "name": "Key", "authenticator": "Key", "createdAt": "2030-01-02T13:00:00Z", "lastUsedAt": nil, "limit": "urn:postern:acr:vouched"},
		},
		"identities": []resource{{"provider": map[string]any{"handle": "corp", "name": "Corp"}, "subject": "s-1", "name": "Ada", "createdAt": "2030-01-02T12:00:00Z"}},
		"factors": []resource{
			{"type": "totp", "createdAt": "2030-01-02T12:00:00Z", "disabledAt": "2030-01-04T12:00:00Z"},
			{"type": "recovery-codes", "createdAt": "2030-01-02T12:00:00Z", "total": 10.0, "left": 0.0},
		},
		"addedWithFormerPassword": []resource{{"type": "passkey", "name": "Key", "createdAt": "2030-01-02T13:00:00Z"}},
	}
	describeSignInMethods(user)
	var out strings.Builder
	if err := (output{}).show(&out, user, signInColumns()...); err != nil {
		t.Fatal(err)
	}
	want := `PASSWORD:         yes
PASSKEYS:         "Phone` + "\uFFFD" + `[2J" (Example Manager), synced, id a, added 2030-01-02T12:00:00Z, last used 2030-01-03T12:00:00Z
                  "Key", id b, added 2030-01-02T13:00:00Z, never used, proves at most urn:postern:acr:vouched
IDENTITIES:       Corp (corp), subject s-1, "Ada", added 2030-01-02T12:00:00Z, never used
FACTORS:          totp, added 2030-01-02T12:00:00Z, never used, disabled for new browsers since 2030-01-04T12:00:00Z
                  recovery-codes, 0 of 10 left, added 2030-01-02T12:00:00Z
FORMER PASSWORD:  passkey "Key", added 2030-01-02T13:00:00Z
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
