package nodes

import (
	"slices"

	"github.com/postern-id/postern/engine"
)

// passwordACR is the authentication context class of a password. Those of
// passkeys are "phr" and "phrh" (OpenID Connect Extended Authentication
// Profile ACR Values).
const passwordACR = "urn:postern:acr:password"

// strength orders the classes; a higher one withstands more.
func strength(acr string) int { return slices.Index([]string{passwordACR, "phr", "phrh"}, acr) }

// satisfies reports whether a sign-in of class has is also one of class wanted:
// the same, or a stronger one.
func satisfies(has, wanted string) bool {
	return has == wanted || strength(wanted) >= 0 && strength(has) > strength(wanted)
}

// proved states in d that the subject proved who they are by these methods
// (amr, RFC 8176) and class. What they proved in this run before still counts:
// the class is the stronger of both, and something known together with
// something held makes it multi-factor.
func proved(v *engine.Visit, d *engine.Decision, methods []string, acr string) {
	d.Methods, d.ACR = methods, acr
	before := v.Authentication
	if before == nil {
		return
	}
	if strength(before.ACR) > strength(acr) {
		d.ACR = before.ACR
	}
	all := slices.Concat(before.Methods, methods)
	if slices.Contains(all, "pwd") && slices.Contains(all, "pop") {
		d.Methods = append(slices.Clone(methods), "mfa")
	}
}

// enrolled states in d how the subject is authenticated after binding a new
// credential. A new user is what they have just bound. Somebody who proved
// before who they are gains nothing: else a stolen password, by way of adding a
// passkey, would pass for phishing-resistant.
func enrolled(v *engine.Visit, d *engine.Decision, methods []string, acr string) {
	switch {
	case v.Authentication == nil:
		d.Methods, d.ACR = methods, acr
	case v.Facts.Has(engine.New):
		proved(v, d, methods, acr)
	default:
		d.ACR = v.Authentication.ACR
	}
}
