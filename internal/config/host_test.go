package config

import (
	"fmt"
	"slices"
	"testing"
)

// Each key with a host accepts an IPv6 address, in brackets where a port can follow and also elsewhere.
func TestHostsAreIPv6Addresses(t *testing.T) {
	const passkeys = "\npasskey: {allowed_origins: [https://login.example.com]}"
	for text, want := range map[string]struct {
		read  func(*Config) any
		value string
	}{
		"server: {hostname: '::1'}":                                             {func(c *Config) any { return c.Server.PublicURL + " " + c.Server.Listen }, "https://[::1]:8090 [::1]:8090"},
		"server: {hostname: '[::1]'}":                                           {func(c *Config) any { return c.Server.Hostname + " " + c.Server.PublicURL }, "::1 https://[::1]:8090"},
		"server: {hostname: '2001:db8::1'}":                                     {func(c *Config) any { return c.Server.PublicURL + " " + c.Server.Listen }, "https://[2001:db8::1]:8090 :8090"},
		"server: {listen: '[::1]:8090'}":                                        {func(c *Config) any { return c.Server.Listen }, "[::1]:8090"},
		"server: {listen: ':8090'}":                                             {func(c *Config) any { return c.Server.Listen }, ":8090"},
		"server: {public_url: 'https://[2001:db8::1]'}":                         {func(c *Config) any { return c.Server.PublicURL }, "https://[2001:db8::1]"},
		"server: {public_url: 'https://[2001:db8::1]:9000/auth'}":               {func(c *Config) any { return c.Server.PublicURL }, "https://[2001:db8::1]:9000/auth"},
		"server: {public_url: 'https://[::1]:8090'}\ngate_client: {port: 5190}": {func(c *Config) any { return c.GateURL() }, "https://[::1]:5190"},
		"server: {trusted_proxies: ['::1', '[2001:db8::7]', 'fd00::/8', 10.0.0.1]}": {
			func(c *Config) any { return c.Server.TrustedProxies }, "[::1/128 2001:db8::7/128 fd00::/8 10.0.0.1/32]"},
		"cors: {allowed_origins: ['http://[::1]:5173', 'https://a.example']}": {func(c *Config) any { return c.CORS.AllowedOrigins }, "[http://[::1]:5173 https://a.example]"},
		"outbound: {allow: ['::1', '[fd00::1]', 'fd00::/8', idp.internal]}":   {func(c *Config) any { return len(c.Outbound.Allow) }, "4"},
		"oauth: {client_metadata_documents: {allowed_hosts: ['2001:db8:0::1', '[2001:db8::2]', a.example]}}": {
			func(c *Config) any { return c.OAuth.ClientMetadataDocuments.AllowedHosts }, "[2001:db8::1 2001:db8::2 a.example]"},
		"http: {targets: {crm: {url: 'http://[::1]:9000/hooks'}}}": {func(c *Config) any { return c.HTTP.Targets["crm"].URL }, "http://[::1]:9000/hooks"},
		"mail: {host: '::1', from: a@example.com, tls: none}":      {func(c *Config) any { return c.Mail.Host }, "::1"},
		"mail: {host: '[2001:db8::25]', from: a@example.com}":      {func(c *Config) any { return c.Mail.Host }, "2001:db8::25"},
		"telemetry: {metrics: {listen: '[::1]:9464'}}":             {func(c *Config) any { return c.Telemetry.Metrics.Listen }, "[::1]:9464"},
		"telemetry: {pprof: {listen: '[::1]:6060'}}":               {func(c *Config) any { return c.Telemetry.Pprof.Listen }, "[::1]:6060"},
		"telemetry: {traces: {endpoint: 'http://[::1]:4318'}}":     {func(c *Config) any { return c.Telemetry.Traces.Endpoint }, "http://[::1]:4318/v1/traces"},
	} {
		if c := expectProblem(t, text+passkeys, ""); c != nil && fmt.Sprint(want.read(c)) != want.value {
			t.Errorf("%s is %v, want %s", text, want.read(c), want.value)
		}
	}
	expectProblem(t, "server: {public_url: 'https://[2001:DB8:0:0::1]'}"+passkeys, "write https://[2001:db8::1]")
	expectProblem(t, "server: {listen: '::1:8090'}", "server.listen: expected host:port such as 127.0.0.1:8090, [::1]:8090 or :8090")
	expectProblem(t, "server: {listen: '::1'}", "server.listen: expected host:port")
}

// A mail server without TLS on another machine is an explicit choice, and a warning remains.
func TestPlainTextMailIsAnExplicitChoice(t *testing.T) {
	for host, warned := range map[string]bool{"relay.internal": true, "10.0.0.25": true, "fd00::25": true, "localhost": false, "::1": false} {
		c := expectProblem(t, "mail: {host: '"+host+"', from: a@example.com, tls: none, allow_plaintext: true}", "")
		if got := slices.ContainsFunc(c.Warnings, func(w string) bool { return len(w) > 20 && w[:20] == "mail.allow_plaintext" }); got != warned || c.Mail.Port != 25 {
			t.Errorf("%s: %v, port %d", host, c.Warnings, c.Mail.Port)
		}
	}
}
