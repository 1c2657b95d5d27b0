package schemas

import "slices"

// The authentication context classes (acr) that a sign-in can be of, weakest
// first: the word of somebody else, who lets a person read their mail or signs them in;
// one of the codes that somebody has put aside for the day they lose
// everything else; a one-time code alone; a password alone; something known
// together with something held (NIST SP 800-63B §2.2, AAL2); a passkey that can
// be synced, and one that stays on its device. Those of passkeys are
// phishing-resistant (OpenID Connect Extended Authentication Profile ACR Values
// 1.0 §2).
const (
	ACRVouched                    = "urn:postern:acr:vouched"
	ACRRecovery                   = "urn:postern:acr:recovery"
	ACROneTimeCode                = "urn:postern:acr:otp"
	ACRPassword                   = "urn:postern:acr:password"
	ACRMultiFactor                = "urn:postern:acr:mfa"
	ACRPhishingResistant          = "phr"
	ACRPhishingResistantProtected = "phrh"
)

// ACRs returns the classes, weakest first; each withstands more than the ones
// before it. It is the one place of their order.
func ACRs() []string {
	return []string{ACRVouched, ACRRecovery, ACROneTimeCode, ACRPassword, ACRMultiFactor, ACRPhishingResistant, ACRPhishingResistantProtected}
}

// ACRStrength orders the classes; a higher one withstands more. It is -1 for
// what is none of them.
func ACRStrength(acr string) int { return slices.Index(ACRs(), acr) }

// Methods of authentication (amr) that RFC 8176 has no name for.
const (
	AMRRecovery  = "recovery" // one of the codes that were put aside
	AMREmail     = "email"    // a code that was sent to the user's address
	AMRFederated = "fed"      // the word of another identity provider
)

// HeldMethods are the methods (amr) that prove something which the user holds, and
// not only knows.
func HeldMethods() []string { return []string{"pop", "otp", AMRRecovery} }

// Satisfies reports whether a sign-in of class has is also one of class wanted:
// the same, or a stronger one.
func Satisfies(has, wanted string) bool {
	return has == wanted || ACRStrength(wanted) >= 0 && ACRStrength(has) > ACRStrength(wanted)
}

// Guarantees are what every run of a flow keeps, whatever the client sends: how
// somebody has authenticated at least where a run completes, and what it tells
// strangers. The zero value guarantees nothing.
type Guarantees struct {
	// ACR is the weakest class of authentication.
	ACR string `json:"acr,omitempty"`
	// AMR are methods (RFC 8176) that have always been used.
	AMR []string `json:"amr,omitempty"`
	// PhishingResistant says that ACR is that of a passkey.
	PhishingResistant bool `json:"phishingResistant,omitempty"`
	// UserVerified says that a passkey verified its user, by PIN or biometrics.
	UserVerified bool `json:"userVerified,omitempty"`
	// NoEnumeration says that no step tells somebody who has not authenticated
	// whether an account exists, by where it leads or by what it answers. How long
	// an answer takes is not part of it.
	NoEnumeration bool `json:"noEnumeration,omitempty"`
}

// IsZero reports whether nothing is guaranteed.
func (g Guarantees) IsZero() bool {
	return g.ACR == "" && len(g.AMR) == 0 && !g.PhishingResistant && !g.UserVerified && !g.NoEnumeration
}

// Class is the class that is guaranteed, by ACR or by PhishingResistant.
func (g Guarantees) Class() string {
	if g.PhishingResistant && ACRStrength(g.ACR) < ACRStrength(ACRPhishingResistant) {
		return ACRPhishingResistant
	}
	return g.ACR
}

// Methods are the methods that are guaranteed, by AMR or by UserVerified.
func (g Guarantees) Methods() []string {
	if g.UserVerified && !slices.Contains(g.AMR, "user") {
		return append(slices.Clone(g.AMR), "user")
	}
	return g.AMR
}
