package config

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// textRule reads the text of a key, or of an item of its list. It returns the value, or the fault
// of the text.
type textRule func(text string) (value any, fault string)

// textRules returns the rules by key or type, for texts that the schema has accepted.
func textRules() map[string]textRule {
	return map[string]textRule{
		"duration":                                      parsed(ParseDuration),
		"retention":                                     parsed(parseRetention),
		"period":                                        parsed(parsePeriod),
		"server.public_url":                             checked(urlFault),
		"server.listen":                                 checked(listenFault),
		"server.trusted_proxies":                        parsed(ParseNetwork),
		"passkey.relying_party_id":                      checked(relyingPartyFault),
		"passkey.allowed_origins":                       checked(passkeyClientFault),
		"passkey.related_origins":                       checked(passkeyOriginFault),
		"cors.allowed_origins":                          checked(func(text string) string { return originFault(text, exampleURL) }),
		"outbound.allow":                                checked(hostFault),
		"telemetry.metrics.listen":                      checked(listenFault),
		"telemetry.pprof.listen":                        checked(listenFault),
		"telemetry.traces.endpoint":                     checked(collectorFault),
		"telemetry.traces.authorization":                checked(authorizationFault),
		"oauth.dcr.private_use_schemes":                 checked(privateUseFault),
		"oauth.client_metadata_documents.allowed_hosts": parsed(parseDocumentHost),
	}
}

// parsed is the rule for texts that represent values of another type.
func parsed[T any](parse func(text string) (T, error)) textRule {
	return func(text string) (any, string) {
		value, err := parse(text)
		if err != nil {
			return nil, err.Error()
		}
		return value, ""
	}
}

func checked(fault func(text string) string) textRule {
	return func(text string) (any, string) { return text, fault(text) }
}

// readValue checks one value by itself, and converts it to the value in Config.
func readValue(k key, value any) (read any, problems []schemas.Problem) {
	if k.path == "http.targets" {
		return readTargets(k.path, value)
	}
	rule := textRules()[k.path]
	if rule == nil {
		rule = textRules()[k.typ]
	}
	if rule == nil {
		return value, nil
	}
	convert := func(path, text string) any {
		read, fault := rule(text)
		if fault != "" {
			problems = append(problems, schemas.Problem{Path: path, Message: fault})
		}
		return read
	}
	if k.typ != "array" {
		return convert(k.path, fmt.Sprint(value)), problems
	}
	list, _ := value.([]any)
	items := []any{}
	for i, item := range list {
		if text, ok := item.(string); ok { // the schema reports other types
			items = append(items, convert(fmt.Sprintf("%s[%d]", k.path, i), text))
		}
	}
	return items, problems
}

func passkeyOriginFault(text string) string { return originFault(text, secureContext) }

// passkeyClientFault also accepts the origin of an Android app.
func passkeyClientFault(text string) string {
	if schemas.IsAndroidOrigin(text) {
		return schemas.AndroidOriginFault(text)
	}
	return passkeyOriginFault(text)
}

func hostFault(text string) string {
	if _, err := ParseNetwork(text); err != nil && !domain(text) {
		return fmt.Sprintf("expected a host name in lower case such as idp.example.com, or an address or network such as 10.0.0.0/8, got %.253q", text)
	}
	return ""
}

// parseDocumentHost returns a host as URLs contain it, an address in its shortest form.
func parseDocumentHost(text string) (string, error) {
	if addr, err := netip.ParseAddr(withoutBrackets(text)); err == nil && addr.Zone() == "" {
		return addr.String(), nil
	}
	if !domain(text) {
		return "", fmt.Errorf("expected a host in lower case such as editor.example.com, without scheme, port and wildcard, got %.253q", text)
	}
	return text, nil
}

func privateUseFault(text string) string {
	switch {
	case schemas.PrivateUseScheme(text):
		return ""
	case strings.Contains(text, "."):
		return fmt.Sprintf("expected a scheme without a dot, got %.64q: reverse domain names need not be listed", text)
	}
	return fmt.Sprintf("expected the lower-case scheme of an app, such as cursor; schemes that browsers or systems handle are not allowed; got %.64q", text)
}

func listenFault(text string) string {
	_, port, err := net.SplitHostPort(text)
	if n, numeric := strconv.Atoi(port); err != nil || numeric != nil || n < 0 || n > 65535 {
		return fmt.Sprintf("expected host:port such as 127.0.0.1:8090, [::1]:8090 or :8090, got %.200q", text)
	}
	return ""
}

func relyingPartyFault(text string) string {
	if net.ParseIP(text) != nil {
		return "an IP address cannot be a relying party id (Web Authentication Level 3 §5.1.3): use a host name such as localhost"
	}
	if !domain(text) {
		return fmt.Sprintf("expected a domain in lower case such as example.com, without scheme and port, got %.253q", text)
	}
	return ""
}

// violation is a fault at a key, if exists is true.
type violation struct {
	key     string
	exists  bool
	message string
}

// rule is a condition on the values of several keys.
type rule struct {
	keys       []string
	violations []violation // the first that exists is reported
}

// maxWork bounds memory in KiB times iterations of a password hash: about half a second of a
// processor.
const maxWork = 1 << 20

