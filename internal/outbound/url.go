package outbound

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// check checks the text of a URL. Spellings that some resolvers accept as an address, such
// as 0x7f.1 or 2130706433, are rejected.
func (c *Client) check(u *url.URL) error {
	host := lower(u.Hostname())
	switch {
	case u.Scheme != "https" && u.Scheme != "http" || u.Opaque != "":
		return refusedf("expected an https URL")
	case u.User != nil:
		return refusedf("the URL contains a user or a password: remove them")
	case !isPlainHost(host):
		return refusedf("expected the host of the URL to be an ASCII name such as client.example.com, or an IP address in its usual spelling")
	case u.Scheme == "http" && !c.allowsPlainHTTP(host):
		return refusedf("expected an https URL; plain http is allowed only for this machine, if outbound.allow lists it")
	}
	return c.checkPort(u, host)
}

// allowsPlainHTTP reports whether plain http is allowed for a host: its spelling is this
// machine's, and it is listed.
func (c *Client) allowsPlainHTTP(host string) bool {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return host == "localhost" && c.hosts[host]
	}
	return addr.Unmap().IsLoopback() && c.mayBePrivate(addr.Unmap())
}

func (c *Client) checkPort(u *url.URL, host string) error {
	text := u.Port()
	if text == "" && !strings.HasSuffix(u.Host, ":") {
		return nil // the default of the scheme
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return refusedf("expected a port from 1 to 65535 in the URL")
	}
	if addr, err := netip.ParseAddr(host); c.hosts[host] || err == nil && c.mayBePrivate(addr.Unmap()) {
		return nil
	}
	const privileged = 1024 // below are the ports of mail, terminals and files
	if port == 443 || port >= privileged {
		return nil
	}
	return refusedf("the port %d is not allowed: expected 443, one above 1023, or a host that outbound.allow lists", port)
}

// mayBePrivate reports whether an address may be private.
func (c *Client) mayBePrivate(addr netip.Addr) bool {
	return slices.ContainsFunc(c.rules.Networks, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// isPlainHost reports whether a host is a name of letters, digits, - and _, or an address as
// netip formats it. The last label of a name must not be a number (URL Standard §3.5),
// because some resolvers accept such names as addresses.
func isPlainHost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Zone() == ""
	}
	const longest = 253
	if host == "" || len(host) > longest {
		return false
	}
	last := ""
	for last = range strings.SplitSeq(host, ".") {
		if last == "" || strings.Trim(last, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	hex, isHex := strings.CutPrefix(last, "0x")
	return strings.Trim(last, "0123456789") != "" && !(isHex && strings.Trim(hex, "0123456789abcdef") == "")
}

// dial connects to host:port. It checks each address after the name was resolved and before
// anything is sent.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Resolver: c.resolver, Control: func(_, resolved string, _ syscall.RawConn) error {
		return c.checkDial(lower(host), resolved)
	}}
	return d.DialContext(ctx, network, address)
}

// checkDial checks the address that a socket is about to connect to.
func (c *Client) checkDial(host, resolved string) error {
	to, err := netip.ParseAddrPort(resolved)
	if err != nil {
		return err
	}
	addr := to.Addr().Unmap().WithZone("")
	if rule := describeUnreachable(addr); rule != "" {
		return refuseAddress(host, rule, "which accepts no requests")
	}
	if host == "localhost" && !addr.IsLoopback() { // RFC 6761 §6.3
		return refusedf("the host localhost is another machine")
	}
	if c.hosts[host] || c.mayBePrivate(addr) {
		return nil
	}
	if rule := describeNonPublic(addr); rule != "" {
		return refuseAddress(host, rule, "which is not on the public internet: use another, or ask the administrator to add it to outbound.allow")
	}
	return nil
}

// unspecifiedHost is the error both for names that do not resolve and for those that
// resolve to a forbidden address. Different errors would let an attacker find out which
// names exist inside and where they lead.
const unspecifiedHost = "the name of the host does not resolve to an address on the public internet; the administrator has to add other addresses to outbound.allow"

// refuseAddress rejects an address by a rule. If the address came from a name, only the log
// contains the rule.
func refuseAddress(host, rule, fix string) error {
	if _, err := netip.ParseAddr(host); err == nil || host == "localhost" {
		return refusedf("the host of the URL is %s, %s", rule, fix)
	}
	reported := refusedf("%s", unspecifiedHost)
	reported.Err = fmt.Errorf("its address is %s", rule)
	return reported
}

func lower(text string) string { return strings.ToLower(text) }
