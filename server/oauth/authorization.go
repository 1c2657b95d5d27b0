package oauth

import (
	"context"
	"net/http"
	"time"

	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// Authorization is what the authorization endpoint and its tokens need: codes, refresh tokens, ID
// tokens and browser sessions.
type Authorization struct {
	Requests Requests
	Sessions Sessions
	Users    Users
	Consents Consents
	Tokens   UserTokens
	// RefreshKey is the key of refresh tokens: 32 secret bytes that do not change.
	RefreshKey []byte
	// Gate is the address of the hosted pages, without a trailing slash.
	Gate string
}

// Requests stores authorization requests and their results. The store implements it and documents
// the contracts.
type Requests interface {
	CreateAuthRequest(ctx context.Context, r schemas.AuthRequest) error
	AuthRequest(ctx context.Context, id string) (*schemas.AuthRequest, error)
	AuthRequestByCode(ctx context.Context, codeHash []byte) (*schemas.AuthRequest, error)
	IssueCode(ctx context.Context, id string, codeHash []byte, expires, now time.Time) error
	RedeemCode(ctx context.Context, codeHash []byte, family *schemas.RefreshFamily, now, revoke time.Time) (replayed bool, err error)
	RefreshFamily(ctx context.Context, id string) (*schemas.RefreshFamily, error)
	RotateRefresh(ctx context.Context, r schemas.Rotation) (reused bool, err error)
	RedirectURIs(ctx context.Context) (vouched, others []string, err error)
	// Apply commits all changes or none.
	Apply(ctx context.Context, changes []schemas.Change) error
}

// Sessions finds browser sessions.
type Sessions interface {
	// SessionByToken returns nil if there is none.
	SessionByToken(ctx context.Context, hash []byte, now time.Time) (*schemas.Session, error)
	// Session returns the session with the id; nil if there is none.
	Session(ctx context.Context, id string) (*schemas.Session, error)
	// BindSession reports false if the session is gone, or has a token.
	BindSession(ctx context.Context, id string, hash []byte) (bool, error)
	TokenLive(ctx context.Context, t schemas.TokenRef) (bool, error)
}

// Consents finds the consents of users; nil if there is none.
type Consents interface {
	Consent(ctx context.Context, userID, applicationID string) (*schemas.Consent, error)
}

// Users finds users. User fails with the code user_not_found.
type Users interface {
	User(ctx context.Context, id string) (*schemas.User, error)
	// Permissions returns the permissions of the user's roles.
	Permissions(ctx context.Context, userID string) ([]string, error)
}

// UserTokens issues ID tokens and verifies issued tokens.
type UserTokens interface {
	IDToken(ctx context.Context, t token.ID) (string, error)
	VerifyIDToken(ctx context.Context, raw string) (*token.Claims, error)
	Verify(ctx context.Context, raw, audience string) (*token.Claims, error)
	Inspect(ctx context.Context, raw string) (*token.Claims, error)
}

// Begin starts a run of the sign-in flow of the request's application, bound to the request. The
// session is the browser's; nil for none.
type Begin func(r *http.Request, a *schemas.AuthRequest, s *schemas.Session) (*schemas.Step, error)

// RequestTTL is how long an authorization request waits for the user to sign in.
const RequestTTL = 30 * time.Minute

// Lifetimes.
const (
	codeTTL    = time.Minute
	refreshTTL = 30 * 24 * time.Hour // unless the client sets one
	// lostReplyWindow is how long a used refresh token can be used again, because the reply was
	// lost.
	lostReplyWindow = 10 * time.Second
)

// hasAuthorizationEndpoint reports whether there is an authorization endpoint.
func (p *Provider) hasAuthorizationEndpoint() bool { return p.Authorization != nil }

// now returns the current time with the precision of the stores.
func (p *Provider) now() time.Time { return p.Now().UTC().Truncate(time.Millisecond) }
