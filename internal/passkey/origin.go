package passkey

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/go-webauthn/webauthn/protocol"

	"github.com/postern-id/postern/schemas"
)

// The lists of origins in the configuration, for errors.
const (
	configuredOrigins  = "passkey.allowed_origins"
	relatedOrigins     = "passkey.related_origins"
	applicationOrigins = "passkeyAllowedOrigins"
)

// origin is an allowed origin in the form in which a browser reports it.
type origin struct {
	text  string // https://login.example.com:8443
	host  string // login.example.com
	isApp bool   // of an Android app, which has no host
	// useless states why no passkey ceremony can come from this origin; "" if one can.
	useless string
}

// parseOrigins parses the origins of a list and reports each invalid one; path is the list's name.
func parseOrigins(texts []string, path string) (list []origin, problems []schemas.Problem) {
	for i, text := range texts {
		o, err := parseOrigin(text)
		if err != nil {
			problems = append(problems, schemas.Problem{Path: fmt.Sprintf("%s[%d]", path, i), Message: err.Error()})
			continue
		}
		list = append(list, o)
	}
	return list, problems
}

// parseOrigin parses scheme://host[:port] and returns its ASCII serialization (HTML
// §7.1.1): lower case, without the scheme's default port.
func parseOrigin(text string) (origin, error) {
	if schemas.IsAndroidOrigin(text) {
		if fault := schemas.AndroidOriginFault(text); fault != "" {
			return origin{}, fmt.Errorf("%s, got %.200q", fault, text)
		}
		return origin{text: text, isApp: true}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" {
		return origin{}, fmt.Errorf("expected an origin such as https://login.example.com, got %.200q", text)
	}
	if u.User != nil || u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(text, "#") {
		return origin{}, fmt.Errorf("an origin is scheme://host[:port] and nothing else: write %s://%s instead of %.200q", u.Scheme, u.Host, text)
	}
	host := strings.ToLower(u.Hostname())
	if strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
		return origin{}, fmt.Errorf("browsers report the host of %.200q in its ASCII form (xn--…): write it that way", text)
	}
	if strings.Contains(host, "*") {
		return origin{}, fmt.Errorf("origins are compared exactly, without wildcards: list every origin instead of %.200q", text)
	}
	o := origin{text: u.Scheme + "://" + strings.ToLower(u.Host), host: host}
	if port := u.Port(); port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		o.text = strings.TrimSuffix(o.text, ":"+port)
	}
	switch {
	case isIP(host):
		o.useless = "an IP address cannot be a relying party, use a host name such as localhost"
	case protocol.ValidateRPID(host) != nil:
		o.useless = protocol.ValidateRPID(host).Error()
	case u.Scheme == "http" && host != "localhost" && !strings.HasSuffix(host, ".localhost"):
		o.useless = "browsers offer passkeys over https only, except on localhost"
	}
	return o, nil
}

// isUnderDomain reports whether a page of host can use the relying party id: it is the host, or a
// parent domain that contains a dot. The label boundary excludes evil-example.com and
// example.com.evil.com for example.com; the dot excludes a bare top-level domain. Browsers reject
// finer public suffixes (co.uk), and here the origin is also compared with an exact list.
func isUnderDomain(host, rpID string) bool {
	if host == rpID {
		return true
	}
	return strings.Contains(rpID, ".") && strings.HasSuffix(host, "."+rpID) && !isIP(host)
}

// relyingParty is the relying party of a ceremony: its id, the allowed origins in its domain and of apps, and
// the allowed origins outside, for error messages.
type relyingParty struct {
	id      string
	origins []string
	apps    []string // the origins of Android apps: the system checks that the domain names the app
	outside []string
}