// minPublish is how long a key must be published before it signs: twice as long as clients may keep
// the published keys.
const minPublish = 10 * time.Minute

func (c *Config) rules() []rule {
	tls, plain, db, publish, age := c.TLS, c.Server.HTTPOnly, c.Database, c.Token.KeyPublish, c.Token.KeyAge
	idle := c.Token.SessionIdleTimeout
	work := uint64(c.Password.MemoryKiB) * uint64(c.Password.Iterations)
	dsnFault := postgresFault(db.DSN)
	return []rule{
		{[]string{"server.public_url", "server.http_only"}, []violation{
			{"server.public_url", strings.HasPrefix(c.Server.PublicURL, "http://") && !plain, "it begins with http://, but the server serves https: write https://, or set server.http_only"},
			{"server.public_url", strings.HasPrefix(parseURL(c.Server.PublicURL).Path+"/", "/console/"), "a server at /console would take its pages for parts of the API if a proxy removes the path: choose another one, such as /auth"},
		}},
		{[]string{"tls.cert_file", "tls.key_file", "server.http_only"}, []violation{
			{"tls.key_file", tls.CertFile != "" && tls.KeyFile == "", "required with tls.cert_file: the path of the certificate's private key"},
			{"tls.cert_file", tls.KeyFile != "" && tls.CertFile == "", "required with tls.key_file: the path of the certificate"},
			{"server.http_only", tls.CertFile != "" && plain, "the server serves plain http, but has a certificate: remove tls.cert_file and tls.key_file, or server.http_only"},
		}},
		{[]string{"database.driver", "database.dsn"}, []violation{
			{"database.dsn", db.Driver == "sqlite" && strings.Contains(db.DSN, "?"), "expected the path of a file without parameters: the server sets them; remove the question mark and what follows"},
			{"database.dsn", db.DSN == "", "required with driver postgres: a connection string such as postgres://postern@db.example.com/postern?sslmode=verify-full"},
			{"database.dsn", db.Driver == "postgres" && dsnFault != "", dsnFault},
		}},
		{[]string{"mail.host", "mail.tls", "mail.allow_plaintext", "mail.from", "mail.username", "mail.password"}, c.Mail.violations()},
		{[]string{"password.memory_kib", "password.iterations"}, []violation{
			{"password.memory_kib", work > maxWork, fmt.Sprintf("memory_kib times iterations is %d, expected at most %d: lower one of them", work, maxWork)},
		}},
		{[]string{"token.session_idle_timeout"}, []violation{
			{"token.session_idle_timeout", idle != 0 && idle < time.Minute, fmt.Sprintf("expected at least 1m, or 0 for no timeout, got %v", idle)},
		}},
		{[]string{"token.key_publish", "token.key_age"}, []violation{
			{"token.key_publish", publish < minPublish, fmt.Sprintf("expected at least %v, got %v: clients that cache the published keys would reject tokens of a new one", minPublish, publish)},
			{"token.key_age", age < 2*publish, fmt.Sprintf("expected at least twice token.key_publish, which is %v, got %v: raise it, or lower token.key_publish", publish, age)},
		}},
		{[]string{"passkey.allowed_origins", "passkey.relying_party_id", "server.public_url", "server.hostname"}, c.Passkey.violations()},
		{[]string{"server.listen", "server.port", "gate_client.port", "telemetry.metrics.listen", "telemetry.pprof.listen"}, c.telemetryViolations()},
	}
}

// check finds violated rules. Doubtful reports keys whose values may be unintended because of
// another fault.
func (c *Config) check(doubtful func(keys ...string) bool) (problems []schemas.Problem) {
	for _, rule := range c.rules() {
		i := slices.IndexFunc(rule.violations, func(v violation) bool { return v.exists })
		if i >= 0 && !doubtful(rule.keys...) {
			problems = append(problems, schemas.Problem{Path: rule.violations[i].key, Message: rule.violations[i].message})
		}
	}
	return problems
}

// violations also checks derived values: server.public_url as the default origin, and the first
// origin's host.
func (p Passkey) violations() (list []violation) {
	fits := false
	for _, origin := range p.AllowedOrigins {
		fault := passkeyClientFault(origin)
		list = append(list, violation{"passkey.allowed_origins", fault != "", fault + "; " + origin + " is that of server.public_url"})
		fits = fits || isUnderDomain(hostOf(origin), p.RelyingPartyID)
	}
	fault := relyingPartyFault(p.RelyingPartyID)
	return append(list,
		violation{"passkey.relying_party_id", fault != "", fault + "; it is the host of the first of passkey.allowed_origins"},
		violation{"passkey.relying_party_id", !fits, fmt.Sprintf("expected the host of an allowed origin, or a parent domain of it (Web Authentication Level 3 §5.1.3), got %q, where passkey.allowed_origins has %s",
			p.RelyingPartyID, strings.Join(p.AllowedOrigins, ", "))})
}

// isUnderDomain reports whether pages of a host may use the relying party id: it is the
// host, or a parent domain with a dot of its own. The boundary between labels
// keeps evil-example.com from passing for example.com; the dot keeps a
// top-level domain from standing for all domains in it.
func isUnderDomain(host, id string) bool {
	return host == id || strings.Contains(id, ".") && strings.HasSuffix(host, "."+id)
}
