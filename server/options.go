package server

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/document"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/recent"
	"github.com/postern-id/postern/internal/telemetry"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/internal/translations"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
	"github.com/postern-id/postern/server/runs"
)

// Options configures the handlers. It is set before New and only read afterwards.
type Options struct {
	// PublicURL is the server's base URL, without a trailing slash. It is the audience of the
	// tokens that the API accepts and issues.
	PublicURL string
	// AccountPage is the page where users manage their credentials, "" for none.
	AccountPage string
	// Languages are the languages of the texts of steps; nil means the built-in ones.
	Languages *translations.Catalog
	// Service is the name and the logo of the service on hosted pages.
	Service schemas.Brand
	// Brand returns the name and the logo of an organization unit or of the nearest one above, nil
	// if none has a logo. Nil: all pages show those of the service.
	Brand func(ctx context.Context, unitID string) (*schemas.Brand, error)
	// AccountApplication is the application of sign-ins for the account page, "" for none.
	AccountApplication string
	// AllowedOrigins are the origins (scheme://host[:port]) that can call the API:
	// cors.allowed_origins.
	AllowedOrigins []string
	// OriginTrust returns how far an origin of a registered client is trusted. A trusted one can
	// call the endpoints of flows, where it also runs passkey ceremonies. The endpoints of single
	// ceremonies accept only AllowedOrigins. Nil: none is trusted.
	OriginTrust func(ctx context.Context, origin string) oauth.OriginTrust

	Runs     *runs.Starter
	Passkeys *passkey.Ceremonies
	Store    PasskeyStore
	Tokens   Tokens
	// Keys are the signing keys. Nil: the API does not manage them.
	Keys SigningKeys
	// Settings returns those of the configuration, without secrets. Nil: none.
	Settings func() []config.Setting
	// OAuth is the authorization server. Nil: none.
	OAuth *oauth.Provider
	// Tools is the MCP server. Nil: none.
	Tools Tools
	// Directory contains the resources. Nil: none.
	Directory *directory.Directory
	// Factors offers second factors to users of the account page.
	Factors FactorEnrollment
	// Audit is the audit log.
	Audit AuditLog
	// VerifyAudit verifies a part of the audit log after an end that an earlier call returned, and
	// compares it with an expected one; both are NUMBER:HASH, or "" for none. Nil: it cannot be
	// verified.
	VerifyAudit func(ctx context.Context, after, expect string) (*schemas.LogVerification, error)
	// Open reports whether the API is in open mode, where requests without a token may do
	// everything. Nil: never.
	Open func(ctx context.Context) bool
	// DecoySecret keys the decoys of users who do not exist: 32 random bytes, the same on every
	// instance for the lifetime of the store. Nil: generated for this process.
	DecoySecret []byte
	// PasskeyFlow is the flow that POST /auth/passkey/finish completes.
	PasskeyFlow *engine.Graph
	// SessionTTL is the lifetime of a passkey session token; zero means passkey.DefaultTimeout.
	SessionTTL time.Duration

	// Repeats limits the audit events that callers can repeat; nil for no limit.
	Repeats *throttle.Repeats
	// Throttle limits anonymous requests, and records for the password pool where a request came
	// from. Nil: no limits.
	Throttle *throttle.Throttle
	// Devices seals the device cookies, so that guesses from elsewhere do not lock users out. Nil:
	// no device is known.
	Devices throttle.Sealer
	// Proxies are the trusted proxies.
	Proxies throttle.Proxies

	// SessionUsed returns when an application with an idle timeout last used a session; zero if it has not.
	// Nil means that no application has.
	SessionUsed func(ctx context.Context, sessionID, applicationID string) (time.Time, error)

	// Checks must pass for the server to be ready.
	Checks []Check
	// Pages are further handlers. A key that ends in a slash matches every path below it; any other
	// key, and "/", matches only itself. Longer keys match first, after the API. A page sets its
	// own Cache-Control and Content-Security-Policy.
	Pages map[string]http.Handler

	// Telemetry counts and traces requests. Nil: neither.
	Telemetry *telemetry.Telemetry
	// Log receives one line for each request and each failure. Nil: no log.
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// PasskeyStore is the store of the passkey endpoints.
type PasskeyStore interface {
	// User fails with the code user_not_found.
	User(ctx context.Context, id string) (*schemas.User, error)
	// Credentials returns the passkeys of a user.
	Credentials(ctx context.Context, userID string) ([]schemas.Credential, error)
	// PutPasskeySession replaces an older session of the same owner and ceremony.
	PutPasskeySession(ctx context.Context, p schemas.PasskeySession) error
	// TakePasskeySession removes and returns the session: of several concurrent calls one gets it.
	// It fails with the code stale_session_token.
	TakePasskeySession(ctx context.Context, tokenHash []byte, now time.Time) (*schemas.PasskeySession, error)
	// Apply commits all changes or none.
	Apply(ctx context.Context, changes []schemas.Change) error
}

// FactorEnrollment offers second factors; nodes.Enrollment implements it. A token that is invalid,
// expired or another user's is stale_session_token, Class Invalid.
type FactorEnrollment interface {
	OfferTOTP(u *schemas.User, now time.Time) (schemas.TOTPOffer, error)
	AcceptTOTP(userID, token, code string, now time.Time) (*schemas.TOTP, error)
	OfferRecoveryCodes(userID string, now time.Time) schemas.RecoveryCodesOffer
	AcceptRecoveryCodes(userID, token string, now time.Time) ([][]byte, error)
}

// Tokens verifies the tokens of callers.
type Tokens interface {
	// Verify checks the token's signature, issuer, expiry and audience. An invalid token is an
	// error of class Unauthenticated.
	Verify(ctx context.Context, raw, audience string) (*token.Claims, error)
}

// AuditLog reads events, and numbers about them.
type AuditLog interface {
	Events(ctx context.Context, q schemas.EventQuery) ([]schemas.Event, error)
	// EventPage is Events with a bounded cost. more, unless zero, is where the next page begins.
	EventPage(ctx context.Context, q schemas.EventQuery) (list []schemas.Event, more schemas.EventKey, err error)
	// EventCounts returns the numbers of events by step, action and reason.
	EventCounts(ctx context.Context, from, to time.Time, step time.Duration) ([]schemas.EventCount, error)
	// QueuedDeliveries describes the queue of deliveries.
	QueuedDeliveries(ctx context.Context) ([]schemas.QueuedDeliveries, error)
}

// server is the state of the handlers.
type server struct {
	Options
	public  *url.URL        // PublicURL
	origin  string          // of the server's own pages, "" if PublicURL has none
	base    string          // the path of PublicURL: "" unless the server is a part of a site
	allowed map[string]bool // AllowedOrigins
	paths   []string        // of the API, except those with variables
	proxied sync.Once       // the warning about an unknown proxy

	documents func() (apiDocuments, error)
	metas     recent.Map[metaKey, *document.Document] // of GET /flow/meta
	latency   latencies

	checks   []*heldCheck // of readiness
	checking singleflight.Group
}

// New returns the handler of the whole server.
func New(o Options) http.Handler {
	if o.SessionTTL == 0 {
		o.SessionTTL = passkey.DefaultTimeout
	}
	if o.DecoySecret == nil {
		o.DecoySecret = make([]byte, 32)
		rand.Read(o.DecoySecret) // never fails
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	public, err := url.Parse(o.PublicURL)
	if err != nil {
		public = &url.URL{}
	}
	s := &server{Options: o, public: public, base: strings.TrimSuffix(public.EscapedPath(), "/"), allowed: map[string]bool{}}
	if public.Host != "" {
		s.origin = public.Scheme + "://" + public.Host
	}
	for _, origin := range o.AllowedOrigins {
		s.allowed[origin] = true
	}
	s.metas.Limit, s.checks = maxMetas, newHeldChecks(o.Checks)
	s.documents = sync.OnceValues(s.describeAPI)
	return s.observe(setSecurityHeaders(s.recoverPanic(s.router()), isPublicHTTPS(public)))
}

// now returns the current time with the precision of the stores.
func (s *server) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }
