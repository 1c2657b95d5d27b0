package oauth

import (
	"slices"

	"github.com/postern-id/postern/schemas"
)

// profile returns the claims that the scopes release: OpenID Connect Core §5.4. The scope openid
// alone releases only the identifier.
func (p *Provider) profile(u *schemas.User, scope []string) map[string]any {
	var attributes []string
	for _, s := range scope {
		attributes = append(attributes, scopeClaims(s)...)
	}
	if attributes == nil {
		return map[string]any{}
	}
	claims := u.Profile(attributes, p.Unverified)
	name, named := u.Attributes["username"]
	if _, preferred := claims["preferred_username"]; named && !preferred && slices.Contains(attributes, "username") {
		claims["preferred_username"] = name
	}
	return claims
}

// scopeClaims returns the claims that a scope releases.
func scopeClaims(scope string) []string {
	switch scope {
	case "profile":
		return []string{"username", "preferred_username", "name", "given_name", "family_name", "middle_name", "nickname", "profile",
			"picture", "website", "gender", "birthdate", "zoneinfo", "locale"}
	case "email":
		return []string{"email", "email_verified"}
	case "phone":
		return []string{"phone_number", "phone_number_verified"}
	case "address":
		return []string{"address"}
	}
	return nil
}
