package mcp_test

import (
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// TestRevokeTokens revokes the tokens of an application and of everyone, and refuses what is
// ambiguous or unknown.
func TestRevokeTokens(t *testing.T) {
	w := newFixture(t)
	var app schemas.Application
	var result struct{ Count int }
	w.ok("service_create_application", `{"name": "Leaky"}`, &app)
	w.ok("service_revoke_tokens", `{"of": "application", "id": "`+app.ID+`"}`, &result)
	if result.Count != 1 {
		t.Errorf("revoked the tokens of %d applications", result.Count)
	}
	w.ok("service_revoke_tokens", `{"of": "everyone"}`, &result)
	if result.Count < 2 {
		t.Errorf("revoked the tokens of %d applications, expected all", result.Count)
	}
	for arguments, code := range map[string]string{
		`{"of": "application"}`:            "invalid_request",
		`{"of": "everyone", "id": "x"}`:    "invalid_request",
		`{"of": "nothing"}`:                "invalid_request",
		`{"of": "application", "id": "x"}`: schemas.CodeAppNotFound,
		`{"of": "user", "id": "x"}`:        schemas.CodeUserNotFound,
	} {
		if e := w.refused("service_revoke_tokens", arguments, code); strings.TrimSpace(e.Description.DefaultValue) == "" {
			t.Errorf("%s: no description", arguments)
		}
	}
}
