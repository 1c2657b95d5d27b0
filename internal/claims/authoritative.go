package claims

import "github.com/postern-id/postern/schemas"

// AttributeClaims returns the declared claims of a client with an attribute as their source, by their index.
func AttributeClaims(o *schemas.OAuthProfile) map[int]string {
	found := map[int]string{}
	if o == nil {
		return found
	}
	for i := range o.Claims {
		if c := &o.Claims[i]; c.Source == "attribute" && (c.Name != "" || len(c.Path) > 0) {
			found[i] = attributeOf(c)
		}
	}
	return found
}
