package passkey

import (
	"cmp"
	"crypto/x509"
	"slices"
	"strings"
)

// The values of userVerification and residentKey (§5.8.6, §5.4.6).
const (
	Required    = "required"
	Preferred   = "preferred"
	Discouraged = "discouraged"
)

// The values of authenticatorAttachment (§5.4.5).
const (
	Platform      = "platform"
	CrossPlatform = "cross-platform"
)

// The values of Policy.SyncedPasskeys, Policy.CounterRegression and Policy.EligibilityChange.
const (
	Allow  = "allow"
	Refuse = "refuse"
)

// The default COSE algorithms (IANA COSE Algorithms).
const (
	ES256 int64 = -7
	EdDSA int64 = -8
	RS256 int64 = -257
)

// Policy is the operator's policy for passkeys. The server enforces it when a ceremony is
// finished, because browsers can ignore the options.
type Policy struct {
	// Algorithms are the COSE algorithms offered and accepted at registration, most
	// preferred first; nil means ES256, EdDSA, RS256.
	Algorithms []int64
	// UserVerification is the minimum for every ceremony: required, preferred (the
	// default) or discouraged.
	UserVerification string
	// Attachment allows only platform or only cross-platform authenticators to register;
	// "" allows both. The browser reports the attachment unsigned, and some browsers omit
	// it: then the passkey is accepted.
	Attachment string
	// Attestation lists the accepted attestation statement formats ("none", "packed", …);
	// nil accepts every format that can be verified.
	Attestation []string
	// TrustAnchors are root certificates of authenticator manufacturers. A passkey whose
	// attestation chains to one of them is Attested.
	TrustAnchors []*x509.Certificate
	// SyncedPasskeys is allow (the default) or refuse: passkeys that can leave their
	// device (BE set) can neither register nor authenticate.
	SyncedPasskeys string
	// CounterRegression is refuse (the default) or allow: an authenticator whose signature
	// counter did not grow, as with a clone, is accepted and reported in Verified.
	CounterRegression string
	// EligibilityChange is refuse (the default) or allow: a passkey whose backup eligibility (BE) differs from
	// its registration, which must not happen (§6.1.3), is accepted as one that can leave its device, and
	// reported in Verified. Some password managers change it.
	EligibilityChange string
}

// withDefaults returns the policy with the defaults of values that are not set.
func (p Policy) withDefaults() Policy {
	if p.Algorithms == nil {
		p.Algorithms = []int64{ES256, EdDSA, RS256}
	}
	p.UserVerification = cmp.Or(p.UserVerification, Preferred)
	p.SyncedPasskeys = cmp.Or(p.SyncedPasskeys, Allow)
	p.CounterRegression = cmp.Or(p.CounterRegression, Refuse)
	p.EligibilityChange = cmp.Or(p.EligibilityChange, Refuse)
	return p
}

// userVerification returns the requested user verification, or the policy's if that is
// stricter.
func (p Policy) userVerification(asked string) string {
	order := []string{Discouraged, Preferred, Required}
	return order[max(slices.Index(order, p.UserVerification), slices.Index(order, cmp.Or(asked, Preferred)))]
}

// admitAttachment applies Attachment to the attachment that a registration requests.
func (p Policy) admitAttachment(asked string) error {
	if p.Attachment != "" && asked != "" && asked != p.Attachment {
		return badRequest("authenticatorAttachment: the policy of this server admits only %s authenticators, but the request asks for %s", p.Attachment, asked)
	}
	return nil
}

// checkVerification checks that a requested user verification exists.
func checkVerification(asked string) error {
	return checkOption("userVerification", asked, Required, Preferred, Discouraged)
}

// checkOption checks that an option has one of the accepted values, or none.
func checkOption(name, value string, accepted ...string) error {
	if value == "" || slices.Contains(accepted, value) {
		return nil
	}
	return badRequest("%s: expected one of %s, got %.64q", name, strings.Join(accepted, ", "), value)
}

// admitSynced applies SyncedPasskeys to an authenticator's BE flag.
func (p Policy) admitSynced(backupEligible bool) error {
	if backupEligible && p.SyncedPasskeys == Refuse {
		return refuse(StepPolicy, "this passkey can be copied to other devices, and the policy of this server admits only passkeys bound to one: use a security key")
	}
	return nil
}

// admitFormat applies Attestation to a statement's format.
func (p Policy) admitFormat(format string) error {
	if p.Attestation == nil || slices.Contains(p.Attestation, format) {
		return nil
	}
	return refuse(StepPolicy, "the policy of this server accepts attestation in the formats %s, but the authenticator sent %.32q", strings.Join(p.Attestation, ", "), format)
}
