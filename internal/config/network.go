package config

import (
	"fmt"
	"net/netip"
	"strings"
)

// withoutBrackets returns an IPv6 address that may be in brackets, as in a URL, without them; any other text as it is.
func withoutBrackets(host string) string {
	if inner := strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"); host == "["+inner+"]" && strings.Contains(inner, ":") {
		return inner
	}
	return host
}

// ParseNetwork reads a range of addresses in CIDR notation, or the only address in it. An IPv4
// network written as an IPv6 one (::ffff:10.0.0.0/104) is the IPv4 network.
func ParseNetwork(text string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		addr, err := netip.ParseAddr(withoutBrackets(text))
		if err != nil || addr.Zone() != "" {
			return netip.Prefix{}, fmt.Errorf("expected an address or a network such as 10.0.0.0/8 or 2001:db8::/32, got %.100q", text)
		}
		prefix = netip.PrefixFrom(addr, addr.BitLen())
	}
	const mapped = 96 // the bits before the IPv4 address
	if addr := prefix.Addr(); addr.Is4In6() {
		if prefix.Bits() < mapped {
			return netip.Prefix{}, fmt.Errorf("expected a network such as 10.0.0.0/8, got %.100q, which is wider than all IPv4 addresses", text)
		}
		prefix = netip.PrefixFrom(addr.Unmap(), prefix.Bits()-mapped)
	}
	return prefix.Masked(), nil
}
