package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/server"
)

// checkPasskeys compares the relying party id with the origins that use passkeys.
func (d *doctor) checkPasskeys() {
	const check = "passkeys"
	id := d.cfg.Passkey.RelyingPartyID
	for _, origin := range d.cfg.Passkey.AllowedOrigins {
		if u, err := url.Parse(origin); err == nil && !coversHost(id, u.Hostname()) && !slices.Contains(d.cfg.Passkey.RelatedOrigins, origin) {
			d.warn(check, "remove it from passkey.allowed_origins, add it to passkey.related_origins, or set passkey.relying_party_id to a parent domain of all origins; "+
				"existing passkeys work only with the relying party id that they were created with",
				"browsers reject passkeys at %s, because its host is not %s or a subdomain of it", origin, id)
		}
	}
	public, err := url.Parse(d.cfg.Server.PublicURL)
	if err == nil && !slices.Contains(d.cfg.Passkey.AllowedOrigins, public.Scheme+"://"+public.Host) {
		d.warn(check, "add "+public.Scheme+"://"+public.Host+" to passkey.allowed_origins, unless you do not use the hosted pages",
			"the origin of server.public_url is not among passkey.allowed_origins, so the hosted pages cannot use passkeys")
	}
	if !d.hasProblems(check) {
		d.ok(check, "the relying party id %s fits %s", id, strings.Join(d.cfg.Passkey.AllowedOrigins, ", "))
	}
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
		d.ok(check, "%d trusted", len(s.TrustedProxies))
	}
}

// The remaining validity of a certificate that is worth a warning.
const certificateWarning = 21 * 24 * time.Hour

// checkCertificate checks the certificate that the server uses.
func (d *doctor) checkCertificate() {
	const check = "certificate"
	cfg := d.cfg
	public, err := url.Parse(cfg.Server.PublicURL)
	if err != nil || cfg.Server.HTTPOnly {
		d.ok(check, "none: the server uses plain http (server.http_only)")
		return
	}
	leaf, err := d.readCertificate()
	const obtain = "set tls.cert_file and tls.key_file to a certificate of a public authority, or server.http_only behind a proxy that terminates TLS"
	switch {
	case errors.Is(err, fs.ErrNotExist) && cfg.TLS.CertFile == "":
		if !isLoopback(public.Hostname()) {
			d.warn(check, obtain, "the first start generates a self-signed certificate, which browsers and clients of %s reject", public.Hostname())
			return
		}
		d.ok(check, "the first start generates a self-signed one")
		return
	case err != nil:
		d.fail(check, "replace the files; the certificate file begins with the server's own certificate, followed by the intermediate ones", "%v", err)
		return
	}
	selfSigned := leaf.CheckSignatureFrom(leaf) == nil || leaf.Issuer.String() == leaf.Subject.String()
	if err := leaf.VerifyHostname(public.Hostname()); err != nil {
		d.fail(check, "obtain a certificate for "+public.Hostname()+", or correct server.public_url", "%v", err)
	}
	if left := time.Until(leaf.NotAfter); left < certificateWarning {
		d.warn(check, "renew it, and restart the server", "it expires at %s", formatTime(leaf.NotAfter))
	}
	if selfSigned && !isLoopback(public.Hostname()) {
		d.warn(check, obtain, "it is self-signed, so browsers and clients of %s reject it", public.Hostname())
	}
	if !d.hasProblems(check) {
		d.ok(check, "valid for %s until %s", public.Hostname(), formatTime(leaf.NotAfter))
	}
}

// readCertificate reads the certificate. It creates none.
func (d *doctor) readCertificate() (*x509.Certificate, error) {
	if c := d.cfg.TLS; c.CertFile != "" {
		pair, err := server.Certificate(server.CertificateOptions{CertFile: c.CertFile, KeyFile: c.KeyFile, Now: time.Now()})
		if err != nil {
			return nil, err
		}
		return pair.Certificates[0].Leaf, nil
	}
	path := filepath.Join(d.cfg.DataDir, "tls", "cert.pem")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s: expected a certificate in PEM form", path)
	}
	return x509.ParseCertificate(block.Bytes)
}

// checkTimeout bounds each connection of a check.
const checkTimeout = 5 * time.Second

