package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/folder"
)

type bootstrapCommand struct {
	BaseURL             string          `placeholder:"URL" help:"The URL of the server. Default: that of the server on this machine."`
	ConsoleRedirectURIs []string        `name:"console-redirect-uris" placeholder:"A,B" help:"Additional redirect URIs for the console."`
	Samples             bool            `help:"Also create an organization unit and a user type for customers, and two sample applications."`
	Dir                 string          `help:"A folder of additional seed files (*.yaml), applied in the order of their names."`
	Secrets             []string        `type:"path" placeholder:"PATH" help:"A folder with secrets of seed files, such as a mounted volume. Files name a secret there by its absolute path."`
	Wait                config.Duration `default:"60s" help:"How long to wait until the server is ready."`
	serverFlags         `embed:""`
}

// serverFlags are the flags for connecting to a running server.
type serverFlags struct {
	Token    string `help:"A token that has the permission system. Default: ADMIN_TOKEN in the environment."`
	Config   string `type:"path" help:"The configuration file of a server on this machine. Without it and a URL: the server that runs in this folder. A token is issued from its store, and its certificate is trusted."`
	CA       string `type:"path" help:"A PEM file with certificates to trust."`
	Insecure bool   `help:"Trust any certificate. Only for a server on this machine."`
}

// Run creates the initial resources in a running server, and those of seed files.
func (c bootstrapCommand) Run(ctx context.Context, p program) error {
	setup, err := c.newSetup(ctx, p, "--base-url", c.BaseURL)
	if err != nil {
		return err
	}
	defer setup.HTTP.CloseIdleConnections()
	setup.RedirectURIs, setup.Samples, setup.Dir, setup.Wait = c.ConsoleRedirectURIs, c.Samples, c.Dir, time.Duration(c.Wait)
	setup.Secrets.Folders = c.Secrets
	setup.Report = func(format string, args ...any) { fmt.Fprintf(p.stdout, format+"\n", args...) }
	return bootstrap.Run(ctx, setup)
}

// newSetup returns a setup for the server at an address, with the credentials to use. flag,
// which set the address, appears in errors.
func (c serverFlags) newSetup(ctx context.Context, p program, flag, address string) (bootstrap.Setup, error) {
	setup := bootstrap.Setup{
		Token:   cmp.Or(c.Token, p.getenv("ADMIN_TOKEN")),
		Admin:   bootstrap.Admin{Username: p.getenv("ADMIN_USERNAME"), Password: p.getenv("ADMIN_PASSWORD")},
		Secrets: declare.Secrets{Getenv: p.getenv},
	}
	cfg, err := c.localConfig(p.environ, flag, address)
	if err != nil {
		return setup, err
	}
	base, err := c.serverURL(cfg, flag, address)
	if err != nil {
		return setup, err
	}
	setup.BaseURL = strings.TrimSuffix(base.String(), "/")
	if setup.HTTP, err = c.newHTTPClient(base, cfg); err != nil {
		return setup, err
	}
	if cfg != nil {
		setup.Passwords = passwordPolicy(cfg)
		setup.Secrets.Private = []string{cfg.DataDir}
	}
	if cfg != nil && setup.Token == "" {
		setup.Token, err = c.issueLocalToken(ctx, p, setup.BaseURL)
	}
	return setup, err
}

// localConfig returns the configuration of a local server, which is also used if no address is given; nil if
// the server is remote.
func (c serverFlags) localConfig(environ []string, flag, address string) (*config.Config, error) {
	if c.Config == "" && address != "" {
		return nil, nil
	}
	cfg, err := loadLocal(c.Config, environ)
	if err != nil || c.Config != "" {
		return cfg, err
	}
	if requireStore(cfg.Database) != nil {
		return nil, fmt.Errorf("expected %s with the URL of the server, or --config with its configuration file; "+
			"both are optional in the server's working directory, but there is no store at %s", flag, absolute(cfg.Database.DSN))
	}
	return cfg, confirmAddress(cfg, environ, flag)
}

// serverURL returns the URL of the server: text, which flag set, or that of the configuration.
func (c serverFlags) serverURL(cfg *config.Config, flag, text string) (*url.URL, error) {
	if text == "" {
		text = cfg.Server.PublicURL
	}
	base, err := url.Parse(text)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" || base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("%s %q: expected a URL such as https://localhost:8090", flag, text)
	}
	return base, nil
}

// issueLocalToken issues a token, as `postern token` does. A store without an administrator
// gets none, and the server must be open.
func (c serverFlags) issueLocalToken(ctx context.Context, p program, base string) (string, error) {
	h, err := p.openLocal(ctx, c.Config, "POSTERN_SERVER_PUBLIC_URL="+base)
	if err != nil {
		return "", err
	}
	defer h.close()
	if administered, err := h.hasAdministrator(ctx); err != nil || !administered {
		return "", err
	}
	return h.issueToken(ctx, "", []string{"system"}, ownTokenTTL)
}

// ownTokenTTL is the maximum duration of a bootstrap.
const ownTokenTTL = 15 * time.Minute

// newHTTPClient returns an HTTP client that trusts the given certificates and follows no
// redirects: a token is for this server only.
func (c serverFlags) newHTTPClient(base *url.URL, cfg *config.Config) (*http.Client, error) {
	roots, err := c.trustedRoots(cfg)
	if err != nil {
		return nil, err
	}
	trust := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if c.Insecure {
		if !isLoopback(base.Hostname()) {
			return nil, fmt.Errorf("--insecure is only for a server on this machine, and %s is not: pass its certificate with --ca", base.Hostname())
		}
		trust.InsecureSkipVerify = true // only this machine can answer on its own addresses
	}
	return &http.Client{
		Timeout:       time.Minute,
		Transport:     &http.Transport{TLSClientConfig: trust, Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 2},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// trustedRoots returns the certificates to trust: the system's, those of --ca, and the
// server's own if it is local.
func (c serverFlags) trustedRoots(cfg *config.Config) (*x509.CertPool, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if c.CA != "" {
		text, err := folder.Read(c.CA, folder.MaxFile)
		if err != nil {
			return nil, fmt.Errorf("--ca: %w", err)
		}
		if !roots.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--ca %s: expected a PEM file with certificates (-----BEGIN CERTIFICATE-----)", c.CA)
		}
	}
	if cfg != nil {
		own := cmp.Or(cfg.TLS.CertFile, filepath.Join(cfg.DataDir, "tls", "cert.pem"))
		if text, err := folder.Read(own, folder.MaxFile); err == nil {
			roots.AppendCertsFromPEM(text)
		}
	}
	return roots, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
