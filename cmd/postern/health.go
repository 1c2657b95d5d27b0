package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"
)

type healthCommand struct {
	Config string `type:"path" help:"The configuration file of the server. Without one the environment applies, or the data folder in ./data."`
}

// Run asks the server of the configuration, on this machine, whether it is ready. Container runtimes
// run it as a health check.
func (c healthCommand) Run(ctx context.Context, p program) error {
	cfg, err := loadLocal(c.Config, p.environ)
	if err != nil {
		return err
	}
	if err := newProbe(cfg.Server.Listen, !cfg.Server.HTTPOnly).get(ctx, "/health/readiness"); err != nil {
		fmt.Fprintln(p.stderr, "postern: the server is not ready:", err)
		return errFindings
	}
	_, err = fmt.Fprintln(p.stdout, "ready")
	return err
}

// probe requests health endpoints of a server on this machine.
type probe struct {
	base   string
	client *http.Client
}

// probeTimeout is longer than the checks of readiness take.
const probeTimeout = 10 * time.Second

// newProbe returns a probe of the server that listens on an address, as host:port.
func newProbe(listen string, encrypted bool) probe {
	scheme := "http"
	if encrypted {
		scheme = "https"
	}
	return probe{scheme + "://" + localAddress(listen), &http.Client{
		Timeout: probeTimeout,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			// The address is one of this machine, and the request contains no secret. The
			// certificate is for the public name of the server.
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// localAddress returns the address to connect to for an address that a server listens on.
func localAddress(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen // config.Load has checked it
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "" || err == nil && ip == netip.IPv4Unspecified():
		host = "127.0.0.1"
	case err == nil && ip.IsUnspecified():
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}

// get fails unless the reply to a request for the path has status 200.
func (p probe) get(ctx context.Context, path string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+path, nil)
	if err != nil {
		return err
	}
	reply, err := p.client.Do(r)
	if err != nil {
		return err
	}
	if err := reply.Body.Close(); err != nil {
		return err
	}
	if reply.StatusCode != http.StatusOK {
		return errors.New(path + " returns " + reply.Status + "; the log of the server has the reason")
	}
	return nil
}
