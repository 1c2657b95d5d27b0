package config

import (
	"net"
	"net/url"
	"strconv"
)

// ownGate reports whether the pages have a port of their own.
func (c *Config) ownGate() bool { return c.GateClient.Port != 0 && c.GateClient.Port != c.Server.Port }

// GateURL is where people are sent to sign in, without a trailing slash.
func (c *Config) GateURL() string {
	u, err := url.Parse(c.Server.PublicURL)
	if err != nil || !c.ownGate() {
		return c.Server.PublicURL + "/gate"
	}
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
