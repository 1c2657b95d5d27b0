package claims

import (
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// The reason for an absent claim is what an administrator can change.
func TestAbsentClaimsAreExplained(t *testing.T) {
	app := &schemas.Application{InboundAuthConfig: []schemas.InboundAuth{{Type: "oauth2", Config: schemas.OAuthProfile{
		Claims: []schemas.Claim{{Name: "mail", Source: "attribute", Attribute: "email"}, {Name: "sure", Source: "attribute", Attribute: "email", Authoritative: true}, {Name: "level", Source: "attribute", Type: "number"}, {Name: "floor", Source: "attribute"}},
	}}}}
	for name, tt := range map[string]struct {
		attributes map[string]any
		unverified bool // the server sends no mail
		claim      string
		want       string // "" for a claim with a value
	}{
		"an unverified address":    {map[string]any{"email": "a@example.org"}, false, "mail", "the address of the user is not verified"},
		"a server without mail":    {map[string]any{"email": "a@example.org"}, true, "mail", ""},
		"a verified address":       {map[string]any{"email": "a@example.org", "email_verified": true}, false, "mail", ""},
		"an authoritative address": {map[string]any{"email": "a@example.org"}, true, "sure", "the address of the user is not verified"},
		"no address":               {nil, false, "mail", "the user has no attribute email"},
		"the standard claim":       {map[string]any{"email": "a@example.org"}, false, "email", "the address of the user is not verified"},
		"a value of another type":  {map[string]any{"level": "high"}, false, "level", "cannot have the type"},
		"no attribute of the type": {nil, false, "floor", "the user has no attribute floor"},
	} {
		user := &schemas.User{ID: "u", Attributes: tt.attributes}
		of := &Subject{User: user, Application: app, Facts: &schemas.ClaimFacts{}, Scope: []string{"openid", "email"}, Unverified: tt.unverified}
		for _, e := range Of(app, Context{Identity: schemas.IdentityScopes()}).Explain(of) {
			if e.Name() != tt.claim {
				continue
			}
			if tt.want == "" && len(e.Released) == 0 || tt.want != "" && (len(e.Released) > 0 || !strings.Contains(e.Reason, tt.want)) {
				t.Errorf("%s: %+v", name, e)
			}
		}
	}
}
