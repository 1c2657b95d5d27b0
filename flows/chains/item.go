package chains

import (
	"slices"

	"github.com/postern-id/postern/engine"
)

// kind is the kind of an item.
type kind = engine.Item

// The kinds of items.
const (
	aMailbox  = engine.Mailbox
	aPassword = engine.Password
	aPasskey  = engine.Passkey
	anApp     = engine.AuthenticatorApp
	codes     = engine.RecoveryCodes
	noApp     = engine.NoApp
	hasApp    = engine.HasApp
	noCodes   = engine.NoCodes
	hasCodes  = engine.HasCodes
	noAddress = engine.NoAddress
	invited   = engine.Invited

	aSession kind = "session"
	manager  kind = "a client that manages users"
)

// exclusive lists the kinds that no account and attacker have together at the beginning: a user without a
// credential has no password that an attacker could know, and no factor. A run can make both true, one after
// the other.
func exclusive() [][2]kind {
	return [][2]kind{
		{noApp, hasApp}, {noCodes, hasCodes}, {noAddress, aMailbox},
		{invited, aPassword}, {invited, hasApp}, {invited, hasCodes},
	}
}

// isConsistent reports whether an account and an attacker can have all of the items at the beginning.
func isConsistent(has []kind) bool {
	return !slices.ContainsFunc(exclusive(), func(pair [2]kind) bool {
		return slices.Contains(has, pair[0]) && slices.Contains(has, pair[1])
	})
}

// item is something that an attacker can use in a run, or a condition on the victim's account
// under which an outcome is possible. Its worth is what a sign-in with it proves.
type item struct {
	kind  kind
	worth proof
}

// nominal returns what a credential proves at most. An attacker who adds a passkey uses an
// attested authenticator that verifies its user.
func nominal(k kind) proof {
	switch k {
	case aPassword:
		return proof{strength: password, knows: true}
	case aPasskey:
		return proof{strength: multiFactor, resistance: 2, holds: true}
	case anApp:
		return proof{strength: oneTimeCode, holds: true}
	case codes:
		return proof{strength: recovery, holds: true}
	default:
		return proof{strength: vouched} // a mailbox, or an identity at a provider
	}
}

// isCredential reports whether the item gives access to the account later.
func isCredential(k kind) bool { return k != aSession && k != manager && !k.IsCondition() }

// added lists the items that adding a credential to the account gives: the credential, and the
// condition that it makes true. A condition that was true before stays in the attacker's hands: the
// attacker can do first what depends on it.
func added(k kind, worth proof) []item {
	switch {
	case k == anApp:
		return []item{{k, worth}, {kind: hasApp}}
	case k == codes:
		return []item{{k, worth}, {kind: hasCodes}}
	case k.IsCondition():
		return []item{{kind: k}}
	}
	return []item{{k, worth}}
}
