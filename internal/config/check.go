package config

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// checkValue checks one value, which the schema has accepted, by itself.
func checkValue(k key, value any) []schemas.Problem {
	text, _ := value.(string)
	fault := ""
	switch {
	case k.typ == "duration":
		if _, err := ParseDuration(text); err != nil {
			fault = err.Error()
		}
	case k.typ == "retention":
		if _, err := ParseRetention(fmt.Sprint(value)); err != nil {
			fault = err.Error()
		}
	case k.path == "server.public_url":
		fault = urlFault(text)
	case k.path == "server.listen":
		fault = listenFault(text)
	case k.path == "passkey.relying_party_id":
		fault = relyingPartyFault(text)
	case k.path == "passkey.allowed_origins", k.path == "passkey.related_origins":
		return checkItems(k.path, value, func(text string) string { return originFault(text, secureContext) })
	case k.path == "cors.allowed_origins":
		return checkItems(k.path, value, func(text string) string { return originFault(text, exampleURL) })
	case k.path == "server.trusted_proxies":
		return checkItems(k.path, value, networkFault)
	case k.path == "outbound.allow":
		return checkItems(k.path, value, hostFault)
	case k.path == "oauth.dcr.private_use_schemes":
		return checkItems(k.path, value, privateUseFault)
	case k.path == "oauth.client_metadata_documents.allowed_hosts":
		return checkItems(k.path, value, documentHostFault)
	case k.path == "http.targets":
		return checkTargets(k.path, value)
	}
	if fault == "" {
		return nil
	}
	return []schemas.Problem{{Path: k.path, Message: fault}}
}

func checkItems(path string, value any, check func(text string) (fault string)) []schemas.Problem {
	var problems []schemas.Problem
	items, _ := value.([]any)
	for i, item := range items {
		text, ok := item.(string)
		if !ok {
			continue
		}
		if fault := check(text); fault != "" {
			problems = append(problems, schemas.Problem{Path: fmt.Sprintf("%s[%d]", path, i), Message: fault})
		}
	}
	return problems
}

func networkFault(text string) string {
	if _, err := ParseNetwork(text); err != nil {
		return err.Error()
	}
	return ""
}

func hostFault(text string) string {
	if _, err := ParseNetwork(text); err != nil && !domain(text) {
		return fmt.Sprintf("expected a host name in lower case such as idp.example.com, or an address or network such as 10.0.0.0/8, got %.253q", text)
	}
	return ""
}

func documentHostFault(text string) string {
	if !domain(text) && net.ParseIP(text) == nil {
		return fmt.Sprintf("expected a host in lower case such as editor.example.com, without scheme, port and wildcard, got %.253q", text)
	}
	return ""
}

func privateUseFault(text string) string {
	switch {
	case schemas.PrivateUseScheme(text):
		return ""
	case strings.Contains(text, "."):
		return fmt.Sprintf("expected a scheme without a dot, got %.64q: reverse domain names need not be listed", text)
	}
	return fmt.Sprintf("expected the scheme of an app in lower case, such as cursor, and not one that browsers or systems handle, got %.64q", text)
}

