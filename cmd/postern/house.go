package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/password"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/server"
)

// house is everything built and wired. This is the only place that builds.
type house struct {
	cfg       *config.Config
	log       *slog.Logger
	store     *store.Store
	passkeys  *passkey.Ceremonies
	passwords *password.Pool
	tokens    *token.Issuer
	catalogue *flows.Catalogue
	engine    *engine.Engine
	pages     map[string]http.Handler
}

// openHouse opens the store and builds what stands on it.
func openHouse(ctx context.Context, cfg *config.Config, log *slog.Logger) (h *house, err error) {
	h = &house{cfg: cfg, log: log, pages: map[string]http.Handler{}}
	if h.store, err = store.Open(ctx, store.Config{Driver: cfg.Database.Driver, DSN: cfg.Database.DSN}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.store.Close())
		}
	}()
	kek, err := token.KeyEncryptionKey(cfg.DataDir, variable(cfg.Environ, "POSTERN_KEY_ENCRYPTION_KEY"))
	if err != nil {
		return nil, err
	}
	if h.tokens, err = token.New(ctx, h.store, kek, token.Options{Issuer: cfg.Server.PublicURL, AssertionTTL: time.Duration(cfg.Token.AssertionTTL)}); err != nil {
		return nil, err
	}
	if h.passkeys, err = passkey.New(passkeyConfig(cfg)); err != nil {
		return nil, err
	}
	h.passwords = password.New(password.Options{
		MemoryKiB: cfg.Password.MemoryKiB, Iterations: cfg.Password.Iterations,
		Workers: cfg.Password.Workers, Queue: cfg.Password.Queue,
	})
	h.catalogue = flows.NewCatalogue(h.store, nodes.Kinds(nodes.Deps{
		Users: h.store, Passwords: h.store, Credentials: h.store, Permissions: h.store,
		Hasher: h.passwords, Asserter: h.tokens, Ceremonies: h.passkeys,
		BaseURL: cfg.Server.PublicURL, DecoySecret: token.Derive(kek, "decoys", 32),
	}))
	h.engine = engine.NewEngine(engine.Engine{
		Runs: h.store, Graphs: h.catalogue, Applications: h.store,
		AuthenticationTTL: time.Duration(cfg.Flow.AuthenticationTTL),
		RegistrationTTL:   time.Duration(cfg.Flow.RegistrationTTL),
		MaxFailures:       cfg.Flow.MaxFailures,
		RequireToken:      cfg.Flow.RequireChallengeToken,
	})
	return h, nil
}

// passkeyConfig is the relying party as it is configured.
func passkeyConfig(cfg *config.Config) passkey.Config {
	c := cfg.Passkey
	return passkey.Config{
		Origins: c.AllowedOrigins, RPID: c.RelyingPartyID, RPName: c.RelyingPartyName, Timeout: time.Duration(c.Timeout),
		Policy: passkey.Policy{
			UserVerification: c.UserVerification, Attachment: c.Attachment, Attestation: c.AttestationFormats,
			SyncedPasskeys: c.SyncedPasskeys, CounterRegression: c.CounterRegression,
		},
	}
}

// handler is the whole server.
func (h *house) handler() http.Handler {
	return server.New(server.Options{
		PublicURL: h.cfg.Server.PublicURL, AllowedOrigins: h.cfg.CORS.AllowedOrigins,
		Engine: h.engine, Catalogue: h.catalogue, Applications: h.store,
		Passkeys: h.passkeys, Store: h.store, Tokens: h.tokens,
		SessionTTL: time.Duration(h.cfg.Passkey.Timeout),
		Checks: []server.Check{
			{Name: "store", Run: h.store.Ping},
			{Name: "keys", Run: func(context.Context) error { return h.tokens.Ready() }},
		},
		Pages: h.pages, Log: h.log,
	})
}

// close gives back what openHouse took.
func (h *house) close() {
	if err := h.store.Close(); err != nil {
		h.log.Error("closing the store", "error", err)
	}
}
