package directory

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// checkRedirects checks the redirect URIs of a client.
func checkRedirects(w *writeContext, appType string, o *schemas.OAuthProfile) {
	// Any app on a device can claim a scheme, so only clients without a secret may use one.
	// A page in a browser has no use for it.
	private := *o.PublicClient && appType != schemas.SinglePageApp
	app := redirectRules{private: private, schemes: w.directory.PrivateUseSchemes, administrator: w.registration == ""}
	for _, list := range []struct {
		member string
		uris   []string
	}{{"redirectUris", o.RedirectURIs}, {"postLogoutRedirectUris", o.PostLogoutRedirectURIs}} {
		for i, uri := range list.uris {
			w.addFault(inConfig(fmt.Sprintf("%s[%d]", list.member, i)), app.fault(uri))
		}
	}
	if uri := o.BackchannelLogoutURI; uri != "" {
		w.addFault(inConfig("backchannelLogoutUri"), redirectRules{}.fault(uri))
	}
}

// redirectRules are the schemes that a client's redirect URIs may have.
type redirectRules struct {
	private bool     // allows private-use schemes (RFC 8252 §7.1)
	schemes []string // allowed without a dot
	// administrator allows every private-use scheme: an administrator can verify the owner
	// of a scheme. Self-registered clients cannot claim the scheme of another app (RFC 8252
	// §8.6).
	administrator bool
}

// fault returns what is wrong with a redirect URI; "" if it may be registered. Redirect URIs are
// compared exactly (RFC 9700 §4.1.3), so there are no patterns. Codes must not be sent in plain
// text, except to a loopback address (RFC 8252 §7.3).
func (rules redirectRules) fault(uri string) string {
	u, err := url.Parse(uri)
	switch {
	case strings.ContainsFunc(uri, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`"<>\^{|}`+"`", c) }):
		return "expected a URI of printable ASCII characters; write others with % and two digits, and the names of hosts in Punycode"
	case err != nil || !u.IsAbs():
		return "expected an absolute URI such as https://app.example.com/callback"
	case strings.Contains(uri, "#"):
		return "expected no fragment: what comes after # is never sent (RFC 6749 §3.1.2)"
	case u.User != nil:
		return "expected no name or password before the host"
	case strings.Contains(uri, "*"):
		return "expected no *: redirect URIs are compared exactly, without patterns; list each URI"
	}
	switch strings.ToLower(u.Scheme) {
	case "https":
		return hostFault(u)
	case "http":
		if wrong := hostFault(u); wrong != "" || browserLoopback(u.Hostname()) {
			return wrong
		}
		return "expected https://: plain http is for the loopback addresses only (localhost, names below it such as app.localhost, 127.0.0.1, [::1])"
	}
	return rules.schemeFault(u.Scheme)
}

// schemeFault returns what is wrong with a scheme other than http and https.
func (rules redirectRules) schemeFault(scheme string) string {
	named := slices.Contains(rules.schemes, scheme) || rules.administrator && schemas.PrivateUseScheme(scheme)
	switch {
	case !strings.Contains(scheme, ".") && !named:
		wrong := fmt.Sprintf("expected https://, or http:// with a loopback address, got the scheme %.64q; an app on a device may use a private scheme "+
			"that is a reversed domain name, such as com.example.app:/callback", scheme)
		if schemas.PrivateUseScheme(scheme) {
			wrong += ", or if oauth.dcr.private_use_schemes in the configuration of the server lists it; an administrator may register any scheme"
		}
		return wrong
	case !rules.private:
		return fmt.Sprintf("expected https://, or http:// with a loopback address: a scheme of its own such as %.64q is for public clients "+
			"on devices only (type %s)", scheme, schemas.MobileApp)
	}
	return ""
}

// hostName is the syntax of a DNS name.
var hostName = regexp.MustCompile(`^(?i)([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// hostFault returns what is wrong with the host and the port; "" if they are valid.
func hostFault(u *url.URL) string {
	if _, err := netip.ParseAddr(u.Hostname()); err != nil && !hostName.MatchString(u.Hostname()) {
		return "expected a host after ://, such as app.example.com"
	}
	if port := u.Port(); port != "" || strings.HasSuffix(u.Host, ":") {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Sprintf("expected a port from 1 to 65535, got %.64q", port)
		}
	}
	return ""
}

// loopback reports whether a host is this machine for every client.
func loopback(host string) bool {
	return slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, strings.ToLower(host))
}

// browserLoopback reports whether a host is this machine for every browser: also a name below
// localhost (Secure Contexts §3.1), which other programs may resolve with DNS.
func browserLoopback(host string) bool {
	return loopback(host) || strings.HasSuffix(strings.ToLower(host), ".localhost")
}

// checkOrigins checks the origins of pages that may use passkeys. Browsers send them in one
// spelling, and they are compared exactly.
//
// Browsers let the pages of every subdomain of the server's host request its passkeys. An
// allowed page could relay the challenge of a sign-in that it started in its own browser,
// and be signed in as any of its visitors, administrators included. So adding an origin
// requires the permission "system".
func checkOrigins(w *writeContext, was, origins []string) {
	for i, origin := range origins {
		if !slices.Contains(was, origin) && !w.call.Permits(systemPermission) {
			w.addForbidden(fmt.Sprintf("passkeyAllowedOrigins[%d]", i), "a page of this origin could relay sign-ins of administrators; only a user with the permission %q can add it", systemPermission)
		}
		if schemas.IsAndroidOrigin(origin) {
			w.addFault(fmt.Sprintf("passkeyAllowedOrigins[%d]", i), schemas.AndroidOriginFault(origin))
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" {
			continue // the schema reports it
		}
		path := fmt.Sprintf("passkeyAllowedOrigins[%d]", i)
		sent := strings.ToLower(u.Scheme + "://" + u.Host)
		sent = strings.TrimSuffix(sent, map[string]string{"https": ":443", "http": ":80"}[strings.ToLower(u.Scheme)])
		switch wrong := hostFault(u); {
		case wrong != "":
			w.addInvalid(path, "%s", wrong)
		case sent != origin:
			w.addInvalid(path, "expected the origin as browsers send it, %.200q", sent)
		case u.Scheme == "http" && !browserLoopback(u.Hostname()):
			w.addInvalid(path, "expected https://: browsers support passkeys over plain http for localhost only")
		}
	}
}
