package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// The reasons why pages of other machines must use https.
const (
	secureContext = "browsers offer passkeys only to pages in a secure context (Web Authentication Level 3 §5: [SecureContext])"
	exampleURL    = "an attacker on the network can change a page that is loaded over http, and would call the API from it"
)

// originFault describes the fault of an origin, "" if it is valid. Why is the reason against plain
// http.
func originFault(text, why string) string {
	if strings.Contains(text, "*") {
		return "origins are compared exactly, without wildcards: list every origin"
	}
	u, err := url.Parse(text)
	if err != nil || !webScheme(u.Scheme) || !validHost(u) {
		return fmt.Sprintf("expected an origin such as https://login.example.com, got %.200q", text)
	}
	if exact := canonical(&url.URL{Scheme: u.Scheme, Host: u.Host}); text != exact {
		return fmt.Sprintf("an origin is scheme://host[:port] as browsers write it, without a path: write %s", exact)
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return why + ": use https://" + u.Host + ", or http on localhost"
	}
	return ""
}

// urlFault describes the fault of server.public_url, "" if it is valid.
func urlFault(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || !webScheme(u.Scheme) || !validHost(u):
		return fmt.Sprintf("expected an absolute URL such as https://login.example.com, got %.200q", text)
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#"):
		return "expected a URL without user, query and fragment"
	case strings.HasSuffix(u.Path, "/"):
		return "expected no trailing slash: write " + strings.TrimRight(text, "/")
	case u.Path != "" && path.Clean(u.Path) != u.Path:
		return "expected a path without empty parts, . and .."
	}
	if exact := canonical(u); text != exact {
		return "issuers are compared exactly: write " + exact
	}
	return ""
}

func webScheme(scheme string) bool { return scheme == "https" || scheme == "http" }

// validHost reports whether the host is a name in ASCII or an IP address, and
// the port, if there is one, a port.
func validHost(u *url.URL) bool {
	if port := u.Port(); port != "" || strings.HasSuffix(u.Host, ":") {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return false
		}
	}
	host := strings.ToLower(u.Hostname())
	return domain(host) || net.ParseIP(host) != nil
}

// canonical writes a URL as a browser does: in lower case up to the path, an IPv6 address in its shortest
// form, and without the port that the scheme implies.
func canonical(u *url.URL) string {
	host := strings.ToLower(u.Host)
	number, _ := strconv.Atoi(u.Port()) // "" becomes 0
	host = strings.TrimSuffix(host, ":"+u.Port())
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil && addr.Is6() && !addr.Is4In6() && addr.Zone() == "" {
		host = "[" + addr.String() + "]"
	}
	if number != 0 && number != map[string]int{"https": 443, "http": 80}[u.Scheme] {
		host += ":" + strconv.Itoa(number)
	}
	return (&url.URL{Scheme: u.Scheme, Host: host, Path: u.Path}).String()
}

// parseURL returns the URL of a text, the zero URL if it is none.
func parseURL(text string) *url.URL {
	if u, err := url.Parse(text); err == nil {
		return u
	}
	return new(url.URL)
}

// originOf returns the origin of a URL.
func originOf(text string) string {
	u := parseURL(text)
	return canonical(&url.URL{Scheme: u.Scheme, Host: u.Host})
}

// hostOf returns the host of an origin, without a port.
func hostOf(origin string) string { return parseURL(origin).Hostname() }

// loopback reports whether a host is always this machine. Browsers treat such hosts as secure even
// over plain http.
func loopback(host string) bool {
	host = strings.ToLower(host)
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// domain reports whether text is a domain name in lower case and ASCII: labels
// of letters, digits and - (RFC 1123 §2.1), not an address of digits alone.
func domain(text string) bool {
	if text == "" || len(text) > 253 {
		return false
	}
	label := ""
	for label = range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		if strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	return strings.Trim(label, "0123456789") != ""
}