func listenFault(text string) string {
	_, port, err := net.SplitHostPort(text)
	if n, numeric := strconv.Atoi(port); err != nil || numeric != nil || n < 0 || n > 65535 {
		return fmt.Sprintf("expected host:port such as 127.0.0.1:8090 or :8090, got %.200q", text)
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

// check finds conflicts between keys. Doubtful reports keys whose values may be unintended, unless
// another fault explains them.
func (c *Config) check(doubtful func(keys ...string) bool) []schemas.Problem {
	var problems []schemas.Problem
	for _, rule := range []struct {
		keys  []string
		fault func() (key, fault string)
	}{
		{[]string{"server.public_url", "server.http_only"}, c.schemeFault},
		{[]string{"tls.cert_file", "tls.key_file", "server.http_only"}, c.certificateFault},
		{[]string{"database.driver", "database.dsn"}, c.databaseFault},
		{[]string{"mail.host", "mail.tls", "mail.from", "mail.username", "mail.password"}, c.Mail.fault},
		{[]string{"password.memory_kib", "password.iterations"}, c.costFault},
		{[]string{"token.key_publish", "token.key_age"}, c.keyFault},
		{[]string{"passkey.allowed_origins", "passkey.relying_party_id", "server.public_url", "server.hostname"}, c.relyingPartyFault},
	} {
		if doubtful(rule.keys...) {
			continue
		}
		if key, fault := rule.fault(); fault != "" {
			problems = append(problems, schemas.Problem{Path: key, Message: fault})
		}
	}
	return problems
}

func (c *Config) schemeFault() (key, fault string) {
	if strings.HasPrefix(c.Server.PublicURL, "http://") && !c.Server.HTTPOnly {
		return "server.public_url", "it begins with http://, but the server serves https: write https://, or set server.http_only"
	}
	return "", ""
}

func (c *Config) certificateFault() (key, fault string) {
	switch {
	case c.TLS.CertFile != "" && c.TLS.KeyFile == "":
		return "tls.key_file", "required with tls.cert_file: the path of the certificate's private key"
	case c.TLS.KeyFile != "" && c.TLS.CertFile == "":
		return "tls.cert_file", "required with tls.key_file: the path of the certificate"
	case c.TLS.CertFile != "" && c.Server.HTTPOnly:
		return "server.http_only", "the server serves plain http, but has a certificate: remove tls.cert_file and tls.key_file, or server.http_only"
	}
	return "", ""
}

func (c *Config) databaseFault() (key, fault string) {
	if c.Database.Driver == "sqlite" && strings.Contains(c.Database.DSN, "?") {
		return "database.dsn", "expected the path of a file without parameters: the server sets them; remove the question mark and what follows"
	}
	if c.Database.DSN == "" {
		return "database.dsn", "required with driver postgres: a connection string such as postgres://postern@db.example.com/postern?sslmode=verify-full"
	}
	return "", ""
}

// maxWork bounds memory in KiB times iterations of a password hash: about half
// a second of a processor.
const maxWork = 1 << 20

func (c *Config) costFault() (key, fault string) {
	if work := uint64(c.Password.MemoryKiB) * uint64(c.Password.Iterations); work > maxWork {
		return "password.memory_kib", fmt.Sprintf("memory_kib times iterations is %d, expected at most %d: lower one of them", work, maxWork)
	}
	return "", ""
}

// minPublish is how long a key must be published before it signs: twice as long
// as clients may keep the published keys.
const minPublish = 10 * time.Minute

func (c *Config) keyFault() (key, fault string) {
	publish, age := time.Duration(c.Token.KeyPublish), time.Duration(c.Token.KeyAge)
	switch {
	case publish < minPublish:
		return "token.key_publish", fmt.Sprintf("expected at least %v, got %v: clients that cache the published keys would reject tokens of a new one", minPublish, publish)
	case age < 2*publish:
		return "token.key_age", fmt.Sprintf("expected at least twice token.key_publish, which is %v, got %v: raise it, or lower token.key_publish", publish, age)
	}
	return "", ""
}

// relyingPartyFault also checks derived values: server.public_url as the default origin, and the
// first origin's host.
func (c *Config) relyingPartyFault() (key, fault string) {
	p := c.Passkey
	for _, origin := range p.AllowedOrigins {
		if fault := originFault(origin, secureContext); fault != "" {
			return "passkey.allowed_origins", fault + "; " + origin + " is that of server.public_url"
		}
	}
	if fault := relyingPartyFault(p.RelyingPartyID); fault != "" {
		return "passkey.relying_party_id", fault + "; it is the host of the first of passkey.allowed_origins"
	}
	for _, origin := range p.AllowedOrigins {
		if isUnderDomain(hostOf(origin), p.RelyingPartyID) {
			return "", ""
		}
	}
	return "passkey.relying_party_id", fmt.Sprintf("expected the host of an allowed origin, or a parent domain of it (Web Authentication Level 3 §5.1.3), got %q, where passkey.allowed_origins has %s",
		p.RelyingPartyID, strings.Join(p.AllowedOrigins, ", "))
}

// isUnderDomain reports whether pages of a host may use the relying party id: it is the
// host, or a parent domain with a dot of its own. The boundary between labels
// keeps evil-example.com from passing for example.com; the dot keeps a
// top-level domain from standing for everybody in it.
func isUnderDomain(host, id string) bool {
	return host == id || strings.Contains(id, ".") && strings.HasSuffix(host, "."+id)
}
