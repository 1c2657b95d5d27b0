package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/examples"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/mail"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
	"github.com/postern-id/postern/server/console"
)

type serveCommand struct {
	Config  string `type:"path" help:"The configuration file. Without one the defaults apply, and all data is stored under ./data."`
	Listen  string `placeholder:"ADDR" help:"Listen on this address instead of the configured one; 127.0.0.1:0 selects any free port."`
	Flows   string `type:"path" placeholder:"DIR" help:"Serve the flows in this folder instead of the configured flow.dir. They are checked first, and read-only."`
	Dev     bool   `help:"Watch the folder of flows and apply changes. Errors are printed."`
	Checker string `type:"path" hidden:"" help:"For make run: a folder that will contain the flow checker for the browser."`
	Try     bool   `help:"Serve the try-it page at /try/, with an application that has open sign-up. Not for production."`
}

// Run serves until it is stopped. It finds all errors before it fills an empty store, and
// prints the generated password right after that, because it is shown only once.
func (c serveCommand) Run(ctx context.Context, p program) error {
	cfg, l, err := c.listen(p.environ)
	if err != nil {
		return err
	}
	defer l.Close()
	pages, err := listenHostedPages(cfg, l)
	if err != nil {
		return err
	}
	if pages != nil {
		defer pages.Close()
	}
	internal, err := listenTelemetry(cfg.Telemetry)
	if err != nil {
		return err
	}
	defer closeAll(internal)
	log := newLog(p.stderr, cfg.Log)
	certificates, err := tlsConfig(cfg)
	if err != nil {
		return err
	}
	warnOfConfiguration(log, cfg)
	cfg.Mail.KeepInMemory = c.Try && cfg.Mail.Host == "" && hasLocalURL(cfg)
	h, err := waitForApp(ctx, cfg, log)
	if err != nil {
		return startError(ctx, log, err)
	}
	defer h.close()
	if err := h.checkOnlyServer(ctx, l.Addr()); err != nil {
		return startError(ctx, log, err)
	}
	folder, err := c.prepareStore(ctx, p, h, l.Addr())
	if err != nil {
		return startError(ctx, log, err)
	}
	if err := recordAddress(cfg, l.Addr()); err != nil {
		log.Warn("commands on this machine need --config or --server, because the address of the server cannot be recorded", "error", err)
	}
	log.Info("listening", "addr", l.Addr().String(), "url", cfg.Server.PublicURL)
	if h.open != nil {
		log.Warn("the API accepts programs on this machine without a token, with all permissions, until a user has the role Administrator; create one with `postern bootstrap`", "variable", skipVariable)
	}
	p.printWelcome(h, c.Try)

	manager := newSupervisor(p.environ, log)
	defer context.AfterFunc(ctx, func() { manager.notify("STOPPING=1") })()
	ctx, stop := context.WithCancel(h.drain(ctx))
	handler := h.handler() // before other tasks need the processors
	upkeep := c.startMaintenance(ctx, h, folder)
	upkeep.Go(func() { manager.notifyWatchdog(ctx, newProbe(l.Addr().String(), certificates != nil)) })
	manager.notify("READY=1")
	err = h.serve(ctx, handler, certificates, l, pages, internal)
	stop() // Serve may end by itself, and then the maintenance must end too
	upkeep.Wait()
	h.sealRecorded()
	return err
}

// startError returns the error of a start; nil if the server was stopped, which is no failure. The log
// contains the error, because it may have another cause.
func startError(ctx context.Context, log *slog.Logger, err error) error {
	if ctx.Err() == nil {
		return err
	}
	log.Info("stopped before the server was ready", "error", err)
	return nil
}

// prepareStore seeds an empty store and stores the flows of the folder.
func (c serveCommand) prepareStore(ctx context.Context, p program, h *app, l net.Addr) (flowFolder, error) {
	if err := h.checkSinks(); err != nil {
		return flowFolder{}, err
	}
	if c.Checker != "" {
		admin := console.New(console.Options{PublicURL: h.cfg.Server.PublicURL, Checker: c.Checker})
		h.pages["/console"], h.pages["/console/"] = admin, admin
	}
	folder, documents, err := c.flows(p, h)
	if err != nil {
		return flowFolder{}, err
	}
	if err := c.seedEmptyStore(ctx, p, h, l); err != nil {
		return flowFolder{}, err
	}
	if err := c.showTry(ctx, h); err != nil {
		return flowFolder{}, err
	}
	if err := folder.storeFlows(ctx, documents); err != nil {
		return flowFolder{}, err
	}
	return folder, h.tokens.Prepare(ctx)
}

