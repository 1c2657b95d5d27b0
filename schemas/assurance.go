package schemas

import "slices"

// The authentication context classes (acr) of a sign-in. A class has two parts: the strength of the
// proof, and its resistance to phishing.
//
// The strengths, weakest first: vouched is a statement by a third party, which delivered a mail to
// the user or signed the user in; recovery is one of the recovery codes that the user stored; otp
// is a one-time code alone; password is one strong factor, a password or the possession of a
// passkey; mfa is two factors of different kinds (NIST SP 800-63B §2.2, AAL2).
//
// A passkey is phishing-resistant: phr (OpenID Connect Extended Authentication
// Profile ACR Values 1.0 §2). It is phrh if its key is known to stay in hardware:
// the attestation of the passkey chains to a trust anchor of the operator, and the
// passkey is not backup eligible. Possession alone is one factor. A passkey that
// verified its user, by PIN or biometrics, is two, and so is a passkey together with
// a password: mfa-phr and mfa-phrh.
const (
	ACRVouched                    = "urn:postern:acr:vouched"
	ACRRecovery                   = "urn:postern:acr:recovery"
	ACROneTimeCode                = "urn:postern:acr:otp"
	ACRPassword                   = "urn:postern:acr:password"
	ACRMultiFactor                = "urn:postern:acr:mfa"
	ACRPhishingResistant          = "phr"
	ACRPhishingResistantProtected = "phrh"
	ACRMultiFactorPR              = "urn:postern:acr:mfa-phr"
	ACRMultiFactorPRProtected     = "urn:postern:acr:mfa-phrh"
)

// assurance contains the parts of a class. A combined assurance is equivalent to several others
// together.
type assurance struct {
	acr                 string
	strength, resistant int
	combined            bool
}

// assurances defines the order of the classes. A class satisfies another if it is at least as good
// in both respects. That is a partial order (phr and mfa do not compare), and a distributive
// lattice: any two classes have a weakest class that satisfies both, and a strongest class that
// both satisfy. A class comes after those that it satisfies.
func assurances() [9]assurance {
	return [...]assurance{
		{ACRVouched, 0, 0, false},
		{ACRRecovery, 1, 0, false},
		{ACROneTimeCode, 2, 0, false},
		{ACRPassword, 3, 0, false},
		{ACRMultiFactor, 4, 0, false},
		{ACRPhishingResistant, 3, 1, false},
		{ACRPhishingResistantProtected, 3, 2, false},
		{ACRMultiFactorPR, 4, 1, true},
		{ACRMultiFactorPRProtected, 4, 2, true},
	}
}

// ACRs returns the classes. Each comes after those that it satisfies.
func ACRs() []string {
	var list []string
	for _, a := range assurances() {
		list = append(list, a.acr)
	}
	return list
}

// assuranceOf returns the assurance of a class, and false if there is no such class.
func assuranceOf(acr string) (assurance, bool) {
	for _, a := range assurances() {
		if a.acr == acr {
			return a, true
		}
	}
	return assurance{}, false
}

// KnownACR reports whether there is such a class.
func KnownACR(acr string) bool {
	_, known := assuranceOf(acr)
	return known
}

// Satisfies reports whether a sign-in of class has is also one of class wanted: the
// same, or one that is at least as good in every respect. A class that is not known
// satisfies itself only.
func Satisfies(has, wanted string) bool {
	h, known := assuranceOf(has)
	w, wantedKnown := assuranceOf(wanted)
	if !known || !wantedKnown {
		return has == wanted
	}
	return h.satisfies(w)
}

func (a assurance) satisfies(b assurance) bool {
	return a.strength >= b.strength && a.resistant >= b.resistant
}

// CombineACRs returns the weakest class that satisfies all given classes: the class of a sign-in
// that proved each of them. Unknown classes are ignored; the result is "" if none is known.
func CombineACRs(acrs ...string) string {
	var all assurance
	none := true
	for _, acr := range acrs {
		if a, known := assuranceOf(acr); known {
			none = false
			all.strength, all.resistant = max(all.strength, a.strength), max(all.resistant, a.resistant)
		}
	}
	for _, a := range assurances() {
		if !none && a.satisfies(all) {
			return a.acr
		}
	}
	return ""
}