// checkTargets connects to the services that flows call, and sends nothing.
func (d *doctor) checkTargets(ctx context.Context) {
	for name, t := range d.cfg.HTTP.Targets {
		check := "target " + name
		if _, err := newService(t); err != nil {
			d.fail(check, "correct the file that the key names", "%v", err)
			continue
		}
		u, err := url.Parse(t.URL)
		if err != nil {
			continue // config.Load has checked it
		}
		if err := reach(ctx, u); err != nil {
			d.fail(check, "check http.targets."+name+".url, the service, and the network between", "%v", err)
			continue
		}
		d.ok(check, "reachable")
	}
}

// reach opens a connection to the host of a URL, with TLS if the URL has it.
func reach(ctx context.Context, u *url.URL) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	address := net.JoinHostPort(u.Hostname(), port)
	var conn net.Conn
	var err error
	if u.Scheme == "https" {
		conn, err = (&tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12}}).DialContext(ctx, "tcp", address)
	} else {
		conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}
	if err != nil {
		return err
	}
	return conn.Close()
}

// checkServer asks the running server whether it is ready, and for its issuer and its clock.
func (d *doctor) checkServer(ctx context.Context) {
	const check = "server"
	base, err := serverFlags{}.serverURL(d.cfg, "--url", d.URL)
	if err != nil {
		d.fail(check, "pass a URL such as https://login.example.org", "%v", err)
		return
	}
	client, err := serverFlags{CA: d.CA}.newHTTPClient(base, d.cfg)
	if err != nil {
		d.fail(check, "pass a file with certificates in PEM form", "%v", err)
		return
	}
	client.Timeout = checkTimeout
	defer client.CloseIdleConnections()
	at := strings.TrimSuffix(base.String(), "/")
	reply, _, err := getJSON(ctx, client, at+"/health/readiness")
	if err != nil {
		d.fail(check, "start the server, or pass its URL with --url and its certificate with --ca", "it cannot be reached at %s: %v", at, err)
		return
	}
	if reply.status != http.StatusOK {
		d.fail(check, "read the server's log", "it is not ready: status %d %s", reply.status, printable(strings.TrimSpace(string(reply.body))))
	}
	reply, metadata, err := getJSON(ctx, client, at+"/.well-known/openid-configuration")
	switch issuer, _ := metadata["issuer"].(string); {
	case err != nil || reply.status != http.StatusOK:
		d.fail(check, "check that the proxy forwards /.well-known/ to Postern", "the discovery document is not served at %s: status %d", at, reply.status)
	case issuer != d.cfg.Server.PublicURL:
		d.fail(check, "use the same configuration for doctor and the server, and restart the server after a change", "its issuer is %q, and server.public_url is %q", printable(issuer), d.cfg.Server.PublicURL)
	}
	if !d.hasProblems(check) {
		d.ok(check, "ready at %s", at)
	}
	if at, err := http.ParseTime(reply.date); err == nil {
		d.checkClock("clock of the server", at)
	}
}

// reply is the reply of a server.
type reply struct {
	status int
	body   []byte
	date   string
}

// getJSON requests a document. A reply of another format has no members.
func getJSON(ctx context.Context, client *http.Client, url string) (r reply, members map[string]any, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return r, nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return r, nil, err
	}
	defer response.Body.Close()
	r.status, r.date = response.StatusCode, response.Header.Get("Date")
	r.body, err = io.ReadAll(io.LimitReader(response.Body, 64<<10))
	_ = json.Unmarshal(r.body, &members) // no members
	return r, members, err
}

// checkClock compares another clock with that of this machine. Tokens allow a minute.
func (d *doctor) checkClock(check string, at time.Time) {
	const fix = "synchronize the clocks of all machines, for example with chrony"
	switch ahead := time.Until(at).Round(time.Second); {
	case ahead.Abs() >= time.Minute:
		d.fail(check, fix, "it differs by %v from the clock of this machine: tokens and codes are rejected", ahead)
	case ahead.Abs() > 5*time.Second:
		d.warn(check, fix, "it differs by %v from the clock of this machine", ahead)
	default:
		d.ok(check, "it agrees with the clock of this machine")
	}
}