// relyingParty determines the relying party of a ceremony from the origins of the configuration and
// of the application.
func (c *Ceremonies) relyingParty(asked string, more []string) (p relyingParty, err error) {
	allowed, problems := parseOrigins(more, applicationOrigins)
	if len(problems) > 0 {
		return p, schemas.Errorf(schemas.Invalid, schemas.CodePasskeyConfig, "the application lists %d origin(s) in %s that are not origins", len(problems), applicationOrigins).WithProblems(problems)
	}
	allowed = append(c.origins[:len(c.origins):len(c.origins)], allowed...)
	p.id = c.RPID(asked)
	for _, o := range allowed {
		if o.isApp {
			p.apps = append(p.apps, o.text)
			continue
		}
		if o.useless == "" && isUnderDomain(o.host, p.id) {
			p.origins = append(p.origins, o.text)
		} else {
			p.outside = append(p.outside, o.text)
		}
	}
	if problems := rpIDProblems(p.id, "relyingPartyId"); len(problems) > 0 || len(p.origins) == 0 {
		return p, relyingPartyError(p.id, allowed).WithProblems(problems)
	}
	if p.id == c.config.RPID {
		p.addRelatedOrigins(c.related)
	}
	return p, nil
}

// RPID returns the relying party id of a ceremony that asks for one; "" asks for the default.
func (c *Ceremonies) RPID(asked string) string { return cmp.Or(asked, c.config.RPID) }

// addRelatedOrigins adds related origins, if the relying party is the one for which browsers can
// read them.
func (p *relyingParty) addRelatedOrigins(list []origin) {
	for _, o := range list {
		if o.useless == "" && !o.isApp && !slices.Contains(p.origins, o.text) {
			p.origins = append(p.origins, o.text)
			p.outside = slices.DeleteFunc(p.outside, func(text string) bool { return text == o.text })
		}
	}
}

// warnOfOrigin logs a ceremony that failed because of its origin: users may be on a phishing page,
// or an origin is missing in the configuration.
func (c *Ceremonies) warnOfOrigin(err error, data *protocol.CollectedClientData) {
	if step := FailedStep(err); step == StepOrigin || step == StepCrossOrigin {
		c.config.Log.Warn("a passkey ceremony came from an origin that is not allowed; it may be a phishing page, or missing in "+configuredOrigins,
			slog.String("origin", fmt.Sprintf("%.255s", data.Origin)), slog.String("topOrigin", fmt.Sprintf("%.255s", data.TopOrigin)))
	}
}

// relyingPartyError is the error of a relying party id without an allowed origin in its domain.
func relyingPartyError(rpID string, allowed []origin) *schemas.Error {
	list := make([]string, len(allowed))
	for i, o := range allowed {
		list[i] = o.text
		if o.useless != "" {
			list[i] += " (" + o.useless + ")"
		}
	}
	return schemas.Errorf(schemas.Invalid, schemas.CodePasskeyConfig,
		"the relying party id %.255q must equal, or be a registrable parent domain of, the host of an allowed origin; allowed are %s. Ask for another relyingPartyId, or add the origin to %s or to the application's %s",
		rpID, strings.Join(list, ", "), configuredOrigins, applicationOrigins)
}

// rpIDProblems returns why a text is not a relying party id: a valid domain string in ASCII and
// lower case (§5.1.3, WHATWG URL §3.4).
func rpIDProblems(rpID, path string) []schemas.Problem {
	if err := protocol.ValidateRPID(rpID); err != nil {
		return []schemas.Problem{{Path: path, Message: fmt.Sprintf("expected a domain such as example.com, got %.255q: %v", rpID, err)}}
	}
	if rpID != strings.ToLower(rpID) {
		return []schemas.Problem{{Path: path, Message: fmt.Sprintf("expected lower case: write %.255q", strings.ToLower(rpID))}}
	}
	return nil
}

// isIP reports whether a host is an IP address rather than a name.
func isIP(host string) bool { return net.ParseIP(host) != nil }

// Origins returns the configured origins whose pages can use the default relying party id,
// including the related ones. Browsers read them at /.well-known/webauthn before they let a page of
// another site use it: WebAuthn Level 3 §5.11.
//
// The origins of applications are not included. Otherwise a caller with only the permission to
// write applications could let any site request the passkeys of this one.
func (c *Ceremonies) Origins() []string {
	p, err := c.relyingParty("", nil)
	if err != nil {
		return []string{} // no origin can start a ceremony
	}
	return p.origins
}
