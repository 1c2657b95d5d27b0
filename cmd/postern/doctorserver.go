package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

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
		problem, fix := describeUnreachable(err)
		d.fail(check, fix, "expected the server at %s, but %s", at, problem)
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
	d.checkBase(ctx, client, base)
	if !d.hasProblems(check) {
		d.ok(check, "ready at %s", at)
	}
	if at, err := http.ParseTime(reply.date); err == nil {
		d.checkClock("clock of the server", at)
	}
}

// checkBase checks what clients request at the root of the site if the server is a part of it: the metadata of
// RFC 8414 §3.1.
func (d *doctor) checkBase(ctx context.Context, client *http.Client, at *url.URL) {
	path := strings.TrimSuffix(at.Path, "/")
	if path == "" {
		return
	}
	address := at.Scheme + "://" + at.Host + "/.well-known/oauth-authorization-server" + path
	_, metadata, err := getJSON(ctx, client, address)
	if issuer, _ := metadata["issuer"].(string); err != nil || issuer != d.cfg.Server.PublicURL {
		d.warn("server", "let the proxy forward /.well-known/oauth-authorization-server"+path+" and /.well-known/oauth-protected-resource"+path+" to Postern",
			"%s does not return the metadata of the server, which some clients, such as those of MCP, read there", address)
	}
}

// describeUnreachable describes why no reply arrived, and what to do.
func describeUnreachable(err error) (problem, fix string) {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &certificate):
		return "its certificate is not trusted: " + certificate.Err.Error(), "pass its certificate with --ca, or with --url a URL whose host the certificate names"
	case errors.As(err, &dns):
		return "the name " + dns.Name + " does not resolve to an address", "correct server.public_url or the DNS, or pass another URL with --url"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing accepts connections there", "start the server, or pass its URL with --url"
	case errors.Is(err, http.ErrSchemeMismatch):
		return "it speaks plain http there", "pass the URL with http:// in --url, or start the server without server.http_only"
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("no reply arrived within %v", checkTimeout), "check that the server runs, and the proxies and the network between"
	}
	if failed, is := errors.AsType[*url.Error](err); is {
		err = failed.Err // without the method and the URL
	}
	return "the connection failed: " + err.Error(), "check that the server runs, and the proxies and the network between"
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