// PlainACRs returns the classes that a class satisfies and that are not combinations of others. The
// class is the combination of these. It satisfies another class exactly if its list contains the
// list of the other. The class that is certain on two paths is the intersection of their lists.
func PlainACRs(acr string) []string {
	var list []string
	for _, class := range assurances() {
		if !class.combined && Satisfies(acr, class.acr) {
			list = append(list, class.acr)
		}
	}
	return list
}

// AnsweredACR returns the class to state to a client that asked for the given ones, in its order of
// preference (OpenID Connect Core §3.1.2.1, acr_values): the first that the sign-in satisfies,
// which the client can compare, else the class of the sign-in.
func AnsweredACR(has string, asked []string) string {
	for _, acr := range asked {
		if KnownACR(acr) && Satisfies(has, acr) {
			return acr
		}
	}
	return has
}

// RevaluedAssurance converts a class and methods that an earlier release stored. There, phr and
// phrh did not state whether the passkey verified its user, and phrh and hwk relied on an unsigned
// statement of the authenticator.
func RevaluedAssurance(acr string, amr []string) (string, []string) {
	methods := slices.DeleteFunc(slices.Clone(amr), func(m string) bool { return m == "hwk" })
	if slices.Contains(methods, "user") && !slices.Contains(methods, "mfa") {
		methods = append(methods, "mfa")
	}
	if acr == ACRPhishingResistant || acr == ACRPhishingResistantProtected {
		acr = ACRPhishingResistant
		if slices.Contains(methods, "mfa") {
			acr = ACRMultiFactorPR
		}
	}
	return acr, methods
}

// Methods of authentication (amr) that RFC 8176 does not name.
const (
	AMRRecovery  = "recovery" // a recovery code
	AMREmail     = "email"    // a code that was sent to the user's address
	AMRFederated = "fed"      // an assertion by another identity provider
	AMRLimited   = "limited"  // a credential that proves less than its kind: see Provenance
)

// AMRMultiFactor is the method that states that there were two factors (RFC 8176).
const AMRMultiFactor = "mfa"

// KnownMethods are the methods (amr) that prove something which the user knows.
func KnownMethods() []string { return []string{"pwd"} }

// HeldMethods are the methods (amr) that prove something which the user holds, and
// not only knows.
func HeldMethods() []string { return []string{"pop", "otp", AMRRecovery} }

// Guarantees hold for every completed run of a flow, whatever the client sends: how the user has
// authenticated at least, and what the flow does not reveal. The zero value guarantees nothing.
type Guarantees struct {
	// ACR is the weakest class of authentication.
	ACR string `json:"acr,omitempty"`
	// AMR are methods (RFC 8176) that have always been used.
	AMR []string `json:"amr,omitempty"`
	// PhishingResistant states that ACR satisfies phr.
	PhishingResistant bool `json:"phishingResistant,omitempty"`
	// UserVerified states that a passkey verified its user, by PIN or biometrics.
	UserVerified bool `json:"userVerified,omitempty"`
	// NoEnumeration guarantees that no step reveals whether an account exists before
	// authentication, neither by its path nor by its reply. Response times are not covered.
	NoEnumeration bool `json:"noEnumeration,omitempty"`
}

// IsZero reports whether nothing is guaranteed.
func (g Guarantees) IsZero() bool {
	return g.ACR == "" && len(g.AMR) == 0 && !g.PhishingResistant && !g.UserVerified && !g.NoEnumeration
}

// Class is the class that ACR and PhishingResistant guarantee together.
func (g Guarantees) Class() string {
	if g.PhishingResistant {
		return CombineACRs(g.ACR, ACRPhishingResistant)
	}
	return g.ACR
}

// Methods are the methods that AMR and UserVerified guarantee together.
func (g Guarantees) Methods() []string {
	if g.UserVerified && !slices.Contains(g.AMR, "user") {
		return append(slices.Clone(g.AMR), "user")
	}
	return g.AMR
}
