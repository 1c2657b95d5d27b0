package claims

import "github.com/postern-id/postern/schemas"

// AttributeClaims returns the attributes that the declared claims of a client with an attribute as their source read,
// by the index of the claim: see schemas.User.AttributeClaim.
func AttributeClaims(o *schemas.OAuthProfile) map[int][]string {
	found := map[int][]string{}
	if o == nil {
		return found
	}
	for i := range o.Claims {
		if c := &o.Claims[i]; c.Source == "attribute" && (c.Name != "" || len(c.Path) > 0) {
			attribute := attributeOf(c)
			found[i] = append([]string{attribute}, schemas.ComposedOf(attribute)...)
		}
	}
	return found
}
