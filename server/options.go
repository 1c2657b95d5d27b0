package server

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// Options is what the handlers work with. All of it is set before New and only
// read afterwards.
type Options struct {
	// PublicURL is the server's base URL, without a trailing slash. It is the
	// audience of the tokens that the API accepts and of those it gives out.
	PublicURL string
	// AccountPage is where people see to their own passkeys, "" for nowhere.
	AccountPage string
	// AllowedOrigins are the origins (scheme://host[:port], as browsers write
	// them) that may call the API across origins: cors.allowed_origins.
	AllowedOrigins []string
	// OriginTrust returns how far an origin is trusted as that of a registered client.
	// A trusted one may call the endpoints of flows, where it runs the passkey
	// ceremonies of its sign-in as well. It is not asked about the endpoints of single
	// ceremonies: those are open to AllowedOrigins alone. Nil: none is trusted.
	OriginTrust func(ctx context.Context, origin string) oauth.OriginTrust

	Engine       *engine.Engine
	Catalogue    Catalogue
	Applications engine.Applications
	Passkeys     *passkey.Ceremonies
	Store        PasskeyStore
	Tokens       Tokens
	// OAuth is the authorization server. Nil: there is none.
	OAuth *oauth.Provider
	// Tools is the tool server. Nil: there is none.
	Tools Tools
	// Directory is the resources. Nil: the API has none.
	Directory *directory.Directory
	// Audit is the audit log.
	Audit AuditLog
	// Open reports whether the API stands open: then a request without a token
	// may do everything. Nil: never.
	Open func(ctx context.Context) bool
	// DecoySecret keys the passkeys that are listed for users who do not exist: 32
	// random bytes, the same on every instance for as long as the store lasts. Nil: it
	// is made up, and good for this process.
	DecoySecret []byte
	// SessionTTL is how long a passkey session token may be used; zero means
	// passkey.DefaultTimeout.
	SessionTTL time.Duration

	// Throttle limits what can be flooded and tells the checks of passwords where
	// a request came from. Nil: nothing is limited.
	Throttle *throttle.Throttle
	// Devices seals what browsers keep of who signed in with them, so that wrong
	// guesses of others do not keep their people out. Nil: no device is known.
	Devices throttle.Sealer
	// Proxies are those that are believed when they say whom they speak for.
	Proxies throttle.Proxies

	// Checks must pass for the server to be ready.
	Checks []Check
	// Pages are further handlers. A key that ends in a slash takes every path
	// below it, any other only itself, and so does "/": what is nowhere is not
	// found. Longer keys go first, and the API before all. A page answers for its own Cache-Control and Content-Security-Policy.
	Pages map[string]http.Handler

	// Log takes one line for each request and each failure. Nil: nothing is
	// logged.
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Catalogue finds the flow that a new run follows.
type Catalogue interface {
	// Active returns the graph of the flow's active version.
	Active(ctx context.Context, flowID string) (*engine.Graph, error)
}

// Users finds users. User fails with code user_not_found.
type Users interface {
	User(ctx context.Context, id string) (*schemas.User, error)
	// Permissions are what the user's roles grant.
	Permissions(ctx context.Context, userID string) ([]string, error)
}

// Credentials finds passkeys. Credential fails with code credential_not_found.
type Credentials interface {
	Credentials(ctx context.Context, userID string) ([]schemas.Credential, error)
	Credential(ctx context.Context, id schemas.Bytes) (*schemas.Credential, error)
}

// PasskeySessions keeps the sessions of the atomic endpoints.
type PasskeySessions interface {
	// PutPasskeySession voids an older one of the same owner and ceremony.
	PutPasskeySession(ctx context.Context, p schemas.PasskeySession) error
	// TakePasskeySession burns the session as it returns it: of several takers
	// one gets it. It fails with code stale_session_token.
	TakePasskeySession(ctx context.Context, tokenHash []byte, now time.Time) (*schemas.PasskeySession, error)
}

// PasskeyStore is what the atomic passkey endpoints keep and find.
type PasskeyStore interface {
	Users
	Credentials
	PasskeySessions
	// Apply makes all the changes or none.
	Apply(ctx context.Context, changes []schemas.Change) error
}

// Tokens signs assertions and checks the tokens that callers bring.
type Tokens interface {
	Assert(ctx context.Context, a schemas.Assertion) (string, error)
	// AssertionTTL is how long an assertion is good for that does not say so.
	AssertionTTL() time.Duration
	// Verify checks the token's signature, issuer and expiry, and that it is
	// meant for the audience. A token that does not pass is an error of class
	// Unauthenticated.
	Verify(ctx context.Context, raw, audience string) (*token.Claims, error)
}

// AuditLog is where events are read.
type AuditLog interface {
	Events(ctx context.Context, q schemas.EventQuery) ([]schemas.Event, error)
}

// server is the state of the handlers: hardly any beside the options.
type server struct {
	Options
	base    string          // the path of PublicURL: "" unless the server is a part of a site
	allowed map[string]bool // AllowedOrigins
	paths   []string        // of the API, but for those with variables
	hsts    bool
	proxied sync.Once // the warning about an unknown proxy
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
	s := &server{Options: o, base: sitePath(o.PublicURL), allowed: map[string]bool{}, hsts: publicHTTPS(o.PublicURL)}
	for _, origin := range o.AllowedOrigins {
		s.allowed[origin] = true
	}
	return s.observe(s.setSecurityHeaders(s.recoverPanic(s.router())))
}

// now is the current time, in the precision that every store keeps.
func (s *server) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }
