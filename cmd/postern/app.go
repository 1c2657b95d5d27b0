package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/chains"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/federation"
	"github.com/postern-id/postern/internal/mail"
	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/password"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/target"
	"github.com/postern-id/postern/internal/telemetry"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/internal/translations"
	"github.com/postern-id/postern/mcp"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
	"github.com/postern-id/postern/server/console"
	"github.com/postern-id/postern/server/gate"
	"github.com/postern-id/postern/server/oauth"
	"github.com/postern-id/postern/server/runs"
)

// maxIssuerCheck is how long the creation of an identity provider waits for its metadata.
const maxIssuerCheck = 5 * time.Second

// app holds all built components. They are wired here only.
type app struct {
	cfg          *config.Config
	log          *slog.Logger
	telemetry    *telemetry.Telemetry // nil if off
	store        *store.Store
	runs         store.SealedRuns
	applications engine.Applications
	passkeys     *passkey.Ceremonies
	passwords    *password.Pool
	throttle     *throttle.Throttle
	pending      pending
	outbound     *outbound.Client
	federation   *federation.Client
	targets      *target.Targets
	tokens       *token.Issuer
	catalog      *flows.Catalog
	chains       *chains.Checker
	directory    *directory.Directory
	kinds        engine.Kinds
	passkeyFlow  *engine.Graph // of POST /auth/passkey/finish
	encryption   encryption
	chain        *store.EventChain
	audit        auditAlarm
	ciphers      ciphers
	sealer       delivery.Sealer
	languages    *translations.Catalog
	mailbox      *mail.Mailbox // nil unless mails are kept in memory
	pages        map[string]http.Handler
	open         func(context.Context) bool // whether the API is open to all; nil: never

	isServer          bool // whether this is a server and not a command
	draining          atomic.Bool
	warnedOfInstances bool
}

// openApp opens the store and builds the components on it.
func openApp(ctx context.Context, cfg *config.Config, log *slog.Logger) (*app, error) {
	return openAppFor(ctx, cfg, log, true)
}

// readLanguages returns the languages of pages and mails, with those of a folder if there is one.
func readLanguages(from config.GateClient) (*translations.Catalog, error) {
	c, err := translations.Builtin(), error(nil)
	if from.LanguagesDir != "" {
		if c, err = translations.Load(from.LanguagesDir); err != nil {
			return nil, fmt.Errorf("gate_client.languages_dir: %w", err)
		}
	}
	if c, err = c.WithDefault(from.DefaultLanguage); err != nil {
		return nil, fmt.Errorf("gate_client.default_language: %w", err)
	}
	return c, nil
}

