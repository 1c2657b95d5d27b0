package throttle

import (
	"crypto/sha256"
	"net/netip"

	"github.com/postern-id/postern/schemas"
)

// Key identifies a bucket. The zero Key identifies none and is not counted.
type Key [16]byte

// KeyOf returns the key of a text, such as the id of a run; the key of "" is zero. It is a
// part of the text's SHA-256, so an attacker cannot find two texts that share a bucket.
func KeyOf(text string) Key {
	if text == "" {
		return Key{}
	}
	sum := sha256.Sum256([]byte(text))
	return Key(sum[:])
}

// AccountOf returns the key of the account of a name as entered, zero for an invalid name.
// It depends on the name and not on the user's id: unknown accounts are counted like
// existing ones, so that the limits do not reveal which names exist, or which two belong to
// one user.
func AccountOf(typed string) Key { return KeyOf(schemas.IdentifierKey(typed)) }

// with returns the key of a pair. Hashing prevents an attacker from choosing accounts whose
// pairs with some networks collide.
func (k Key) with(other Key) Key {
	var both [2 * len(k)]byte
	copy(both[:], k[:])
	copy(both[len(k):], other[:])
	sum := sha256.Sum256(both[:])
	return Key(sum[:])
}

// Network is the origin of a request: the network of one subscriber, and the wider network
// around it, which may belong to one attacker who rents many addresses.
type Network struct {
	Near Key // IPv4: the address; IPv6: its /64
	Wide Key // IPv4: the /24; IPv6: the /48
}

// The prefix lengths. A /64 is the smallest IPv6 allocation and has 2^64 addresses, so a
// budget per address would be no limit; a /48 is a site.
const (
	near4, wide4 = 32, 24
	near6, wide6 = 64, 48
)

// NetworkOf returns the network of an address. An IPv4-mapped IPv6 address equals the IPv4
// address, and zones are ignored. All requests without a valid address, such as those over
// a Unix socket, belong to one network.
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

// prefixKey returns the key of an address prefix. The length is stored in the last byte of
// an IPv6 prefix, which is unused, so that no prefix is the zero Key: ::/64 is a network as
// well.
func prefixKey(addr netip.Addr, bits int) Key {
	prefix, _ := addr.Prefix(bits) // fails for impossible lengths only
	k := Key(prefix.Addr().As16())
	if addr.Is6() {
		k[15] = byte(bits)
	}
	return k
}
