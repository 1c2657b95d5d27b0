package main

import (
	"context"
	"errors"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/chains"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/federation"
	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/internal/password"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/runs"
)

// build creates the components that need keys.
func (h *app) build(ctx context.Context) error {
	cfg := h.cfg
	h.applications = h.admittedApplications()
	err := h.loadEncryption(ctx)
	if err != nil {
		return err
	}
	if err := h.rememberEnd(ctx); err != nil {
		return err
	}
	if h.ciphers, err = newCiphers(&h.encryption); err != nil {
		return err
	}
	h.runs = store.SealedRuns{Store: h.store, Box: h.ciphers.runs, Log: h.log}
	h.sealer = delivery.Sealer{Box: h.ciphers.deliveries}
	if h.passkeys, err = newCeremonies(cfg, h.log); err != nil {
		return err
	}
	policy := passwordPolicy(cfg)
	h.passwords = newPasswords(cfg.Password)
	h.throttle = newThrottle(cfg, h.store, h.encryption.derived[purposeGuesses])
	h.pending = h.newPending()
	h.outbound = outbound.New(h.observedRules())
	// Identity providers have connections of their own: anonymous callers can use up those
	// of h.outbound, by naming slow addresses as their clients' documents and keys.
	h.federation = federation.New(outbound.New(h.observedRules()))
	if h.targets, err = h.newTargets(); err != nil {
		return err
	}
	definitions := nodes.Kinds(nodes.Deps{Targets: h.targets, NoMail: !cfg.Mail.Enabled()}) // to check flows, not to run them
	h.chains = &chains.Checker{Kinds: definitions, NoMail: !cfg.Mail.Enabled()}
	h.directory = h.newDirectory(definitions, policy)
	if h.tokens, err = h.newTokens(ctx); err != nil {
		return err
	}
	deps := nodes.Deps{
		Store: h.store, Directory: h.directory, Box: h.ciphers.factors, Name: cfg.Passkey.RelyingPartyName,
		Hasher: h.passwords, Policy: policy, Guesses: h.throttle, Mails: h.mailer(), Targets: h.targets, Asserter: h.tokens, Ceremonies: h.passkeys,
		ReleasesUnverified: func() bool { return !cfg.Mail.Enabled() }, Federation: h.federation, GateURL: cfg.GateURL(),
		KnowsBrowser: h.knowsBrowser(), RecognizesBrowser: throttle.RecognizesBrowser,
		BaseURL: cfg.Server.PublicURL, SessionTTL: cfg.Token.SessionTTL, SessionUsed: h.store.SessionUsed, DecoySecret: h.encryption.derived[purposeDecoys],
	}
	h.kinds, h.passkeyFlow = nodes.Kinds(deps), nodes.PasskeyFlow(deps, h.consoleFlow)
	h.catalog = flows.NewCatalog(h.store, h.kinds)
	return nil
}

// consoleFlow returns the application of the console and its sign-in flow: see nodes.Console.
func (h *app) consoleFlow(ctx context.Context) (*schemas.Application, *engine.Graph, error) {
	starter := runs.Starter{Catalog: h.catalog, Applications: h.applications}
	return starter.Published(ctx, bootstrap.ConsoleID, schemas.Authentication)
}

