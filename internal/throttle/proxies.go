package throttle

import (
	"net"
	"net/netip"
	"strings"
)

// The fields in which proxies tell whom they speak for.
const (
	XForwardedFor = "X-Forwarded-For"
	Forwarded     = "Forwarded" // RFC 7239
)

// Proxies are the reverse proxies that are believed, and how they tell whom they
// speak for. The zero Proxies believe nobody: the client is whoever connected.
//
// There is one field and not both: a proxy that writes the one hands on the other
// as the client sent it.
type Proxies struct {
	Trusted []netip.Prefix // none of them an IPv4 network written as an IPv6 one
	Field   string         // XForwardedFor or Forwarded
}

// Client returns the address that a request came from. Remote is the other end
// of the connection, as http.Request.RemoteAddr has it; lines are the values of
// p.Field in the order in which they came.
//
// The field is believed from the right, where the nearest proxy writes, as far
// as trusted proxies wrote it: the first address that is none of theirs is the
// client. What is left of it may be anything, as the client may have sent it.
// Where a trusted proxy wrote what is no address, it is itself the client: then
// many clients are one, and nobody has a name of his choice.
func (p Proxies) Client(remote string, lines []string) netip.Addr {
	client := hostOf(remote)
	before := hops{field: p.Field, lines: lines}
	for p.trusts(client) {
		element, more := before.next()
		if !more {
			break
		}
		addr := nodeOf(p.Field, element)
		if !addr.IsValid() {
			break
		}
		client = addr
	}
	return client
}

func (p Proxies) trusts(addr netip.Addr) bool {
	for _, prefix := range p.Trusted {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// hostOf reads an address, with a port or without: 192.0.2.1, 192.0.2.1:80,
// 2001:db8::1, [2001:db8::1], [2001:db8::1]:80.
func hostOf(text string) netip.Addr {
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

// hops reads the elements of a field from the last to the first.
type hops struct {
	field string
	lines []string // not begun yet
	line  string   // what is left of the one that is being read
	begun bool
}

// next returns the element before the one it returned last, and false when there
// is none.
func (h *hops) next() (string, bool) {
	if !h.begun {
		last := len(h.lines) - 1
		if last < 0 {
			return "", false
		}
		h.line, h.lines = h.lines[last], h.lines[:last]
	}
	comma := strings.LastIndexByte(h.line, ',')
	if h.field == Forwarded {
		comma = lastComma(h.line)
	}
	element := h.line[comma+1:]
	h.begun = comma >= 0
	h.line = h.line[:max(0, comma)]
	return strings.Trim(element, " \t"), true
}

// lastComma returns where the last element of a Forwarded line begins: behind
// the last comma that has an even number of quotes after it. Quotes that were
// left open before it do not matter: a client that sends one would else hide what
// the proxy adds to the line.
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

// nodeOf returns the address that an element names, the zero Addr if it names
// none.
func nodeOf(field, element string) netip.Addr {
	if field != Forwarded {
		return hostOf(element)
	}
	if strings.IndexByte(element, '\\') >= 0 {
		return netip.Addr{} // an escaped quote would have been counted as one
	}
	node, found, quoted := "", false, false
	for pair := range strings.FieldsFuncSeq(element, func(c rune) bool {
		quoted = quoted != (c == '"')
		return c == ';' && !quoted // one in a quoted host is the client's
	}) {
		name, value, _ := strings.Cut(strings.Trim(pair, " \t"), "=")
		if !strings.EqualFold(name, "for") {
			continue
		}
		if found {
			return netip.Addr{} // RFC 7239 §4: once in an element
		}
		node, found = strings.TrimSuffix(strings.TrimPrefix(value, `"`), `"`), true
	}
	return hostOf(node)
}
