package config

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
)

// complete adds the path of OTLP/HTTP to a URL without one.
func (t *Telemetry) complete() {
	if u, err := url.Parse(t.Traces.Endpoint); err == nil && u.Host != "" && (u.Path == "" || u.Path == "/") {
		u.Path = "/v1/traces"
		t.Traces.Endpoint = u.String()
	}
}

// collectorFault checks the URL of a collector.
func collectorFault(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return fmt.Sprintf("expected the URL of a collector such as http://127.0.0.1:4318, without a user name, got %.200q", withoutUser(u))
	}
	return ""
}

// authorizationFault checks the value of a header field. It does not repeat the value.
func authorizationFault(text string) string {
	if err := FieldValue(text); err != nil {
		return err.Error()
	}
	return ""
}

// withoutUser returns a URL without its password, for messages.
func withoutUser(u *url.URL) string {
	if u == nil {
		return "text that is no URL"
	}
	return u.Redacted()
}

// listener is an address that the server listens on, by its key.
type listener struct{ key, addr string }

// telemetryViolations finds listeners that share a port, and profiles that others can read.
func (c *Config) telemetryViolations() (list []violation) {
	t := c.Telemetry
	others := []listener{{"server.listen", c.Server.Listen}, {"gate_client.port", c.GateListen()}}
	for _, own := range []listener{{"telemetry.metrics.listen", t.Metrics.Listen}, {"telemetry.pprof.listen", t.Pprof.Listen}} {
		for _, other := range others {
			list = append(list, violation{own.key, samePort(own.addr, other.addr),
				fmt.Sprintf("its port is that of %s (%s): it needs a port of its own", other.key, other.addr)})
		}
		others = append(others, own)
	}
	host, _, _ := net.SplitHostPort(t.Pprof.Listen)
	return append(list, violation{"telemetry.pprof.listen", t.Pprof.Listen != "" && !loopback(host) && !t.Pprof.AllowRemote,
		"profiles contain secrets, and this is not a loopback address: use one such as 127.0.0.1:6060, or set telemetry.pprof.allow_remote"})
}

// samePort reports whether two addresses have the same port. Port 0 is a free one.
func samePort(a, b string) bool {
	_, one, err := net.SplitHostPort(a)
	_, two, otherErr := net.SplitHostPort(b)
	n, _ := strconv.Atoi(one)
	m, _ := strconv.Atoi(two)
	return err == nil && otherErr == nil && n != 0 && n == m
}
