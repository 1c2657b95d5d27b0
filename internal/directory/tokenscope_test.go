package directory

import (
	"slices"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// A token grants no more than its subject's current permissions.
func TestGranted(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		user := h.ids["user"] // shop:orders:write, through the group
		both := h.create(t, h.Applications, `{"name": "Both", "clientId": "both",
			"inboundAuthConfig": [{"type": "oauth2", "config": {"grantTypes": ["client_credentials"], "scopes": ["shop:orders:read"]}}]}`)
		_, err := h.Assign(t.Context(), SystemCall(), h.ids["role"], schemas.Principal{Type: schemas.ApplicationPrincipal, ID: both})
		must(t, err)
		for _, test := range []struct {
			subject, client string
			scope, want     []string
		}{
			{user, "", []string{"shop:orders:write"}, []string{"shop:orders:write"}},
			{user, "taken", []string{"openid", "shop:orders:write", "email"}, []string{"openid", "shop:orders:write", "email"}},
			{user, "", []string{"shop:orders:read"}, nil},
			{user, "", []string{"openid", "system"}, []string{"openid"}}, // the shop's permission was not requested
			{user, "", []string{"shop:orders"}, []string{"shop:orders:write"}},
			{user, "", []string{"shop:orders", "shop:orders:write"}, []string{"shop:orders:write"}},
			{user, "", []string{"openid"}, []string{"openid"}},
			{h.ids["other"], "", []string{"shop:orders:write", "profile"}, []string{"profile"}},
			{schemas.NewID(), "", []string{"system"}, nil},
			{"taken", "taken", []string{"shop:orders:read", "shop:orders:write"}, []string{"shop:orders:read"}},
			{"both", "both", []string{"shop:orders"}, []string{"shop:orders:read", "shop:orders:write"}},
			{"none", "none", []string{"shop:orders"}, nil},
		} {
			got, err := h.Granted(t.Context(), test.subject, test.client, test.scope)
			must(t, err)
			if !slices.Equal(got, test.want) {
				t.Errorf("of %q a token of %s by %q still has %q, expected %q", test.scope, test.subject, test.client, got, test.want)
			}
		}
	})
}

// A permission above the requested one suffices. "system" is not above permissions of other
// servers, as when the token was issued.
func TestGrantedFromAbove(t *testing.T) {
	w := newFixture(t)
	root := w.create(t, w.Users, person("root"))
	w.role(t, root, "system")
	scope := []string{"system:users:read", "elsewhere"}
	got, err := w.Granted(t.Context(), root, "", scope)
	must(t, err)
	if issued := schemas.GrantableScopes(scope, []string{"system"}, schemas.IdentityScopes()); !slices.Equal(got, scope[:1]) || !slices.Equal(got, issued) {
		t.Errorf("an administrator still has %q of %q, and was issued %q", got, scope, issued)
	}
}
