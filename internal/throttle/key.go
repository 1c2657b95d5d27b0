package throttle

import (
	"crypto/sha256"
	"net/netip"

	"github.com/postern-id/postern/schemas"
)

// Key is what a bucket belongs to. The zero Key belongs to nothing, and nothing
// is counted for it.
type Key [16]byte

// KeyOf is the key of a text, such as the id of a run; that of "" is zero. It is
// a part of its SHA-256, so whoever chooses texts cannot make two that share a
// bucket.
func KeyOf(text string) Key {
	if text == "" {
		return Key{}
	}
	sum := sha256.Sum256([]byte(text))
	return Key(sum[:])
}

// AccountOf is the key of the account that somebody typed the name of, zero for
// what can be nobody's name. It is made of the name and not of the user's id:
// an account that is not there is counted like one that is, so that the limits
// do not tell which names exist, nor which two are one person's.
func AccountOf(typed string) Key { return KeyOf(schemas.IdentifierKey(typed)) }

// with is the key of two things together. Hashing them keeps anybody from
// choosing accounts so that their pairs with some networks fall together.
func (k Key) with(other Key) Key {
	var both [2 * len(k)]byte
	copy(both[:], k[:])
	copy(both[len(k):], other[:])
	sum := sha256.Sum256(both[:])
	return Key(sum[:])
}

// Network is where a request came from: the network that one subscriber has, and
// the wider one around it, which somebody may hold who rents many.
type Network struct {
	Near Key // IPv4: the address; IPv6: its /64
	Wide Key // IPv4: the /24; IPv6: the /48
}

// The lengths of the prefixes. A /64 is the least that an IPv6 subscriber gets
// and has 2^64 addresses to come from, so that a budget for a single one of them
// would be none; a /48 is what a site gets.
const (
	near4, wide4 = 32, 24
	near6, wide6 = 64, 48
)

// NetworkOf returns the network of an address. An IPv4 address that is written
// as an IPv6 one is the same, and a zone does not count. All requests without a
// valid address, as they come over a Unix socket, are of one network.
func NetworkOf(addr netip.Addr) Network {
	addr = addr.Unmap().WithZone("")
	switch {
	case addr.Is4():
		return Network{Near: prefixKey(addr, near4), Wide: prefixKey(addr, wide4)}
	case addr.Is6():
		return Network{Near: prefixKey(addr, near6), Wide: prefixKey(addr, wide6)}
	}
	return Network{Near: Key{15: 1}, Wide: Key{15: 1}}
}

// prefixKey is the key of the prefix of an address. The length goes into the last
// byte of an IPv6 prefix, which is free there, so that no prefix is the zero
// Key: ::/64 is a network as well.
func prefixKey(addr netip.Addr, bits int) Key {
	prefix, _ := addr.Prefix(bits) // fails for lengths that addresses do not have
	k := Key(prefix.Addr().As16())
	if addr.Is6() {
		k[15] = byte(bits)
	}
	return k
}
