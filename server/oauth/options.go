package oauth

import (
	"context"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// Options configures a Provider. All members but Unverified, Documents, OpenRegistration, IgnoreUnsupported and Now are required.
type Options struct {
	// Issuer is the server's public URL, without a trailing slash.
	Issuer string
	// Gate is the address of the hosted pages, without a trailing slash.
	Gate    string
	Clients Clients
	Store   Store
	Tokens  Tokens
	Runs    Runs
	// RefreshKey is the key of refresh tokens: 32 secret bytes that do not change.
	RefreshKey []byte
	// UseAssertion records that the client assertion with the hash is used, until it expires. It
	// reports false if it was used before, on any instance.
	UseAssertion func(ctx context.Context, hash []byte, expires time.Time) (first bool, err error)
	// FetchKeys reads the keys at a client's jwksUri.
	FetchKeys func(ctx context.Context, uri string) ([]byte, error)
	// FetchDocument fetches what else a client publishes.
	FetchDocument func(ctx context.Context, url string) (*outbound.Response, error)
	// CheckPublic rejects a URL that is outside the public internet. Nil accepts every one: it is
	// checked when it is used.
	CheckPublic func(url string) error
	// AdmitFetch limits the fetches of documents of unknown clients per caller. Its error is that
	// of the request.
	AdmitFetch func(ctx context.Context) error
	// Unverified releases mail addresses that are not verified: see schemas.User.Profile.
	Unverified bool
	// SessionIdleTimeout ends a session that its browser has not used for so long; 0 for none.
	SessionIdleTimeout time.Duration
	// Documents restricts clients with a metadata document.
	Documents DocumentPolicy
	// OpenRegistration permits registration at the endpoint without a token.
	OpenRegistration bool
	// IgnoreUnsupported registers clients that ask for protection that the server does not give, without it.
	// Otherwise they are refused.
	IgnoreUnsupported bool
	// Record adds an event to the audit log together with its changes.
	Record func(ctx context.Context, e schemas.Event, changes ...schemas.Change) error
	// Observer counts token requests and refused clients. Nil means none.
	Observer Observer
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Observer counts what clients do. Its methods must not block.
type Observer interface {
	// CountTokenRequest counts a request to the token endpoint: one of the supported grants, or
	// "other", and "issued" or an error code of RFC 6749 §5.2.
	CountTokenRequest(grant, result string)
	// CountRefusedClient counts a client that failed to authenticate by a method of RFC 7591 §2.
	CountRefusedClient(method string)
}

// Clients finds clients and their permissions, and stores those that register themselves. The
// directory implements it and documents the contracts of registration.
type Clients interface {
	// Client returns the application with the client id and its OAuth configuration. If there is
	// none the error has Class NotFound.
	Client(ctx context.Context, clientID string) (*schemas.Application, error)
	// CheckSecret reports whether the secret is the client's. The time does not depend on the
	// result.
	CheckSecret(app *schemas.Application, secret string) bool
	// ClientScopes returns the scopes that the client may request on its own behalf.
	ClientScopes(ctx context.Context, app *schemas.Application) ([]string, error)
	// IdentityScopes returns the scopes that need no permission for a client; nil is no particular one.
	IdentityScopes(ctx context.Context, o *schemas.OAuthProfile) ([]string, error)
	// Resource returns the registered identifier of the resource server for which tokens can be requested
	// with this spelling of it, "" if there is none: RFC 3986 §6.2.2.1 and §6.2.3.
	Resource(ctx context.Context, identifier string) (registered string, err error)
	// ServerClaims returns the resource servers with the identifiers that have claims: their handles and claims.
	ServerClaims(ctx context.Context, identifiers []string) ([]schemas.ResourceServer, error)
	// IsResourceServer reports whether the application is the client of the resource server with
	// the identifier.
	IsResourceServer(ctx context.Context, a *schemas.Application, identifier string) (bool, error)

	Register(ctx context.Context, c directory.Call, r directory.Registration) (*schemas.Application, error)
	RedirectFault(public bool, uri string) string
	KnownScopes(ctx context.Context, scopes []string) ([]string, error)
	ClientExpiry(ctx context.Context, clientID string) (*schemas.ClientExpiry, error)
	ExtendClientExpiry(ctx context.Context, applicationID string, until time.Time) error
}

// Store stores authorization requests and their results, and finds sessions, consents and users.
// The store implements it and documents the contracts.
type Store interface {
	// Assume returns the context of a request that assumes that its client has not changed. Confirm
	// must report that this is true before the request is answered.
	Assume(ctx context.Context) context.Context
	Confirm(ctx context.Context) (bool, error)

	AuthRequest(ctx context.Context, id string) (*schemas.AuthRequest, error)
	AuthRequestByCode(ctx context.Context, codeHash []byte) (*schemas.AuthRequest, error)
	// IssueCode reports whether the token of the code was stored: see BindSession.
	IssueCode(ctx context.Context, c schemas.IssuedCode) (r *schemas.AuthRequest, bound bool, err error)
	RedeemCode(ctx context.Context, r schemas.Redemption) (replayed bool, err error)
	RefreshFamily(ctx context.Context, id string) (*schemas.RefreshFamily, error)
	RotateRefresh(ctx context.Context, r schemas.Rotation) (reused bool, err error)
	RedirectURIs(ctx context.Context) (vouched, others []string, err error)
	// Apply commits all changes or none.
	Apply(ctx context.Context, changes []schemas.Change) error

	// SessionByToken and Session return nil if there is no such session.
	SessionByToken(ctx context.Context, hash []byte, now time.Time) (*schemas.Session, error)
	Session(ctx context.Context, id string) (*schemas.Session, error)
	// BrowserSession returns the session to sign out of: also one whose token has expired, or the newest
	// of the browser; nil if there is none.
	BrowserSession(ctx context.Context, hash []byte, browser string) (*schemas.Session, error)
	// BindSession reports false if the session is gone, or has a token.
	BindSession(ctx context.Context, t schemas.SessionToken) (bool, error)
	// UnbindSession takes the token from a session, which a browser did not receive.
	UnbindSession(ctx context.Context, t schemas.SessionToken) error
	// TouchSession records that the browser of a session was seen.
	TouchSession(ctx context.Context, id string, at time.Time) error

	// Consent returns nil if there is none.
	Consent(ctx context.Context, userID, applicationID string) (*schemas.Consent, error)
	// User fails with the code user_not_found.
	User(ctx context.Context, id string) (*schemas.User, error)
	// SessionUser also fails with user_not_found if the session has ended.
	SessionUser(ctx context.Context, sessionID, userID string) (*schemas.User, error)
	// ClaimFacts returns what claims state about a user besides the attributes.
	ClaimFacts(ctx context.Context, userID string) (*schemas.ClaimFacts, error)
	// RunValues returns the values of the run that answered an authorization request; nil if there are none.
	RunValues(ctx context.Context, requestID, sessionID string) (schemas.RunValues, error)
	// Permissions returns the permissions of the user's roles.
	Permissions(ctx context.Context, userID string) ([]string, error)
}

// Tokens issues and verifies tokens.
type Tokens interface {
	Access(ctx context.Context, a token.Claims) (string, error)
	AccessTTL() time.Duration
	IDToken(ctx context.Context, t token.Claims) (string, error)
	ClaimsDocument(ctx context.Context, t token.Claims) (string, error)
	VerifyIDToken(ctx context.Context, raw string) (*token.Claims, error)
	Verify(ctx context.Context, raw, audience string) (*token.Claims, error)
	Inspect(ctx context.Context, raw string) (*token.Claims, error)
	JWKS() []byte
}

// Runs starts runs of the flows of applications.
type Runs interface {
	Begin(ctx context.Context, applicationID string, t schemas.FlowType, inputs map[string]string, req engine.Request) (*schemas.Step, error)
}
