package schemas

import (
	"cmp"
	"slices"
)

// Provenance is the sign-in that added a credential to an existing account: its class
// (acr) and its methods (amr). The zero value is that of a credential without a limit:
// it came with its account, was set by an administrator, or by a flow that waives the
// limit.
//
// A sign-in with a credential is worth no more than the sign-in that added it. Otherwise an
// attacker who has a weak credential could add a strong one and keep it: a passkey that was added
// after a code by mail would count as phishing-resistant, although the user only proved access to
// the mailbox.
type Provenance struct {
	ACR     string   `json:"acr,omitempty"`
	Methods []string `json:"amr,omitempty"`
	// Proofs are the credentials with which the user signed in, also if there is no limit. They are nil
	// if the user did not add the credential, or if it was added before they were recorded.
	Proofs []Proof `json:"-"`
}

// FormerPassword is among the methods of a credential that was added with a password alone which the user
// has replaced or removed since, and that the user has neither confirmed at that time nor kept later.
const FormerPassword = "former_password"

// AddedWith returns the credentials of a sign-in, for the provenance of what it adds.
func AddedWith(proofs []Proof) (credentials []Proof) {
	for _, p := range proofs {
		if p.Kind != SessionProof { // the credentials of the session are there too
			credentials = append(credentials, p.Credential())
		}
	}
	return credentials
}

// RestsOn reports whether the credential was added with some of the given ones alone. Of credentials whose
// sign-in was not recorded, those that were added with the method of a password only rest on any password.
func (p Provenance) RestsOn(credentials ...Proof) bool {
	if len(p.Proofs) == 0 {
		isPassword := func(c Proof) bool { return c.Kind == PasswordProof }
		return !p.IsZero() && slices.Equal(p.Methods, KnownMethods()) && slices.ContainsFunc(credentials, isPassword)
	}
	return !slices.ContainsFunc(p.Proofs, func(q Proof) bool {
		return !slices.ContainsFunc(credentials, func(c Proof) bool { return c.covered(q) })
	})
}

// Rerooted returns the provenance with other credentials in place of one of those of the sign-in.
func (p Provenance) Rerooted(from Proof, to ...Proof) Provenance {
	i := slices.IndexFunc(p.Proofs, from.covered)
	if i < 0 {
		return p
	}
	p.Proofs = slices.DeleteFunc(slices.Clone(p.Proofs), from.covered)
	for _, proof := range to {
		if !slices.ContainsFunc(p.Proofs, proof.IsOf) {
			p.Proofs = append(p.Proofs, proof)
		}
	}
	return p
}

// IsFormer reports whether the credential was added with a former password alone.
func (p Provenance) IsFormer() bool { return slices.Contains(p.Methods, FormerPassword) }

// Former returns the provenance after that password was replaced. The limit of a credential that opens the
// account without the new password is the weakest class.
func (p Provenance) Former(opensAccount bool) Provenance {
	p.Methods = append(slices.Clone(p.Methods), FormerPassword)
	if opensAccount {
		p.ACR, p.Methods = ACRVouched, []string{FormerPassword}
	}
	return p
}

// IsZero reports whether the credential has no limit.
func (p Provenance) IsZero() bool { return p.ACR == "" }

// CountsInFull reports whether a passkey with this provenance still resists phishing.
func (p Provenance) CountsInFull() bool { return p.IsZero() || Satisfies(p.ACR, ACRPhishingResistant) }

// Limit returns what a sign-in with the credential proves, given the methods and the class
// of an unlimited credential of its kind, and whether that is less.
//
// The class is the strongest that both satisfy. The methods that prove a factor, something
// known or something held, remain if the sign-in that added the credential proved that
// factor as well, or two factors: the factor could then be proved without the credential.
// Otherwise AMRLimited takes their place.
func (p Provenance) Limit(methods []string, acr string) (limited []string, class string, less bool) {
	if p.IsZero() {
		return methods, acr, false
	}
	class = cmp.Or(CommonACR(acr, p.ACR), ACRVouched)
	var lost []string
	if class != acr {
		lost = append(lost, AMRMultiFactor, "user", "hwk", "swk")
	}
	for _, factor := range [][]string{KnownMethods(), HeldMethods()} {
		if !Satisfies(p.ACR, ACRMultiFactor) && !containsAny(p.Methods, factor) {
			lost = append(lost, factor...)
		}
	}
	if class == acr && !containsAny(methods, lost) {
		return methods, acr, false
	}
	limited = slices.DeleteFunc(slices.Clone(methods), func(m string) bool { return slices.Contains(lost, m) })
	return append(limited, AMRLimited), class, true
}

// CommonACR returns the strongest class that both classes satisfy; "" if there is none.
func CommonACR(a, b string) string {
	var common []string
	for _, class := range PlainACRs(a) {
		if Satisfies(b, class) {
			common = append(common, class)
		}
	}
	return CombineACRs(common...)
}

func containsAny(list, among []string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return slices.Contains(among, s) })
}
