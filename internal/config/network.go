package config

import (
	"encoding/json"
	"fmt"
	"net/netip"
)

// Network is a range of addresses, written in CIDR notation or as the one
// address in it. An IPv4 network written as an IPv6 one (::ffff:10.0.0.0/104) is
// the IPv4 network.
type Network netip.Prefix

// ParseNetwork reads a network.
func ParseNetwork(text string) (Network, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		addr, err := netip.ParseAddr(text)
		if err != nil || addr.Zone() != "" {
			return Network{}, fmt.Errorf("expected an address or a network such as 10.0.0.0/8 or 2001:db8::/32, got %.100q", text)
		}
		prefix = netip.PrefixFrom(addr, addr.BitLen())
	}
	const mapped = 96 // the bits before the IPv4 address
	if addr := prefix.Addr(); addr.Is4In6() {
		if prefix.Bits() < mapped {
			return Network{}, fmt.Errorf("expected a network such as 10.0.0.0/8, got %.100q, which is wider than all IPv4 addresses", text)
		}
		prefix = netip.PrefixFrom(addr.Unmap(), prefix.Bits()-mapped)
	}
	return Network(prefix.Masked()), nil
}

// String writes the network in CIDR notation.
func (n Network) String() string { return netip.Prefix(n).String() }

// MarshalJSON writes the text.
func (n Network) MarshalJSON() ([]byte, error) { return json.Marshal(n.String()) }

// UnmarshalJSON reads the text.
func (n *Network) UnmarshalJSON(data []byte) (err error) {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("expected a network such as 10.0.0.0/8, got %.40s", data)
	}
	*n, err = ParseNetwork(text)
	return err
}