// reportPause is how long the reports wait after a start. They take longer than the start itself, and
// the first requests do not wait for them.
const reportPause = 200 * time.Millisecond

// startMaintenance starts the background tasks, which run until ctx is done.
func (c serveCommand) startMaintenance(ctx context.Context, h *app, folder flowFolder) *sync.WaitGroup {
	upkeep := new(sync.WaitGroup)
	upkeep.Go(func() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(reportPause):
		}
		h.reportBrokenFlows(ctx)
		h.reportMisfits(ctx)
		h.reportOtherRelyingParties(ctx)
		h.reportChains(ctx)
		releaseStartMemory()
	})
	upkeep.Go(func() { h.sweepExpired(ctx) })
	upkeep.Go(func() { h.maintainKeys(ctx) })
	upkeep.Go(func() { h.sealEvents(ctx) })
	for _, sink := range h.eventSinks() {
		upkeep.Go(func() { h.forwardEvents(ctx, sink) })
	}
	upkeep.Go(func() { h.deliveryQueue().Run(ctx) })
	if c.Dev {
		upkeep.Go(func() { folder.watch(ctx) })
	}
	return upkeep
}

// seedEmptyStore seeds an empty store, or leaves that to a bootstrap over the open API.
func (c serveCommand) seedEmptyStore(ctx context.Context, p program, h *app, l net.Addr) error {
	skip, err := skipsSecurity(p.environ)
	if err != nil {
		return err
	}
	if !skip {
		admin, err := h.seedStore(ctx, p.environ)
		if err != nil {
			return err
		}
		p.printAdmin(admin)
		return bootstrap.Refresh(ctx, h.directory, h.cfg.Server.PublicURL)
	}
	if c.Try {
		return fmt.Errorf("--try needs a store that is bootstrapped: start without %s", skipVariable)
	}
	gate, err := newOpenAccess(ctx, h, l)
	if err != nil {
		return err
	}
	h.open = gate.open
	return nil
}

// showTry serves the try-it page, and creates the clients of the examples. Without --try it hides the
// applications that an earlier --try may have left in the store: their sign-up is open.
func (c serveCommand) showTry(ctx context.Context, h *app) error {
	if !c.Try {
		h.applications = filteredApplications{h.applications, isForTrying,
			"the application %q exists only while the server runs with --try"}
		return nil
	}
	h.pages["/try/"] = examples.Try(bootstrap.TryID, h.cfg.Mail.KeepInMemory)
	h.pages["/try"] = http.RedirectHandler("/try/", http.StatusPermanentRedirect)
	if h.cfg.Mail.KeepInMemory {
		h.mailbox = mail.NewMailbox(h.languages)
		h.pages["/try/mail"] = localOnly(h.mailbox)
	}
	if err := bootstrap.EnsureTry(ctx, h.directory, h.cfg.Server.PublicURL); err != nil {
		return err
	}
	return bootstrap.EnsureExamples(ctx, h.directory)
}

// isForTrying reports whether an application is one that --try creates.
func isForTrying(a *schemas.Application) bool {
	return slices.Contains([]string{bootstrap.TryID, bootstrap.ExamplesID, bootstrap.ExampleToolsID, bootstrap.ExampleReactID}, a.ID)
}

// flows reads the folder of flows; it returns no documents if none is configured.
func (c serveCommand) flows(p program, h *app) (flowFolder, []*schemas.Document, error) {
	f := flowFolder{dir: cmp.Or(c.Flows, h.cfg.Flow.Dir), app: h, program: p}
	if f.dir == "" {
		if c.Dev {
			return f, nil, errors.New("--dev watches a folder of flows: set it with --flows, or with flow.dir in the configuration")
		}
		return f, nil, nil
	}
	f.lastFingerprint = f.fingerprint()
	documents, err := f.read()
	return f, documents, err
}

