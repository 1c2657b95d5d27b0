package passkey

import (
	"crypto/x509"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
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

// The values of Policy.SyncedPasskeys and Policy.CounterRegression.
const (
	Allow  = "allow"
	Refuse = "refuse"
)

// COSE algorithm identifiers that are offered unless the policy says otherwise
// (IANA COSE Algorithms).
const (
	ES256 int64 = -7
	EdDSA int64 = -8
	RS256 int64 = -257
)

// Policy is what the operator demands of passkeys. It is enforced on the
// server when a ceremony is finished, not only asked of the browser, which may
// ignore it.
type Policy struct {
	// Algorithms are the COSE algorithms offered and accepted at registration,
	// the favourite first; nil means ES256, EdDSA, RS256.
	Algorithms []int64
	// UserVerification is the least that is asked in any ceremony: required,
	// preferred (the default) or discouraged.
	UserVerification string
	// Attachment allows only platform or only cross-platform authenticators to
	// register; "" allows both. The browser tells which one it used, unsigned,
	// and some do not: then the passkey is accepted.
	Attachment string
	// Attestation lists the accepted attestation statement formats ("none",
	// "packed", …); nil accepts every format that verifies.
	Attestation []string
	// TrustAnchors are the root certificates of the makers of authenticators. A
	// passkey whose attestation chains to one of them is Attested; without any
	// none is.
	TrustAnchors []*x509.Certificate
	// SyncedPasskeys is allow (the default), or refuse: passkeys that can leave
	// their device (BE set) neither register nor authenticate.
	SyncedPasskeys string
	// CounterRegression is refuse (the default), or allow: an authenticator
	// whose signature counter did not grow, as a cloned one's would not, is
	// let in and reported in Verified.
	CounterRegression string
}

// complete fills in defaults and reports every value that does not exist.
func (p Policy) complete() (Policy, []schemas.Problem) {
	var problems []schemas.Problem
	check := func(name, value string, accepted ...string) {
		if !slices.Contains(accepted, value) {
			problems = append(problems, schemas.Problem{Path: "passkey." + name, Message: oneOf(value, accepted)})
		}
	}
	if p.Algorithms == nil {
		p.Algorithms = []int64{ES256, EdDSA, RS256}
	}
	p.UserVerification = valueOr(p.UserVerification, Preferred)
	p.SyncedPasskeys = valueOr(p.SyncedPasskeys, Allow)
	p.CounterRegression = valueOr(p.CounterRegression, Refuse)
	check("user_verification", p.UserVerification, Required, Preferred, Discouraged)
	check("attachment", p.Attachment, "", Platform, CrossPlatform)
	check("synced_passkeys", p.SyncedPasskeys, Allow, Refuse)
	check("counter_regression", p.CounterRegression, Refuse, Allow)
	for i, format := range p.Attestation {
		check(fmt.Sprintf("attestation_formats[%d]", i), format, attestationFormats()...)
	}
	return p, append(problems, algorithmProblems(p.Algorithms)...)
}

func algorithmProblems(algorithms []int64) (problems []schemas.Problem) {
	if len(algorithms) == 0 {
		problems = append(problems, schemas.Problem{Path: "passkey.algorithms", Message: "expected at least one COSE algorithm, such as -7 (ES256)"})
	}
	for i, alg := range algorithms {
		if keyKinds[alg] == "" {
			problems = append(problems, schemas.Problem{
				Path:    fmt.Sprintf("passkey.algorithms[%d]", i),
				Message: fmt.Sprintf("COSE algorithm %d cannot be verified here; use -7 (ES256), -8 (EdDSA) or -257 (RS256)", alg),
			})
		}
	}
	return problems
}

// userVerification settles what a ceremony asks for: at least the policy's.
func (p Policy) userVerification(asked string) (string, error) {
	order := []string{Discouraged, Preferred, Required}
	asked = valueOr(asked, Preferred)
	if !slices.Contains(order, asked) {
		return "", badRequest("userVerification: %s", oneOf(asked, order))
	}
	if slices.Index(order, p.UserVerification) > slices.Index(order, asked) {
		return p.UserVerification, nil
	}
	return asked, nil
}

// attachment settles which authenticators a registration asks for.
func (p Policy) attachment(asked string) (string, error) {
	if asked != "" && asked != Platform && asked != CrossPlatform {
		return "", badRequest("authenticatorAttachment: %s", oneOf(asked, []string{Platform, CrossPlatform}))
	}
	if p.Attachment != "" && asked != "" && asked != p.Attachment {
		return "", badRequest("authenticatorAttachment: the policy of this server admits %s authenticators only, %s was asked for", p.Attachment, asked)
	}
	return valueOr(p.Attachment, asked), nil
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
	return refuse(StepPolicy, "the policy of this server accepts attestation in the formats %s, the authenticator sent %.32q", strings.Join(p.Attestation, ", "), format)
}

func valueOr(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// oneOf says which values were expected.
func oneOf(value string, accepted []string) string {
	named := slices.DeleteFunc(slices.Clone(accepted), func(s string) bool { return s == "" })
	return fmt.Sprintf("expected one of %s, got %.64q", strings.Join(named, ", "), value)
}
