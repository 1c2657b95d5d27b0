package outbound

import "net/netip"

// block is a range of addresses and its description.
type block struct {
	prefix netip.Prefix
	is     string
}

// reserved4 are the IPv4 addresses outside the public internet: the IANA registry of
// special-purpose addresses (RFC 6890), and addresses of clouds.
func reserved4() []block {
	return []block{
		{prefix("0.0.0.0/8"), "an address of \"this network\" (RFC 791)"},
		{prefix("10.0.0.0/8"), "a private address (RFC 1918)"},
		{prefix("100.64.0.0/10"), "an address behind a carrier's NAT (RFC 6598)"},
		{prefix("127.0.0.0/8"), "a loopback address (RFC 1122)"},
		{prefix("169.254.0.0/16"), "a link-local address (RFC 3927)"},
		{prefix("172.16.0.0/12"), "a private address (RFC 1918)"},
		{prefix("192.0.0.0/24"), "an address of a protocol (RFC 6890)"},
		{prefix("192.0.2.0/24"), "an address for documentation (RFC 5737)"},
		{prefix("192.88.99.0/24"), "a 6to4 relay (RFC 7526)"},
		{prefix("192.168.0.0/16"), "a private address (RFC 1918)"},
		{prefix("198.18.0.0/15"), "an address for benchmarks (RFC 2544)"},
		{prefix("198.51.100.0/24"), "an address for documentation (RFC 5737)"},
		{prefix("203.0.113.0/24"), "an address for documentation (RFC 5737)"},
		{prefix("224.0.0.0/4"), "a multicast address (RFC 5771)"},
		{prefix("240.0.0.0/4"), "a reserved address (RFC 1112)"},
		// It looks public, but the host of a virtual machine answers it.
		{prefix("168.63.129.16/32"), "the address of a cloud's own services"},
	}
}

// reserved6 are the IPv6 addresses of global unicast (2000::/3) outside the public
// internet. All addresses outside of 2000::/3 are not public either.
func reserved6() []block {
	return []block{
		{prefix("2001::/23"), "an address of a protocol (RFC 2928)"}, // Teredo, ORCHID, benchmarks
		{prefix("2001:db8::/32"), "an address for documentation (RFC 3849)"},
		{prefix("2002::/16"), "a 6to4 address (RFC 7526)"}, // it contains any IPv4 address
		{prefix("3fff::/20"), "an address for documentation (RFC 9637)"},
	}
}

// describeNonPublic describes an address outside the public internet. It returns "" for a
// public address. IPv4 addresses must be unmapped.
func describeNonPublic(addr netip.Addr) string {
	if addr.Is4() {
		return within(reserved4(), addr)
	}
	if prefix("64:ff9b::/96").Contains(addr) { // NAT64 (RFC 6052): the embedded IPv4 address counts
		raw := addr.As16()
		return within(reserved4(), netip.AddrFrom4([4]byte(raw[12:])))
	}
	if !prefix("2000::/3").Contains(addr) {
		return "not a global unicast address (RFC 4291)"
	}
	if rule := within(reserved6(), addr); rule != "" {
		return rule
	}
	return describeEmbedded(addr)
}

// describeEmbedded checks the IPv4 address in an ISATAP interface identifier (RFC 5214 §6.1), which
// a router on the path may extract.
func describeEmbedded(addr netip.Addr) string {
	raw := addr.As16()
	const universal = 0x02
	if raw[8]&^universal != 0 || raw[9] != 0 || raw[10] != 0x5e || raw[11] != 0xfe {
		return ""
	}
	return within(reserved4(), netip.AddrFrom4([4]byte(raw[12:])))
}

// describeUnreachable describes an address that belongs to no host, whether listed as allowed or
// not.
func describeUnreachable(addr netip.Addr) string {
	switch {
	case addr.IsUnspecified():
		return "the unspecified address"
	case addr.IsMulticast(), addr == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return "a multicast address"
	}
	return ""
}

func within(blocks []block, addr netip.Addr) string {
	for _, b := range blocks {
		if b.prefix.Contains(addr) {
			return b.is
		}
	}
	return ""
}

func prefix(text string) netip.Prefix { return netip.MustParsePrefix(text) }
