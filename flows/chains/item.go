package chains

import (
	"math/bits"
	"slices"
)

// kind is the kind of an item.
type kind string

// The kinds of items. The provider of an identity follows the prefix.
const (
	aMailbox    kind = "mailbox"
	aPassword   kind = "password"
	aPasskey    kind = "passkey"
	anApp       kind = "authenticator app"
	codes       kind = "recovery codes"
	anIdentity  kind = "identity at "
	aSession    kind = "session"
	manager     kind = "a client that manages users"
	noApp       kind = "the user has no authenticator app"
	hasApp      kind = "the user has an authenticator app"
	noCodes     kind = "the user has no recovery codes"
	hasCodes    kind = "the user has recovery codes"
	noAddress   kind = "the user has no verified address"
	invited     kind = "the user was invited and has no credential yet"
	maximumItem      = 256
)

// item is something that an attacker can use in a run, or a condition on the victim's account
// under which an outcome is possible. Its worth is what a sign-in with it proves.
type item struct {
	kind  kind
	worth proof
}

// nominal returns what a credential proves at most. An attacker who adds a passkey uses an
// attested authenticator that verifies its user.
func (k kind) nominal() proof {
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

// isCondition reports whether the item is a condition of the victim's account.
func (k kind) isCondition() bool {
	return slices.Contains([]kind{noApp, hasApp, noCodes, hasCodes, noAddress, invited}, k)
}

// itemSet is a set of indexes of items.
type itemSet [maximumItem / 64]uint64

func (s itemSet) with(i int) itemSet {
	s[i/64] |= 1 << (i % 64)
	return s
}

func (s itemSet) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (s itemSet) union(t itemSet) itemSet {
	for w := range s {
		s[w] |= t[w]
	}
	return s
}

// within reports whether s is a subset of t.
func (s itemSet) within(t itemSet) bool {
	for w := range s {
		if s[w]&^t[w] != 0 {
			return false
		}
	}
	return true
}

// indexes lists the items of the set in ascending order.
func (s itemSet) indexes() (list []int) {
	for w, word := range s {
		for ; word != 0; word &= word - 1 {
			list = append(list, w*64+bits.TrailingZeros64(word))
		}
	}
	return list
}
