package main

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// checkPasskeys compares the relying party id with the origins that use passkeys.
func (d *doctor) checkPasskeys() {
	const check = "passkeys"
	id := d.cfg.Passkey.RelyingPartyID
	for _, origin := range d.cfg.Passkey.AllowedOrigins {
		if u, err := url.Parse(origin); err == nil && !schemas.IsAndroidOrigin(origin) && !coversHost(id, u.Hostname()) && !slices.Contains(d.cfg.Passkey.RelatedOrigins, origin) {
			d.warn(check, "remove it from passkey.allowed_origins, add it to passkey.related_origins, or set passkey.relying_party_id to a parent domain of all origins; "+
				"existing passkeys work only with the relying party id that they were created with",
				"browsers reject passkeys at %s, because its host is not %s or a subdomain of it", origin, id)
		}
	}
	for _, origin := range d.hostedOrigins() {
		if !slices.Contains(d.cfg.Passkey.AllowedOrigins, origin) {
			d.warn(check, "add "+origin+" to passkey.allowed_origins, unless you do not use the hosted pages",
				"%s is not among passkey.allowed_origins, so the hosted pages there cannot use passkeys", origin)
		}
	}
	if !d.hasProblems(check) {
		d.ok(check, "the relying party id %s fits %s", id, strings.Join(d.cfg.Passkey.AllowedOrigins, ", "))
	}
}

// hostedOrigins returns the origins of the hosted pages: that of server.public_url, and that of
// gate_client.port.
func (d *doctor) hostedOrigins() (origins []string) {
	for _, page := range []string{d.cfg.Server.PublicURL, d.cfg.GateURL()} {
		if u, err := url.Parse(page); err == nil {
			origins = append(origins, u.Scheme+"://"+u.Host)
		}
	}
	return slices.Compact(origins)
}

// coversHost reports whether a relying party id is a host or a parent domain of it.
func coversHost(id, host string) bool { return host == id || strings.HasSuffix(host, "."+id) }

// checkProxies checks which proxies may state the address of a client.
func (d *doctor) checkProxies() {
	const check = "proxies"
	s := d.cfg.Server
	for _, network := range s.TrustedProxies {
		if network.Bits() == 0 || network.Addr().Is4() && network.Bits() < 8 {
			d.warn(check, "list the addresses of the proxies in server.trusted_proxies, such as 10.0.0.1",
				"server.trusted_proxies contains %v, so clients can state any address and avoid the throttle", network)
		}
	}
	host, _, _ := net.SplitHostPort(s.Listen)
	address, err := netip.ParseAddr(host)
	public, parsed := url.Parse(s.PublicURL)
	behindProxy := s.HTTPOnly && parsed == nil && public.Scheme == "https"
	switch {
	case behindProxy && len(s.TrustedProxies) == 0:
		d.warn(check, "set server.trusted_proxies to the addresses of the proxy", "the server is behind a proxy that it does not trust, so all clients are throttled as one")
	case behindProxy && (host == "" || err == nil && address.IsUnspecified()):
		d.warn(check, "set server.listen to an address that only the proxy reaches", "the server accepts plain http on all interfaces")
	case !d.hasProblems(check):
		d.ok(check, "%d entries in server.trusted_proxies", len(s.TrustedProxies))
	}
}
