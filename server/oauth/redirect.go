package oauth

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// redirects reports whether a URI is registered for the client. It is compared exactly (RFC 9700
// §4.1.3): an attacker who controls another URI would get codes. Only the port of a loopback
// address can differ, because native apps choose a free port (RFC 8252 §7.3).
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

// nearMiss describes how a URI differs from a registered one, for the error; "" if none is similar. It
// does not repeat the URI: a link could otherwise show any text on a page of this server.
func (c *client) nearMiss(uri string) string {
	for _, similar := range []struct {
		difference string
		normalize  func(string) string
	}{
		{"the slash at the end", func(uri string) string { return strings.TrimSuffix(uri, "/") }},
		{"http and https", func(uri string) string { return strings.Replace(uri, "http://", "https://", 1) }},
		{"localhost and 127.0.0.1", func(uri string) string { return strings.Replace(uri, "://127.0.0.1", "://localhost", 1) }},
		{"upper and lower case", strings.ToLower},
	} {
		for _, registered := range c.oauth.RedirectURIs {
			if similar.normalize(uri) == similar.normalize(registered) {
				return "; one of them differs only in " + similar.difference
			}
		}
	}
	return ""
}

// withoutPort returns a URI with a loopback address without its port; ok is false for any other.
func withoutPort(uri string) (bare string, ok bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "http" || u.User != nil || strings.ContainsAny(uri, "\\#") {
		return "", false
	}
	rest, ok := strings.CutPrefix(uri, "http://"+u.Host)
	host := strings.TrimSuffix(u.Host, ":"+u.Port())
	return host + rest, ok && slices.Contains([]string{"localhost", "127.0.0.1", "[::1]"}, host)
}

// withQuery appends parameters to the query of a redirect URI.
func withQuery(uri string, more url.Values) string {
	separator := "?"
	if strings.Contains(uri, "?") {
		separator = "&"
	}
	return uri + separator + more.Encode()
}

// StartURL returns where a user can start a sign-in at an application again; "" if that is not known, or if
// the application registered itself, because its addresses are its own claims. Without an address for it
// (OpenID Connect Core §4) that is the application's URL, or the origin of its first redirect URI.
func (p *Provider) StartURL(ctx context.Context, app *schemas.Application) (string, error) {
	if !app.IsTrusted() {
		return "", nil
	}
	c, err := p.Clients.Client(ctx, app.ClientID)
	switch {
	case schemas.HasClass(err, schemas.NotFound) || err == nil && c.OAuth() == nil:
		return app.URL, nil
	case err != nil:
		return "", err
	case c.OAuth().InitiateLoginURI != "":
		return withQuery(c.OAuth().InitiateLoginURI, url.Values{"iss": {p.Issuer}}), nil
	case app.URL != "":
		return app.URL, nil
	}
	for _, uri := range c.OAuth().RedirectURIs {
		if origin := originOf(uri); origin != "" {
			return origin + "/", nil
		}
	}
	return "", nil
}

// originOf returns the origin of a redirect URI as browsers write it; "" if it has none.
func originOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	host := strings.ToLower(u.Host)
	host = strings.TrimSuffix(host, map[string]string{"https": ":443", "http": ":80"}[u.Scheme])
	return u.Scheme + "://" + host
}

// servesUsers reports whether users who saw no page can be redirected to a client's URI.
// Administrators answer for the URIs of trusted clients. An untrusted client would be an open
// redirector with the name of this server (RFC 9700 §4.11.2), so only users who have consented to
// the client are redirected. A program on the user's device cannot be mistaken for a web page.
func (p *Provider) servesUsers(r *http.Request, c *client, to string) (bool, error) {
	if _, isLoopback := withoutPort(to); c.IsTrusted() || originOf(to) == "" || isLoopback {
		return true, nil
	}
	expiry, err := p.Clients.ClientExpiry(r.Context(), c.ClientID)
	if err != nil || expiry == nil { // registered with a token
		return err == nil, err
	}
	session, err := p.session(r)
	if err != nil || session == nil {
		return false, err
	}
	consent, err := p.Store.Consent(r.Context(), session.UserID, c.ID)
	return consent != nil, err
}
