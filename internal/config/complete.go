package config

import (
	"cmp"
	"net"
	"net/url"
	"runtime"
	"slices"
	"strconv"
)

// complete fills in the defaults that follow from other keys, or from the machine. Fixed defaults
// are in the schema.
func (c *Config) complete() {
	c.completeLayout()
	if c.Database.Driver == "postgres" {
		c.Database.DSN = hostsAsParameters(c.Database.DSN)
	}
	// Half of the processors: hashing never takes the whole machine.
	c.Password.Workers = cmp.Or(c.Password.Workers, max(1, runtime.GOMAXPROCS(0)/2))
	c.Server.complete()
	c.Mail.complete()
	if c.Mail.isReadable() {
		c.Warnings = append(c.Warnings, "mail.allow_plaintext: mails contain codes and links that sign users in, and programs in the network between this server and "+
			c.Mail.Host+" can read them: set mail.tls to starttls or implicit if the mail server supports it")
	}
	c.Telemetry.complete()
	own := []string{originOf(c.Server.PublicURL)}
	if c.ownGate() {
		own = append(own, originOf(c.GateURL()))
	}
	c.Passkey.complete(own)
	if c.ownGate() && c.GateClient.External && !slices.Contains(c.CORS.AllowedOrigins, own[1]) {
		c.CORS.AllowedOrigins = append(c.CORS.AllowedOrigins, own[1]) // the pages call the API from there
	}
}

// takeListenPort uses the port of server.listen as the public port, unless another one is
// configured. Port 0 is ignored.
func (s *Server) takeListenPort() {
	if _, text, err := net.SplitHostPort(s.Listen); err == nil {
		if port, err := strconv.Atoi(text); err == nil && port != 0 {
			s.Port = port
		}
	}
}

func (s *Server) complete() {
	s.Hostname = withoutBrackets(s.Hostname)
	scheme, port := "https", strconv.Itoa(s.Port)
	if s.HTTPOnly {
		scheme = "http"
	}
	s.PublicURL = cmp.Or(s.PublicURL, canonical(&url.URL{Scheme: scheme, Host: net.JoinHostPort(s.Hostname, port)}))
	interfaces := "" // all
	if loopback(s.Hostname) {
		interfaces = s.Hostname
	}
	s.Listen = cmp.Or(s.Listen, net.JoinHostPort(interfaces, port))
}

// complete sets the default port of the mail server for its encryption: RFC 6409, RFC 8314 §3.3 and
// RFC 5321.
func (m *Mail) complete() {
	m.Host = withoutBrackets(m.Host)
	if m.Host != "" {
		m.Port = cmp.Or(m.Port, map[string]int{"starttls": 587, "implicit": 465, "none": 25}[m.TLS])
	}
}

// complete sets the origins of the server's own pages as the allowed origins of passkeys, unless
// some are configured.
func (p *Passkey) complete(own []string) {
	if len(p.AllowedOrigins) == 0 {
		p.AllowedOrigins = own
	}
	for _, origin := range p.AllowedOrigins { // an app has no host
		p.RelyingPartyID = cmp.Or(p.RelyingPartyID, hostOf(origin))
	}
	if len(p.AttestationFormats) == 0 {
		p.AttestationFormats = nil
	}
}
