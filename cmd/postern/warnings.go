package main

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/directory"
)

// warnOfConfiguration logs settings that are allowed but probably unintended.
func warnOfConfiguration(log *slog.Logger, cfg *config.Config) {
	warnOfFiles(log, cfg)
	public, err := url.Parse(cfg.Server.PublicURL)
	if err == nil && !isLoopback(public.Hostname()) && !cfg.Server.HTTPOnly && cfg.TLS.CertFile == "" {
		log.Warn("the server is reached by a public name and has a self-signed certificate: browsers will warn, and clients refuse to connect; "+
			"set tls.cert_file and tls.key_file, or server.http_only behind a proxy that terminates TLS", "url", cfg.Server.PublicURL)
	}
	if cfg.GateClient.Port != 0 && cfg.GateClient.Port == cfg.Server.Port {
		log.Warn("gate_client.port is the server's own port, so it has no effect: the hosted pages are under /gate", "port", cfg.Server.Port)
	}
}

// warnOfFiles logs which files are in the wrong place or readable by others.
func warnOfFiles(log *slog.Logger, cfg *config.Config) {
	modes, _ := cfg.CheckSecretFiles() // errors are reported when the store is opened
	for _, warning := range append(modes, cfg.Warnings...) {
		log.Warn(warning)
	}
}

// rollingUpdateOverlap is how long instances may overlap during a rolling update before
// their number counts.
const rollingUpdateOverlap = 5 * time.Minute

// warnOfInstances logs once that more instances share the database than throttle.instances states:
// each instance admits its share of the limits.
func (h *app) warnOfInstances(ctx context.Context, started, now time.Time) {
	if h.warnedOfInstances || now.Sub(started) < rollingUpdateOverlap {
		return
	}
	n, err := h.store.Instances(ctx)
	if err == nil && n > h.cfg.Throttle.Instances {
		h.warnedOfInstances = true
		h.log.Warn("more instances than throttle.instances share this database, so clients get more attempts than intended: set it to their number",
			"instances", n, "throttle.instances", h.cfg.Throttle.Instances)
	}
}

// reportOtherRelyingParties logs a warning for each other relying party whose passkeys are stored: after a change
// of the id, their users cannot sign in with them.
func (h *app) reportOtherRelyingParties(ctx context.Context) {
	others, err := h.store.OtherRelyingParties(ctx, h.cfg.Passkey.RelyingPartyID)
	if err != nil && !errors.Is(err, context.Canceled) {
		h.log.ErrorContext(ctx, "cannot count the passkeys of other relying parties", "error", err)
	}
	for _, p := range others {
		h.log.WarnContext(ctx, "stored passkeys belong to another relying party, so sign-in pages cannot use them; "+otherRelyingPartyFix,
			"relyingParty", p.ID, "passkey.relying_party_id", h.cfg.Passkey.RelyingPartyID, "passkeys", p.Passkeys, "users", p.Users)
	}
}

// otherRelyingPartyFix describes what to do about passkeys of another relying party.
const otherRelyingPartyFix = "set passkey.relying_party_id back to the id that they were created with, or have their users sign in another way and add new ones; " +
	"ignore this if an application asks for that relyingPartyId itself"

// reportBrokenFlows logs a warning for each stored flow whose runs will fail. Other flows are
// not affected, so the server stays ready.
func (h *app) reportBrokenFlows(ctx context.Context) {
	err := h.directory.BrokenFlows(ctx, directory.SystemCall(), func(b directory.BrokenFlow) {
		first := b.Findings[0]
		h.log.WarnContext(ctx, "a stored flow breaks a rule of this release and cannot run; correct it and store it again", "flow", b.Flow.Handle, "type", string(b.Flow.FlowType), "id", b.Flow.ID,
			"at", first.Path, "finding", first.Message, "findings", len(b.Findings))
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		h.log.ErrorContext(ctx, "cannot check the stored flows", "error", err)
	}
}

// reportMisfits logs a warning for each stored flow whose sign-ups fail because it does not fit the
// user types.
func (h *app) reportMisfits(ctx context.Context) {
	err := h.directory.Misfits(ctx, directory.SystemCall(), func(flow, reason string) {
		h.log.WarnContext(ctx, "a stored flow does not fit the user types", "flow", flow, "finding", reason)
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		h.log.ErrorContext(ctx, "cannot compare the stored flows with the user types", "error", err)
	}
	settable, err := h.directory.SettableClaims(ctx, directory.SystemCall())
	if err != nil && !errors.Is(err, context.Canceled) {
		h.log.ErrorContext(ctx, "cannot look for claims that users can set", "error", err)
	}
	for _, c := range settable {
		if c.Authoritative {
			h.log.WarnContext(ctx, "users can set an authoritative claim of an application; "+c.Fix, "application", c.Application, "claim", c.Claim, "finding", c.Where)
		}
	}
}