// newDirectory returns the directory, which checks flows with these kinds.
func (h *app) newDirectory(definitions engine.Kinds, policy password.Policy) *directory.Directory {
	cfg := h.cfg
	return directory.New(directory.Options{
		Store: h.store, Hasher: h.passwords, Passwords: policy, DigestKey: h.encryption.derived[purposeAudit], Box: h.ciphers.providers,
		PrivateUseSchemes: cfg.OAuth.DCR.PrivateUseSchemes, Mails: h.mailer(), InvitationPage: cfg.GateURL() + "/invitation",
		CheckFlow: func(text []byte, yaml bool, subflows schemas.Subflows) (*schemas.Flow, []schemas.Problem) {
			flow, _, problems := engine.CheckUsing(text, yaml, definitions, subflows)
			return flow, problems
		},
		Targets: h.targets.Names(), SendsMail: cfg.Mail.Enabled(),
		AttributeUses: func(f *schemas.Flow) schemas.AttributeUses {
			if g, _ := engine.CompileStored(f, definitions); g != nil {
				return g.AttributeUses()
			}
			return schemas.AttributeUses{} // a flow that cannot run is reported as such
		},
		FlowMethods: func(ctx context.Context, flowID string) []string {
			g, err := h.catalog.Active(ctx, flowID)
			if err != nil {
				return nil // BrokenFlows reports it
			}
			return g.Methods()
		},
		BuiltinFlows: bootstrap.FlowHandles(),
		CheckChains:  h.chains.NewWays, AnalyzeChains: h.chains.Report,
		IssuerFault: h.issuerFault,
		CheckStored: func(f *schemas.Flow) []schemas.Problem {
			_, problems := engine.CompileStored(f, definitions)
			return problems
		},
	})
}

// issuerFault returns what the metadata of an identity provider shows to be wrong with its issuer. A
// provider that cannot be reached may be added before it runs; the log then has a warning. Commands read
// no metadata: they may run where the provider cannot be reached.
func (h *app) issuerFault(ctx context.Context, issuer string) string {
	if !h.isServer {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, maxIssuerCheck)
	defer cancel()
	err := h.federation.CheckIssuer(ctx, issuer)
	if schemas.HasClass(err, schemas.Unavailable) {
		h.log.Warn("cannot reach a new identity provider: its issuer was not checked, and sign-ins will fail if its metadata has another", "issuer", issuer, "error", err, "cause", schemas.AsError(err).Err)
		return ""
	}
	if wrong, is := errors.AsType[*federation.Error](err); is {
		return wrong.Reason
	}
	return ""
}

// newTokens creates the token issuer. It reduces a token to the permissions that its subject still
// has.
func (h *app) newTokens(ctx context.Context) (*token.Issuer, error) {
	return token.New(ctx, h.store, h.encryption.newestKey(), token.Options{
		FormerKeys: h.encryption.keys[1:],
		Issuer:     h.cfg.Server.PublicURL, AssertionTTL: h.cfg.Token.AssertionTTL, AccessTTL: h.cfg.Token.AccessTTL,
		IDTokenTTL: h.cfg.Token.IDTokenTTL, KeyAge: h.cfg.Token.KeyAge, KeyPublish: h.cfg.Token.KeyPublish,
		Live: h.tokenLive,
	})
}

// newPasswords creates the pool that hashes passwords. Its queue serves networks in turn.
func newPasswords(c config.Password) *password.Pool {
	return password.New(password.Options{
		MemoryKiB: c.MemoryKiB, Iterations: c.Iterations,
		Workers: c.Workers, Queue: c.Queue,
		Source: func(ctx context.Context) password.Source {
			network := throttle.FromContext(ctx)
			return password.Source{Wide: network.Wide, Near: network.Near}
		},
	})
}

// flowEngine creates the engine that runs the flows.
func (h *app) flowEngine() *engine.Engine {
	c := h.cfg.Flow
	return engine.NewEngine(engine.Engine{
		Runs: boundedRuns{h.runs, h.pending}, Graphs: h.catalog, Applications: h.applications, Published: runs.Published(h.catalog),
		AuthRequest:       h.store.AuthRequest,
		AuthenticationTTL: c.AuthenticationTTL,
		RegistrationTTL:   c.RegistrationTTL,
		MaxFailures:       c.MaxFailures,
		RequireToken:      c.RequireChallengeToken,
		Log:               h.log,
		Observer:          runObserver{h.telemetry},
		Unanswered:        nodes.RefuseUnanswered(h.cfg.Server.PublicURL),
	})
}

// passwordPolicy returns the rules for new passwords.
func passwordPolicy(cfg *config.Config) password.Policy {
	return password.Policy{Minimum: cfg.Password.MinLength, Service: cfg.Passkey.RelyingPartyName}
}
