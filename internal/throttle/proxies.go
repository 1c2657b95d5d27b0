package throttle

import (
	"iter"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// The header fields in which proxies report the client's address.
const (
	XForwardedFor = "X-Forwarded-For"
	Forwarded     = "Forwarded" // RFC 7239
)

// Proxies are the trusted reverse proxies and the header field they set. The zero Proxies
// trust none: the client is the peer of the connection.
//
// Only one field is read: a proxy that sets one passes on the other as the client sent it.
type Proxies struct {
	Trusted []netip.Prefix // without IPv4-mapped IPv6 networks
	Field   string         // XForwardedFor or Forwarded
}

// Client returns the address that a request came from. Remote is the peer of the
// connection, as in http.Request.RemoteAddr; lines are the values of p.Field in the order
// in which they were received.
//
// The field is read from the right, where the nearest proxy writes, as far as trusted
// proxies wrote it: the first untrusted address is the client. Elements to its left may be
// forged by the client. A trusted proxy that wrote something other than an address is
// itself the client: then several clients share one address, but none can choose its
// address.
func (p Proxies) Client(remote string, lines []string) netip.Addr {
	client := parseHost(remote)
	for element := range elementsFromRight(p.Field, lines) {
		addr := nodeAddress(p.Field, element)
		if !p.trusts(client) || !addr.IsValid() {
			break
		}
		client = addr
	}
	return client
}

// IsProxy reports whether the peer of a connection, as in http.Request.RemoteAddr, is a trusted proxy.
func (p Proxies) IsProxy(remote string) bool {
	return len(p.Trusted) > 0 && p.trusts(parseHost(remote))
}

func (p Proxies) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(p.Trusted, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// parseHost parses an address with or without a port: 192.0.2.1, 192.0.2.1:80, 2001:db8::1,
// [2001:db8::1], [2001:db8::1]:80.
func parseHost(text string) netip.Addr {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	} else if len(text) > 1 && text[0] == '[' && text[len(text)-1] == ']' {
		text = text[1 : len(text)-1]
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap().WithZone("")
}

// elementsFromRight yields the elements of a field from the last to the first.
func elementsFromRight(field string, lines []string) iter.Seq[string] {
	last := func(line string) int { return strings.LastIndexByte(line, ',') }
	if field == Forwarded {
		last = lastComma
	}
	return func(yield func(string) bool) {
		for _, line := range slices.Backward(lines) {
			for comma := len(line); comma >= 0; {
				line = line[:comma]
				comma = last(line)
				if !yield(strings.Trim(line[comma+1:], " \t")) {
					return
				}
			}
		}
	}
}

// lastComma returns where the last element of a Forwarded line begins: after the last comma
// with an even number of quotes to its right. Unclosed quotes to its left do not count: a
// client could send one to hide what the proxy appends.
func lastComma(line string) int {
	quoted := false
	for i := len(line) - 1; i >= 0; i-- {
		switch {
		case line[i] == '"':
			quoted = !quoted
		case line[i] == ',' && !quoted:
			return i
		}
	}
	return -1
}

// nodeAddress returns the address in an element; the zero Addr if it has none.
func nodeAddress(field, element string) netip.Addr {
	if field != Forwarded {
		return parseHost(element)
	}
	if strings.IndexByte(element, '\\') >= 0 {
		return netip.Addr{} // an escaped quote would have been counted as a quote
	}
	node, found, quoted := "", false, false
	for pair := range strings.FieldsFuncSeq(element, func(c rune) bool {
		quoted = quoted != (c == '"')
		return c == ';' && !quoted // a semicolon in a quoted host belongs to the client's text
	}) {
		name, value, _ := strings.Cut(strings.Trim(pair, " \t"), "=")
		if !strings.EqualFold(name, "for") {
			continue
		}
		if found {
			return netip.Addr{} // RFC 7239 §4: at most once per element
		}
		node, found = strings.TrimSuffix(strings.TrimPrefix(value, `"`), `"`), true
	}
	return parseHost(node)
}