// listen loads the configuration and listens. If --listen sets another port, values that
// default from server.port (the public URL, the origin of passkeys) follow the actual port.
func (c serveCommand) listen(environ []string) (*config.Config, net.Listener, error) {
	cfg, err := config.Load(c.Config, environ)
	if err != nil {
		return nil, nil, err
	}
	addr := cmp.Or(c.Listen, cfg.Server.Listen)
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, nil, fmt.Errorf("--listen %q: expected host:port, such as 127.0.0.1:8090", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, nil, listenError(addr, err)
	}
	named := c.Listen != "" || strings.HasSuffix(cfg.Server.Listen, ":0")
	if port := l.Addr().(*net.TCPAddr).Port; named && port != cfg.Server.Port {
		cfg, err = config.Load(c.Config, append(slices.Clone(environ), fmt.Sprintf("POSTERN_SERVER_PORT=%d", port)))
	}
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	return cfg, l, nil
}

// listenError adds to an error of net.Listen how to fix it.
func listenError(addr string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is in use by another program, perhaps another Postern: stop it, or choose another port with --listen or POSTERN_SERVER_PORT", addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%w: %s is not an address of this machine; set server.listen, or --listen, to one that is", err, addr)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: this user may not use the port; choose one above 1023, or grant the program CAP_NET_BIND_SERVICE", err)
	}
	return err
}

// newLog writes structured lines to w. They never contain secrets or personal data.
func newLog(w io.Writer, c config.Log) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // config.Load has checked it
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		options.ReplaceAttr = inSeconds
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// inSeconds gives a duration its unit, which JSON lacks: "duration" becomes "durationSeconds".
func inSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key+"Seconds", a.Value.Duration().Seconds())
	}
	return a
}

// tlsConfig returns nil for plain HTTP.
func tlsConfig(cfg *config.Config) (*tls.Config, error) {
	if cfg.Server.HTTPOnly {
		return nil, nil
	}
	return server.Certificate(server.CertificateOptions{
		CertFile: cfg.TLS.CertFile, KeyFile: cfg.TLS.KeyFile,
		DataDir: cfg.DataDir, Hostname: cfg.Server.Hostname, Now: time.Now(),
	})
}

// printWelcome prints where to go next.
func (p program) printWelcome(h *app, try bool) {
	url := h.cfg.Server.PublicURL
	fmt.Fprintf(p.stdout, "\nPostern %s serves %s\n", version, url)
	fmt.Fprintf(p.stdout, "  administer it:        %s/console\n", url)
	if try {
		fmt.Fprintf(p.stdout, "  sign up as a user:    %s/try/\n", url)
	}
	if h.mailbox != nil {
		fmt.Fprintf(p.stdout, "  read sent mail:       %s/try/mail\n", url)
	}
	fmt.Fprintln(p.stdout)
}

// printAdmin prints the administrator of a store that was just seeded. A generated password
// is shown only this once and stored only as a hash.
func (p program) printAdmin(admin *bootstrap.Admin) {
	switch {
	case admin == nil:
		if lookupEnv(p.environ, "ADMIN_PASSWORD") != "" {
			fmt.Fprintln(p.stdout, "The store already has an administrator; ADMIN_USERNAME and ADMIN_PASSWORD apply to an empty store only.")
		}
	case admin.Password == "":
		fmt.Fprintf(p.stdout, "\n  administrator:  %s, with the password in ADMIN_PASSWORD\n", admin.Username)
	default:
		fmt.Fprintf(p.stdout, "\n  administrator:  %s\n  password:       %s   (shown once: save it)\n", admin.Username, admin.Password)
	}
	if admin != nil {
		fmt.Fprintln(p.stdout, "  next:           sign in to the console and add a passkey; sensitive changes then need it")
	}
}

// getenv returns the value of an environment variable.
func (p program) getenv(name string) string { return lookupEnv(p.environ, name) }

// lookupEnv returns the value of an environment variable.
func lookupEnv(environ []string, name string) string {
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
