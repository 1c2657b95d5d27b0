package e2e_test

import "testing"

// The console shows what an application learns about a user, why, and where users can set it.
func TestConsoleShowsTheClaimsOfAUser(t *testing.T) {
	t.Parallel()
	p := serve(t)
	id := p.idOf(t, "/applications", object{"name": "Payroll", "inboundAuthConfig": []any{object{"type": "oauth2", "config": object{
		"redirectUris": []string{"https://payroll.example/callback"},
		"claims": []any{
			object{"name": "cost_center", "source": "attribute", "attribute": "nickname"},
			object{"name": "teams", "source": "groups", "scopes": []string{"groups"}},
		},
	}}}})
	p.idOf(t, "/users", object{"type": "Person", "attributes": object{"username": "robin", "nickname": "cc-42"}})
	c := openConsole(t, p, "/applications/"+id+"?tab=claims")
	c.heading("Payroll")
	c.find("User", "robin", "robin")
	c.sees(`robin, with the scopes`)
	c.sees(`"cc-42"`)
	c.sees("Users can set it: the account page")
	c.isAccessible("the claims of a user")
	c.fill("Scopes", "openid")
	c.press("Show the claims of robin")
	c.sees("robin, with the scopes openid")
	c.sees("Not released. none of its scopes is granted: groups")
}
