package schemas

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Spellings of URLs
//
// One resource has many URLs: https://API.example:443 and https://api.example/ are equivalent (RFC
// 3986 §6.2). Where a URL identifies a client, only its normal form is accepted, because two
// spellings would be two clients. Where it identifies a resource, spellings are compared without the
// differences that cannot matter.

// NormalURL returns the normal form of an http or https URL: RFC 3986 §6.2.2 (case, percent-encoding,
// dot segments) and §6.2.3 (default port, empty path), the canonical form of IP addresses, no dot
// after the host and no empty query. It returns an error for a URL with user information or a fragment, and for one
// that programs read differently.
func NormalURL(raw string) (string, error) {
	u, err := splitURL(raw)
	if err != nil {
		return "", err
	}
	if u.host, err = normalHost(strings.TrimSuffix(u.host, ".")); err != nil {
		return "", err
	}
	u.path, err = normalEncoding(u.path, "/")
	if err == nil {
		u.query, err = normalEncoding(u.query, "/?")
	}
	u.path = withoutDotSegments(u.path)
	if u.query == "?" {
		u.query = ""
	}
	return u.String(), err
}

// ComparableURL returns the form of a URL that is compared with others as the identifier of a
// resource: RFC 3986 §6.2.2.1 (case) and §6.2.3 (default port, empty path). Other texts, such as
// URNs, are returned unchanged.
func ComparableURL(raw string) string {
	u, err := splitURL(raw)
	if err != nil {
		return raw
	}
	u.path, u.query = upperEncoding(u.path), upperEncoding(u.query)
	return u.String()
}

// urlParts are the parts of an http or https URL. Scheme and host are in lower case, the port is
// "" for the default one, and the path starts with a slash. The query has its question mark.
type urlParts struct{ scheme, host, port, path, query string }

func (u urlParts) String() string {
	authority := u.host
	if u.port != "" {
		authority += ":" + u.port
	}
	return u.scheme + "://" + authority + u.path + u.query
}

// splitURL does what ComparableURL and NormalURL have in common. url.Parse would lose how the text
// is written.
func splitURL(raw string) (u urlParts, err error) {
	scheme, rest, found := strings.Cut(raw, "://")
	u.scheme = strings.ToLower(scheme)
	at := strings.IndexAny(rest, "/?#")
	if at < 0 {
		at = len(rest)
	}
	authority, after := rest[:at], rest[at:]
	u.path, u.query, _ = strings.Cut(after, "?")
	if len(u.path) < len(after) {
		u.query = "?" + u.query
	}
	if u.path == "" {
		u.path = "/"
	}
	u.host, u.port, err = splitAuthority(strings.ToLower(authority))
	switch {
	case !found || u.scheme != "https" && u.scheme != "http":
		return u, errors.New("expected an http or https URL")
	case strings.ContainsFunc(raw, func(c rune) bool { return c <= ' ' || c > '~' || c == '\\' }):
		return u, errors.New("expected printable ASCII characters without spaces and backslashes")
	case strings.Contains(raw, "#"):
		return u, errors.New("expected a URL without a fragment")
	case err != nil:
		return u, err
	}
	if u.port == map[string]string{"https": "443", "http": "80"}[u.scheme] {
		u.port = ""
	}
	return u, nil
}

// splitAuthority returns the host and the port, without leading zeros.
func splitAuthority(authority string) (host, port string, err error) {
	host = authority
	if at := strings.LastIndexByte(authority, ':'); at > strings.LastIndexByte(authority, ']') {
		host, port = authority[:at], authority[at+1:]
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return "", "", errors.New("expected a port from 0 to 65535")
		}
		port = strconv.FormatUint(n, 10)
	}
	switch {
	case strings.Contains(authority, "@"):
		return "", "", errors.New("expected a URL without user information")
	case host == "":
		return "", "", errors.New("expected a URL with a host")
	}
	return host, port, nil
}

// normalHost returns the canonical form of a host in lower case. A host whose last label is a number
// is an IPv4 address for browsers, however it is written.
func normalHost(host string) (string, error) {
	if inner, bracketed := strings.CutPrefix(host, "["); bracketed {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		if err != nil || !addr.Is6() || addr.Zone() != "" || !strings.HasSuffix(inner, "]") {
			return "", errors.New("expected an IPv6 address in the brackets of the host")
		}
		return "[" + addr.String() + "]", nil
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", fmt.Errorf("expected a host of letters, digits, hyphens and dots, got %q; write other letters in their ASCII form (xn--)", host)
		}
	}
	last := labels[len(labels)-1]
	if _, err := strconv.ParseUint(last, 0, 64); err == nil || strings.Trim(last, "0123456789") == "" || last == "0x" {
		addr, err := netip.ParseAddr(host)
		if err != nil {
			return "", errors.New("expected an IPv4 address as four decimal numbers")
		}
		return addr.String(), nil
	}
	return host, nil
}

const (
	unreserved = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
	subDelims  = "!$&'()*+,;="
)

// normalEncoding percent-encodes what RFC 3986 does not allow in a path (pchar) or is not in more,
// decodes unreserved characters, and writes hexadecimal digits in upper case.
func normalEncoding(text, more string) (string, error) {
	var to strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '%' {
			if i+2 >= len(text) {
				return "", errors.New("expected two hexadecimal digits after each %")
			}
			n, err := strconv.ParseUint(text[i+1:i+3], 16, 8)
			if err != nil {
				return "", errors.New("expected two hexadecimal digits after each %")
			}
			c = byte(n)
			if i += 2; strings.IndexByte(unreserved, c) < 0 {
				fmt.Fprintf(&to, "%%%02X", c)
				continue
			}
		}
		if strings.IndexByte(unreserved+subDelims+":@"+more, c) < 0 {
			fmt.Fprintf(&to, "%%%02X", c)
		} else {
			to.WriteByte(c)
		}
	}
	return to.String(), nil
}

// upperEncoding writes the hexadecimal digits of percent-encoded characters in upper case.
func upperEncoding(text string) string {
	b := []byte(text)
	for i := range b {
		if i >= 1 && b[i-1] == '%' || i >= 2 && b[i-2] == '%' {
			if 'a' <= b[i] && b[i] <= 'f' {
				b[i] -= 'a' - 'A'
			}
		}
	}
	return string(b)
}

// withoutDotSegments removes the segments . and .. of a path: RFC 3986 §5.2.4.
func withoutDotSegments(path string) string {
	segments := strings.Split(path, "/")[1:]
	kept := []string{}
	for i, segment := range segments {
		last := i == len(segments)-1
		switch segment {
		case ".", "..":
			if segment == ".." && len(kept) > 0 {
				kept = kept[:len(kept)-1]
			}
			if last {
				kept = append(kept, "")
			}
		default:
			kept = append(kept, segment)
		}
	}
	return "/" + strings.Join(kept, "/")
}
