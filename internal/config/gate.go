package config

import (
	"net"
	"net/url"
	"strconv"
)

// ownGate reports whether the pages have a port of their own.
func (c *Config) ownGate() bool { return c.GateClient.Port != 0 && c.GateClient.Port != c.Server.Port }

// GateURL is the URL of the sign-in pages, without a trailing slash.
func (c *Config) GateURL() string {
	if !c.ownGate() {
		return c.Server.PublicURL + "/gate"
	}
	u := parseURL(c.Server.PublicURL)
	return canonical(&url.URL{Scheme: u.Scheme, Host: net.JoinHostPort(u.Hostname(), strconv.Itoa(c.GateClient.Port))})
}

// GateListen is the additional address of the hosted pages if they have a port of their own; "" for
// none.
func (c *Config) GateListen() string {
	host, _, err := net.SplitHostPort(c.Server.Listen)
	if err != nil || !c.ownGate() || c.GateClient.External {
		return ""
	}
	return net.JoinHostPort(host, strconv.Itoa(c.GateClient.Port))
}
