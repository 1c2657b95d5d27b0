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
