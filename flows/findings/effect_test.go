package findings

import (
	"testing"
)

// A valid flow that does not do what its type promises has a warning.
func TestFlowsWithoutEffect(t *testing.T) {
	const signIn, signUp = "handle: f\nname: F\nflowType: AUTHENTICATION\nnodes:\n", "handle: f\nname: F\nflowType: REGISTRATION\nnodes:\n"
	tests := []struct {
		name, text, warning string
	}{
		{"a sign-in that ends", signIn + "  - {id: key, use: passkey-authenticate, next: end}\n", "no run of this flow signs its user in: all paths lead to `end`; lead them to a node of the kind authorization-code"},
		{"a sign-in", good, ""},
		{"a change of the account", signIn + "  - {id: key, use: passkey-authenticate, next: app}\n  - {id: app, use: totp-register, next: {success: end, kept: end}}\n", ""},
		{"a change of attributes", signIn + "  - {id: key, use: passkey-authenticate, next: more}\n  - {id: more, use: attributes, with: {attributes: [given_name]}, next: end}\n", ""},
		{"a sign-up that creates no user", signUp + "  - {id: ask, use: prompt, with: {actions: [{ref: go}]}, next: end}\n", "no run of this sign-up creates a user; add a node of the kind user-create"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := checked(t, Source{Name: "f.yaml", Text: []byte(tt.text)})[0]
			message := ""
			for _, p := range f.Findings {
				if p.Rule == "effect" {
					message = p.Message
				}
			}
			if f.Refused() || message != tt.warning {
				t.Errorf("findings: %v", f.Findings)
			}
		})
	}
}
