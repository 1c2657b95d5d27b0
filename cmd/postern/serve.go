package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/examples"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/server"
)

type serveCommand struct {
	Config string `type:"path" help:"The configuration file. Without one the defaults hold, and everything is kept under ./data."`
	Listen string `placeholder:"ADDR" help:"Listen on this address instead of the configured one; 127.0.0.1:0 takes any free port."`
	Try    bool   `help:"Show the try-it page at /try/, with an application anybody may sign up to. Not for production."`
}

// Run serves until it is told to stop.
func (c serveCommand) Run(ctx context.Context, p program) error {
	cfg, l, err := c.listen(p.environ)
	if err != nil {
		return err
	}
	defer l.Close()
	log := newLog(p.stderr, cfg.Log)
	log.Info("listening", "addr", l.Addr().String(), "url", cfg.Server.PublicURL)

	h, err := openHouse(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer h.close()
	admin, err := h.seed(ctx, p.environ)
	if err != nil {
		return err
	}
	if c.Try {
		if err := bootstrap.EnsureTry(ctx, h.store, time.Now().UTC()); err != nil {
			return err
		}
		h.pages["/try/"] = examples.Try(bootstrap.TryID)
		h.pages["/try"] = http.RedirectHandler("/try/", http.StatusPermanentRedirect)
	}
	certificates, err := tlsConfig(cfg)
	if err != nil {
		return err
	}
	p.greet(cfg, admin, c.Try)
	sweeping := make(chan struct{})
	go func() { defer close(sweeping); h.sweep(ctx) }()
	err = server.Serve(ctx, l, h.handler(), certificates, log)
	<-sweeping
	return err
}

// listen loads the configuration and takes the address. Where any free port was
// asked for, what follows from server.port (the public URL, the origin that
// passkeys are bound to) follows from the one that was taken.
func (c serveCommand) listen(environ []string) (*config.Config, net.Listener, error) {
	cfg, err := config.Load(c.Config, environ)
	if err != nil {
		return nil, nil, err
	}
	l, err := net.Listen("tcp", cmp.Or(c.Listen, cfg.Server.Listen))
	if err != nil {
		return nil, nil, err
	}
	if strings.HasSuffix(c.Listen, ":0") {
		taken := l.Addr().(*net.TCPAddr).Port
		cfg, err = config.Load(c.Config, append(slices.Clone(environ), fmt.Sprintf("POSTERN_SERVER_PORT=%d", taken)))
	}
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	return cfg, l, nil
}

// newLog writes structured lines to w. Secrets and personal data are never
// among them.
func newLog(w io.Writer, c config.Log) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // config.Load has checked it
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// tlsConfig is nil for plain HTTP.
func tlsConfig(cfg *config.Config) (*tls.Config, error) {
	if cfg.Server.HTTPOnly {
		return nil, nil
	}
	return server.Certificate(server.CertificateOptions{
		CertFile: cfg.TLS.CertFile, KeyFile: cfg.TLS.KeyFile,
		DataDir: cfg.DataDir, Hostname: cfg.Server.Hostname, Now: time.Now(),
	})
}

// greet tells a person where to go. The administrator's password is shown this
// once and kept nowhere but as a hash.
func (p program) greet(cfg *config.Config, admin *bootstrap.Admin, try bool) {
	fmt.Fprintf(p.stdout, "\nPostern %s serves %s\n", version, cfg.Server.PublicURL)
	if try {
		fmt.Fprintf(p.stdout, "  try it in a browser:  %s/try/\n", cfg.Server.PublicURL)
	}
	switch {
	case admin == nil:
	case admin.Password == "":
		fmt.Fprintf(p.stdout, "  administrator:        %s, with the password in ADMIN_PASSWORD\n", admin.Username)
	default:
		fmt.Fprintf(p.stdout, "  administrator:        %s\n  password:             %s   (shown once: write it down)\n", admin.Username, admin.Password)
	}
	fmt.Fprintln(p.stdout)
}

// seed fills an empty store.
func (h *house) seed(ctx context.Context, environ []string) (*bootstrap.Admin, error) {
	admin := bootstrap.Admin{Username: variable(environ, "ADMIN_USERNAME"), Password: variable(environ, "ADMIN_PASSWORD")}
	made, err := bootstrap.Seed(ctx, h.store, h.passwords, admin, time.Now().UTC())
	if err != nil {
		return nil, fmt.Errorf("filling the empty store: %w", err)
	}
	return made, nil
}

// variable returns the value of an environment variable.
func variable(environ []string, name string) string {
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// sweep removes what has expired, once a minute.
func (h *house) sweep(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			n, err := h.store.Sweep(ctx, now.UTC())
			if err != nil && !errors.Is(err, context.Canceled) {
				h.log.Error("sweeping what has expired", "error", err)
			} else if n > 0 {
				h.log.Debug("swept", "rows", n)
			}
		}
	}
}
