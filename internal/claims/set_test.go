package claims

import (
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// A change that is only checked does not change the claims of the stored application, even if both have the same time.
func TestDraftsChangeNoClaims(t *testing.T) {
	named := func(name string) *schemas.Application {
		return &schemas.Application{ID: "draft", UpdatedAt: time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC), InboundAuthConfig: []schemas.InboundAuth{{Type: "oauth2",
			Config: schemas.OAuthProfile{Claims: []schemas.Claim{{Name: name, Source: "constant", Value: "yes"}}}}}}
	}
	refused, stored := named("admin"), named("member")
	(&System{Applications: map[string]*schemas.Application{"draft": refused}}).Settings().PlacesOf(refused)
	of := &Subject{User: &schemas.User{ID: "u"}, Application: stored}
	got := Of(stored, Context{Identity: schemas.IdentityScopes()}).Values(IDToken, of)
	if got["admin"] != nil || got["member"] != "yes" {
		t.Errorf("the ID token has %v", got)
	}
}
