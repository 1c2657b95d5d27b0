package oauth

import (
	"context"
	"net/http"
	"time"

	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// Authorization is what the authorization endpoint works with, and all that comes
// of it: codes, refresh tokens, ID tokens, and browsers that are signed in.
type Authorization struct {
	Requests Requests
	Sessions Sessions
	Users    Users
	Consents Consents
	Tokens   UserTokens
	// RefreshKey is the key of the refresh tokens: 32 bytes that nobody else has,
	// and that stay the same.
	RefreshKey []byte
	// Gate is where people sign in, without a trailing slash.
	Gate string
}

// Requests keeps authorization requests and what comes of them. The store has
// them; what they promise, it says.
type Requests interface {
	CreateAuthRequest(ctx context.Context, r schemas.AuthRequest) error
	AuthRequest(ctx context.Context, id string) (*schemas.AuthRequest, error)
	AuthRequestByCode(ctx context.Context, codeHash []byte) (*schemas.AuthRequest, error)
	IssueCode(ctx context.Context, id string, codeHash []byte, expires, now time.Time) error
	RedeemCode(ctx context.Context, codeHash []byte, family *schemas.RefreshFamily, now, revoke time.Time) (replayed bool, err error)
	RefreshFamily(ctx context.Context, id string) (*schemas.RefreshFamily, error)
	RotateRefresh(ctx context.Context, r schemas.Rotation) (reused bool, err error)
	RedirectURIs(ctx context.Context) (vouched, others []string, err error)
	// Apply makes all the changes or none.
	Apply(ctx context.Context, changes []schemas.Change) error
}

// Sessions finds the sessions of browsers.
type Sessions interface {
	// SessionByToken returns nil if there is none.
	SessionByToken(ctx context.Context, hash []byte, now time.Time) (*schemas.Session, error)
	// Session returns the session with the id; nil if there is none.
	Session(ctx context.Context, id string) (*schemas.Session, error)
	// BindSession reports false if the session is gone, or has a token.
	BindSession(ctx context.Context, id string, hash []byte) (bool, error)
	TokenLive(ctx context.Context, t schemas.TokenRef) (bool, error)
}

// Consents finds what users agreed to; nil if they have agreed to nothing.
type Consents interface {
	Consent(ctx context.Context, userID, applicationID string) (*schemas.Consent, error)
}

// Users finds users. User fails with code user_not_found.
type Users interface {
	User(ctx context.Context, id string) (*schemas.User, error)
	// Permissions are what the user's roles grant.
	Permissions(ctx context.Context, userID string) ([]string, error)
}

// UserTokens issues ID tokens and checks what was issued.
type UserTokens interface {
	IDToken(ctx context.Context, t token.ID) (string, error)
	VerifyIDToken(ctx context.Context, raw string) (*token.IDClaims, error)
	Verify(ctx context.Context, raw, audience string) (*token.Claims, error)
	Inspect(ctx context.Context, raw string) (*token.Claims, error)
}

// Begin begins a run of the sign-in flow of the application that an authorization
// request is from, and binds it to that. The session is the browser's; nil if it
// has none that counts.
type Begin func(r *http.Request, a *schemas.AuthRequest, s *schemas.Session) (*schemas.Step, error)

// RequestTTL is how long an authorization request waits for the user to sign in.
const RequestTTL = 30 * time.Minute

// How long other things are good for.
const (
	codeTTL    = time.Minute
	refreshTTL = 30 * 24 * time.Hour // where the client does not say
	// lostReplyWindow is how long after a refresh token has been used it may be used
	// again, because the reply got lost.
	lostReplyWindow = 10 * time.Second
)

// hasAuthorizationEndpoint reports whether there is an authorization endpoint.
func (p *Provider) hasAuthorizationEndpoint() bool { return p.Authorization != nil }

// now is the current time, in the precision that every store keeps.
func (p *Provider) now() time.Time { return p.Now().UTC().Truncate(time.Millisecond) }
