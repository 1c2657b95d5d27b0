package schemas

import (
	"slices"
	"strings"
)

// ProfileAttributes are the default attributes of assertions: the standard claims of OpenID Connect
// Core §5.1, and the username.
func ProfileAttributes() []string {
	return []string{
		"username", "preferred_username", "name", "given_name", "family_name", "middle_name",
		"nickname", "profile", "picture", "website", "gender", "birthdate", "zoneinfo", "locale",
		"email", "email_verified", "phone_number", "phone_number_verified", "address",
	}
}

// Profile returns the user's values of the attributes as claims of a token; nil means
// ProfileAttributes. Claims of the issuer are never included, whatever the attributes are called:
// otherwise a writer of attributes could forge them.
//
// An address is included once it is verified: anyone can enter any address, and many clients
// identify users by the claim email without reading email_verified. unverified includes others too,
// for a server that sends no mail, with which users could verify them.
func (u *User) Profile(attributes []string, unverified bool) map[string]any {
	if attributes == nil {
		attributes = ProfileAttributes()
	}
	claims := map[string]any{}
	for name, value := range u.Attributes {
		if slices.Contains(attributes, name) && !issuerClaim(name) {
			claims[name] = value
		}
	}
	u.stateVerified(claims, attributes)
	if !unverified && !u.Verified(EmailVerified) {
		delete(claims, "email")
		delete(claims, EmailVerified)
	}
	if name := u.fullName(); name != "" && claims["name"] == nil && slices.Contains(attributes, "name") {
		claims["name"] = name
	}
	return claims
}

// fullName is composed of the given name and the family name, for users without the
// attribute name: many relying parties need the claim (OpenID Connect Core §5.1).
func (u *User) fullName() string {
	return strings.Join(strings.Fields(u.Text("given_name")+" "+u.Text("family_name")), " ")
}

// stateVerified sets the claims that state whether an address or phone number is verified, because
// relying parties interpret a missing claim differently.
func (u *User) stateVerified(claims map[string]any, attributes []string) {
	for attested, attribute := range VerificationAttributes() {
		switch {
		case !slices.Contains(attributes, attested):
		case u.Text(attribute) == "":
			delete(claims, attested)
		default:
			claims[attested] = u.Verified(attested)
		}
	}
}

// issuerClaim reports whether only the issuer, or a declared claim, may set a claim.
func issuerClaim(name string) bool {
	return IsProtocolClaim(name) || IsAuthorizationClaim(name)
}

// AccountName returns the name of the account: the identifier with which the user signs in, or the
// id of a user without one.
func (u *User) AccountName() string {
	for _, attribute := range IdentifyingAttributes() {
		if name := u.Text(attribute); name != "" {
			return name
		}
	}
	return u.ID
}

// DisplayName returns the name of the user for display.
func (u *User) DisplayName() string {
	if name := u.Text("name"); name != "" {
		return name
	}
	if name := strings.TrimSpace(u.Text("given_name") + " " + u.Text("family_name")); name != "" {
		return name
	}
	return u.AccountName()
}
