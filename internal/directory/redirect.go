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

// checkRedirects checks where people may be sent back to.
func checkRedirects(w *writeContext, appType string, o *schemas.OAuthProfile) {
	// Any app on a device can take a scheme for itself, so only clients that rest
	// on no secret may have one. A page in a browser has no use for it.
	private := *o.PublicClient && appType != schemas.SinglePageApp
	app := redirectRules{private: private, schemes: w.schemes, administrator: w.registration == ""}
	for _, list := range []struct {
		member string
		uris   []string
	}{{"redirectUris", o.RedirectURIs}, {"postLogoutRedirectUris", o.PostLogoutRedirectURIs}} {
		for i, uri := range list.uris {
			if wrong := app.fault(uri); wrong != "" {
				w.addInvalid(inConfig(fmt.Sprintf("%s[%d]", list.member, i)), "%s", wrong)
			}
		}
	}
	if uri := o.BackchannelLogoutURI; uri != "" {
		if wrong := (redirectRules{}).fault(uri); wrong != "" {
			w.addInvalid(inConfig("backchannelLogoutUri"), "%s", wrong)
		}
	}
}

// redirectRules are which schemes redirect URIs of a client may have.
type redirectRules struct {
	private bool     // a private-use scheme will do: RFC 8252 §7.1
	schemes []string // those that need no dot
	// administrator allows every private-use scheme: an administrator registers the
	// client and can tell whose scheme it is. Self-registered clients cannot take one that
	// another app has (RFC 8252 §8.6).
	administrator bool
}

// fault says what is wrong with a redirect URI; "" for one that may be registered.
// They are compared letter by letter (RFC 9700 §4.1.3), so there are no patterns;
// and codes must not travel in the clear, except to a loopback address (RFC 8252
// §7.3).
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
		return "expected no *: redirect URIs are compared letter by letter, and there are no patterns; list each"
	}
	switch strings.ToLower(u.Scheme) {
	case "https":
		return hostFault(u)
	case "http":
		if wrong := hostFault(u); wrong != "" || loopback(u.Hostname()) {
			return wrong
		}
		return "expected https://: plain http is for the loopback addresses only (localhost, 127.0.0.1, [::1])"
	}
	return rules.schemeFault(u.Scheme)
}

// schemeFault says what is wrong with a scheme that is not the web's.
func (rules redirectRules) schemeFault(scheme string) string {
	named := slices.Contains(rules.schemes, scheme) || rules.administrator && schemas.PrivateUseScheme(scheme)
	switch {
	case !strings.Contains(scheme, ".") && !named:
		wrong := fmt.Sprintf("expected https://, or http:// with a loopback address, got the scheme %.64q; an app on a device may have one "+
			"of its own if it is a domain name backwards, such as com.example.app:/callback", scheme)
		if schemas.PrivateUseScheme(scheme) {
			wrong += ", or if oauth.dcr.private_use_schemes in the configuration of the server names it; an administrator may register any"
		}
		return wrong
	case !rules.private:
		return fmt.Sprintf("expected https://, or http:// with a loopback address: a scheme of its own such as %.64q is for public clients "+
			"on devices only (type %s)", scheme, schemas.MobileApp)
	}
	return ""
}

// hostName is what a name in the DNS looks like.
var hostName = regexp.MustCompile(`^(?i)([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// hostFault says what is wrong with the host and the port; "" if nothing is.
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

// loopback reports whether a host is this machine to everybody.
func loopback(host string) bool {
	return slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, strings.ToLower(host))
}

// checkOrigins checks the origins of pages that may use passkeys. Browsers send
// them in one spelling, and they are compared letter by letter.
//
// Browsers let the pages of every host below that of the server ask for its passkeys.
// A page that may answer with them here could pass on the questions of a sign-in that
// it has begun in a browser of its own, and be signed in as whoever comes by,
// administrators among them. So only who may do everything adds an origin.
func checkOrigins(w *writeContext, was, origins []string) {
	for i, origin := range origins {
		if !slices.Contains(was, origin) && !w.call.Permits(systemPermission) {
			w.addForbidden(fmt.Sprintf("passkeyAllowedOrigins[%d]", i), "a page of this origin could have people sign in for it who may do everything, so only somebody with the permission %q can add it", systemPermission)
		}
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" {
			continue // the schema has said so
		}
		path := fmt.Sprintf("passkeyAllowedOrigins[%d]", i)
		sent := strings.ToLower(u.Scheme + "://" + u.Host)
		sent = strings.TrimSuffix(sent, map[string]string{"https": ":443", "http": ":80"}[strings.ToLower(u.Scheme)])
		switch wrong := hostFault(u); {
		case wrong != "":
			w.addInvalid(path, "%s", wrong)
		case sent != origin:
			w.addInvalid(path, "expected the origin as browsers send it, %.200q", sent)
		case u.Scheme == "http" && !loopback(u.Hostname()):
			w.addInvalid(path, "expected https://: browsers have passkeys on plain http for localhost only")
		}
	}
}
