package oauth

import (
	"net/http"
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
	bare, ok := withoutPort(uri)
	return ok && slices.ContainsFunc(c.oauth.RedirectURIs, func(registered string) bool {
		own, ok := withoutPort(registered)
		return ok && own == bare
	})
}

// withoutPort is a URI with a loopback address, without the port; ok is false for any
// other.
func withoutPort(uri string) (bare string, ok bool) {
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

// servesUsers reports whether people may be sent to an address of the client's who
// were not asked anything on the way. Who answers for the client answers for where
// it sends them. One that anybody could register is an open redirector else, in the
// service of whoever would have people believe that they are still here (RFC 9700
// §4.11.2): it gets those alone who have agreed to something of it before. A program
// on the person's own device looks like nobody's page.
func (p *Provider) servesUsers(r *http.Request, c *client, to string) (bool, error) {
	if c.IsTrusted() || p.Registration == nil || originOf(to) == "" || isLoopback(to) {
		return true, nil
	}
	expiry, err := p.Registration.Clients.ClientExpiry(r.Context(), c.GetID())
	if err != nil || expiry == nil { // somebody with a token has registered it
		return err == nil, err
	}
	session, err := p.Session(r)
	if err != nil || session == nil {
		return false, err
	}
	consent, err := p.Authorization.Consents.Consent(r.Context(), session.UserID, c.ID)
	return consent != nil, err
}

func isLoopback(uri string) bool {
	_, ok := withoutPort(uri)
	return ok
}
