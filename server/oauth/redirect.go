package oauth

import (
	"net/url"
	"slices"
	"strings"
)

// redirects reports whether the client may have people sent to a URI. It must be
// registered, letter by letter (RFC 9700 §4.1.3): whoever could have them sent
// anywhere else would get their codes. Only the port of a loopback address may be
// another, as programs listen where there is room (RFC 8252 §7.3).
func (c *client) redirects(uri string) bool {
	if slices.Contains(c.oauth.RedirectURIs, uri) {
		return true
	}
	bare, ok := portless(uri)
	return ok && slices.ContainsFunc(c.oauth.RedirectURIs, func(registered string) bool {
		own, ok := portless(registered)
		return ok && own == bare
	})
}

// portless is a URI with a loopback address, without the port; ok is false for any
// other.
func portless(uri string) (bare string, ok bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "http" || u.User != nil || strings.ContainsAny(uri, "\\#") {
		return "", false
	}
	rest, ok := strings.CutPrefix(uri, "http://"+u.Host)
	host := strings.TrimSuffix(u.Host, ":"+u.Port())
	return host + rest, ok && slices.Contains([]string{"localhost", "127.0.0.1", "[::1]"}, host)
}

// withQuery is a redirect URI with more in its query, behind what it has there.
func withQuery(uri string, more url.Values) string {
	separator := "?"
	if strings.Contains(uri, "?") {
		separator = "&"
	}
	return uri + separator + more.Encode()
}

// originOf is the origin of a redirect URI as browsers write it; "" if it has
// none.
func originOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	host := strings.ToLower(u.Host)
	host = strings.TrimSuffix(host, map[string]string{"https": ":443", "http": ":80"}[u.Scheme])
	return u.Scheme + "://" + host
}