// waitForApp is openApp, but waits for a database that is not reachable yet.
func waitForApp(ctx context.Context, cfg *config.Config, log *slog.Logger) (*app, error) {
	deadline := time.Now().Add(cfg.Database.StartupWait)
	for {
		h, err := openApp(ctx, cfg, log)
		if !schemas.HasCode(err, schemas.CodeStoreUnavailable) || cfg.Database.Driver == "sqlite" {
			return h, err
		}
		cause := schemas.AsError(err).Err
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("the database cannot be reached: %w", cause)
		}
		log.Warn("waiting for the database", "error", cause)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// openAppFor opens the store for a server, or for a short-lived command.
func openAppFor(ctx context.Context, cfg *config.Config, log *slog.Logger, serves bool) (*app, error) {
	if _, err := cfg.CheckSecretFiles(); err != nil {
		return nil, err
	}
	languages, err := readLanguages(cfg.GateClient)
	if err != nil {
		return nil, err
	}
	on := storeConfig(cfg.Database)
	if !serves {
		on.MaxWriteDuration = maxCommandDuration
	}
	var observed *telemetry.Telemetry
	if serves {
		observed = newTelemetry(cfg.Telemetry, log)
		on.Observe = observeStore(observed)
	}
	pages := make(chan map[string]http.Handler, 1)
	go func() { pages <- newPages(cfg, languages) }()
	s, err := store.Open(ctx, on)
	if err != nil {
		observed.Close()
		return nil, err
	}
	if !s.PreparesStatements() && cfg.Database.PreparedStatements == store.PrepareAuto {
		log.Info("a connection pooler is between the server and PostgreSQL: statements are not prepared", "key", "database.prepared_statements")
	}
	h := &app{cfg: cfg, log: log, languages: languages, telemetry: observed, store: s, isServer: serves, pages: <-pages}
	if err := h.build(ctx); err != nil {
		observed.Close()
		return nil, errors.Join(err, s.Close())
	}
	h.watch()
	return h, nil
}

// newPages returns the pages by their paths.
func newPages(cfg *config.Config, languages *translations.Catalog) map[string]http.Handler {
	hosted := gate.New(gate.Options{AccountApplicationID: bootstrap.ConsoleID, Languages: languages})
	admin := console.New(console.Options{PublicURL: cfg.Server.PublicURL})
	return map[string]http.Handler{
		"/gate": hosted, "/gate/": hosted, "/console": admin, "/console/": admin, schemasPath: schemaPages(),
	}
}

// storeConfig returns the location of the store.
func storeConfig(c config.Database) store.Config {
	return store.Config{Driver: c.Driver, DSN: c.DSN, Pool: c.Pool, ConnectionLifetime: c.ConnectionLifetime,
		PreparedStatements: c.PreparedStatements}
}

// handler returns the handler of the whole server.
func (h *app) handler() http.Handler {
	starter := &runs.Starter{Engine: h.flowEngine(), Catalog: h.catalog, Applications: h.applications}
	authorization := h.authorizationServer(starter)
	return h.readAhead(server.New(server.Options{
		PublicURL: h.cfg.Server.PublicURL, AccountPage: h.cfg.Server.PublicURL + "/gate/account", AccountApplication: bootstrap.ConsoleID, AllowedOrigins: h.cfg.CORS.AllowedOrigins,
		Languages: h.languages, Service: schemas.Brand{Name: h.cfg.Passkey.RelyingPartyName, LogoURL: h.cfg.Server.LogoURL}, Brand: h.store.Brand,
		Runs: starter, OAuth: authorization, OriginTrust: authorization.OriginTrust,
		Passkeys: h.passkeys, Store: boundedSessions{store.SealedSessions{Store: h.store, Box: h.ciphers.sessions, Log: h.log}, h.pending.passkeys}, Tokens: countedTokens{h.tokens, h.telemetry.Counted()}, Directory: h.directory, Audit: h.store, VerifyAudit: h.verifyAudit,
		Keys: h.tokens, Settings: h.cfg.Settings, Factors: nodes.Enrollment{Box: h.ciphers.factors, Name: h.cfg.Passkey.RelyingPartyName},
		Tools:       mcp.New(mcp.Options{PublicURL: h.cfg.Server.PublicURL, Version: version, Directory: h.directory, Kinds: h.kinds, Log: h.log}),
		PasskeyFlow: h.passkeyFlow, SessionTTL: h.cfg.Passkey.Timeout, DecoySecret: h.encryption.derived[purposeDecoys],
		Throttle: h.throttle, Repeats: h.pending.repeats, Devices: h.ciphers.devices, Proxies: trustedProxies(h.cfg.Server),
		SessionUsed: h.store.SessionUsed, Checks: h.readinessChecks(),
		Pages: h.pages, Telemetry: h.telemetry, Log: h.log, Open: h.open,
	}))
}

// readAhead lets the store read ahead for the requests that read an application more than once: see
// store.ReadAhead. The token endpoint reads more than the client only for a code or a refresh token;
// the registration of a passkey reads its whole account.
func (h *app) readAhead(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ahead := h.store.ReadAhead
		is := func(path string) bool { return strings.HasSuffix(r.URL.Path, path) } // also below the path of the public URL
		switch {
		case is("/flow/execute"), is("/auth/passkey/finish"):
			ahead = h.store.ReadPasskeysAhead
		case is(oauth.TokenPath):
			ahead = h.store.ReadGrantsAhead
		case is("/register/passkey/start"):
			ahead = h.store.ReadAccountsAhead
		}
		if ctx := ahead(r.Context()); ctx != r.Context() {
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}

// authorizationServer creates the handler of /oauth2.
func (h *app) authorizationServer(starter *runs.Starter) *oauth.Provider {
	documents := h.outbound.With(func(r *outbound.Rules) { r.MaxBytes = oauth.DocumentBytes })
	return oauth.New(oauth.Options{
		Issuer: h.cfg.Server.PublicURL, Gate: h.cfg.GateURL(),
		Clients: h.directory, Store: boundedRequests{h.store, h.pending.requests}, Tokens: countedTokens{h.tokens, h.telemetry.Counted()}, Observer: h.tokenObserver(), Runs: starter,
		RefreshKey: h.encryption.derived[purposeRefreshTokens], UseAssertion: h.store.UseClientAssertion,
		FetchKeys: h.fetch, FetchDocument: documents.Get, CheckPublic: h.outbound.CheckPublic, Documents: h.documentPolicy(), OpenRegistration: h.cfg.OAuth.DCR.Insecure,
		IgnoreUnsupported: h.cfg.OAuth.UnsupportedMetadata == "ignore",
		Unverified:        !h.cfg.Mail.Enabled(), SessionIdleTimeout: h.cfg.Token.SessionIdleTimeout,
		AdmitFetch: func(ctx context.Context) error { return h.throttle.AdmitFrom(ctx, throttle.Register) },
		Record: func(ctx context.Context, e schemas.Event, changes ...schemas.Change) error {
			e.TraceID = runs.TraceID(ctx)
			return h.pending.repeats.Commit(ctx, append(changes, schemas.RecordEvent{Event: e}), func(kept []schemas.Change) error { return h.store.Apply(ctx, kept) })
		},
	})
}

// close releases what openApp acquired.
func (h *app) close() {
	h.telemetry.Close()
	if !h.isServer {
		h.sealRecorded()
	}
	if err := h.store.Close(); err != nil {
		h.log.Error("cannot close the store", "error", err)
	}
}

// maxSealDuration is how long a process that ends waits for its events to be sealed.
const maxSealDuration = 5 * time.Second

// sealRecorded seals the events of this process: no server may run that would, and later they would look like
// events that were queued again.
func (h *app) sealRecorded() {
	select {
	case <-h.store.Recorded():
	default:
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxSealDuration)
	defer cancel()
	h.sealOnce(ctx)
}

// seedStore fills an empty store.
func (h *app) seedStore(ctx context.Context, environ []string) (*bootstrap.Admin, error) {
	admin := bootstrap.Admin{Username: lookupEnv(environ, "ADMIN_USERNAME"), Password: lookupEnv(environ, "ADMIN_PASSWORD")}
	made, err := bootstrap.Seed(ctx, h.directory, h.cfg.Server.PublicURL, admin)
	if err != nil {
		return nil, fmt.Errorf("seeding the empty store: %w", err)
	}
	return made, nil
}
