package nodes

import "slices"

// profileAttributes are the attributes by which assertions describe a user
// unless the application says otherwise: the standard claims of OpenID Connect
// Core §5.1, and the username.
func profileAttributes() []string {
	return []string{
		"username", "preferred_username", "name", "given_name", "family_name", "middle_name",
		"nickname", "profile", "picture", "website", "gender", "birthdate", "zoneinfo", "locale",
		"email", "email_verified", "phone_number", "phone_number_verified", "address",
	}
}

// enterable reports whether an attribute is one that people state about
// themselves. That an address was verified is for the server to find out.
func enterable(attribute string) bool {
	return slices.Contains(profileAttributes(), attribute) && !attestedAttribute(attribute)
}

func attestedAttribute(attribute string) bool {
	return attribute == "email_verified" || attribute == "phone_number_verified"
}

// reservedClaim reports whether a claim of a token is the issuer's to set. A
// user attribute of such a name must never become a claim: it would let
// whoever may write the attribute speak for the issuer.
func reservedClaim(name string) bool {
	return slices.Contains([]string{
		"iss", "sub", "aud", "exp", "nbf", "iat", "jti", "azp", "nonce", "sid", "at_hash", "c_hash", "cnf",
		"act", "may_act", "client_id", "scope", "permissions", "roles", "groups", "auth_time", "amr", "acr",
		"userType", "ouId", "events",
	}, name)
}
