package main

import (
	"strings"
	"testing"
)

// A service that calls an API of its own must name it to get a token with the permission.
func TestNextStepsOfServices(t *testing.T) {
	metadata := resource{"issuer": "https://id.example.org", "token_endpoint": "https://id.example.org/oauth2/token"}
	app := resource{"clientId": "ABC", "clientSecret": "it's"}
	for scope, want := range map[string]string{
		"":                  "create it with permissions as --scope",
		"system:users:read": "assign it a role with the permissions of its scopes",
		"system":            "assign it a role with the permissions of its scopes",
		"notes:write":       "-d grant_type=client_credentials -d resource=IDENTIFIER https://id.example.org/oauth2/token",
	} {
		text := clientCreateCommand{Type: "service", Scope: strings.Fields(scope)}.nextSteps(metadata, app)
		if !strings.Contains(text, want) || strings.Contains(text, "IDENTIFIER") != (scope == "notes:write") ||
			!strings.Contains(text, "\nexport CLIENT_ID='ABC'\nexport CLIENT_SECRET='it'\\''s'\n") {
			t.Errorf("%s: expected %q in\n%s", scope, want, text)
		}
	}
}
