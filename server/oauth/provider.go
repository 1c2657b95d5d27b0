package oauth

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/postern-id/postern/internal/jwtverify"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// Clients finds clients and their permissions.
type Clients interface {
	// Client returns the application with the client id and its OAuth configuration. If there is
	// none the error has Class NotFound.
	Client(ctx context.Context, clientID string) (*schemas.Application, error)
	// CheckSecret reports whether the secret is the client's. The time does not depend on the
	// result.
	CheckSecret(app *schemas.Application, secret string) bool
	// ClientScopes returns the scopes that the client may request on its own behalf.
	ClientScopes(ctx context.Context, app *schemas.Application) ([]string, error)
	// IsResource reports whether tokens can be requested for the resource server with the
	// identifier.
	IsResource(ctx context.Context, identifier string) (bool, error)
	// IsResourceServer reports whether the application is the client of the resource server with
	// the identifier.
	IsResourceServer(ctx context.Context, a *schemas.Application, identifier string) (bool, error)
}

// Tokens issues access tokens.
type Tokens interface {
	Access(ctx context.Context, a token.Access) (string, error)
	AccessTTL() time.Duration
	JWKS() []byte
}

// Options configures a Provider.
type Options struct {
	// Issuer is the server's public URL, without a trailing slash.
	Issuer  string
	Clients Clients
	Tokens  Tokens
	// Authorization is what sign-in needs. Nil: only client_credentials.
	Authorization *Authorization
	// KeyAuthentication is what private_key_jwt needs. Nil: not supported.
	KeyAuthentication *KeyAuthentication
	// Registration is what self-registration needs. Nil: not supported.
	Registration *Registration
	// Documents restricts clients with a metadata document.
	Documents DocumentPolicy
	// Record adds an event to the audit log together with its changes.
	Record func(ctx context.Context, e schemas.Event, changes ...schemas.Change) error
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Paths of the endpoints below the issuer.
const (
	AuthorizePath  = "/oauth2/authorize"
	CallbackPath   = "/oauth2/auth/callback"
	TokenPath      = "/oauth2/token"
	UserInfoPath   = "/oauth2/userinfo"
	IntrospectPath = "/oauth2/introspect"
	RevokePath     = "/oauth2/revoke"
	LogoutPath     = "/oauth2/logout"
	LogoutAlias    = "/oidc/logout"
	KeysPath       = "/oauth2/jwks"
	// OpenIDPath is the path of OpenID Connect Discovery.
	OpenIDPath = "/.well-known/openid-configuration"
	// ServerPath is the path of RFC 8414, and ResourcePath that of RFC 9728: for the API, and with
	// ToolsPath appended for the tools.
	ServerPath   = "/.well-known/oauth-authorization-server"
	ResourcePath = "/.well-known/oauth-protected-resource"
	ToolsPath    = "/mcp"
)

// Provider is the authorization server. Its methods are the endpoints.
type Provider struct {
	Options
	protocol          http.Handler         // op, with grants as its server
	isUntrustedClient *schemas.Application // its secret is checked for unknown clients
	metadata          metadata
	auditedClients    auditedClients
	origins           origins
	keys              jwtverify.Keys
	fetches           fetchGroup
}

// grants implements op.Server. Other methods are not supported.
type grants struct {
	op.UnimplementedServer
	provider *Provider
}

// New returns the authorization server.
func New(o Options) *Provider {
	if o.Now == nil {
		o.Now = time.Now
	}
	p := &Provider{Options: o, isUntrustedClient: unknownClient()}
	if o.KeyAuthentication != nil {
		p.keys.Fetch = o.KeyAuthentication.Fetch
	}
	p.metadata = p.newMetadata()
	p.protocol = op.RegisterServer(&grants{provider: p}, op.Endpoints{Token: op.NewEndpoint(TokenPath)},
		op.WithServerCORSOptions(nil)) // the HTTP server handles origins
	return p
}

// unknownClient is a client with a random secret.
func unknownClient() *schemas.Application {
	hash := make([]byte, 32)
	rand.Read(hash) // never fails
	return &schemas.Application{InboundAuthConfig: []schemas.InboundAuth{{Config: schemas.OAuthProfile{
		TokenEndpointAuthMethod: schemas.AuthMethodBasic, SecretHash: hash,
	}}}}
}

// Token is POST /oauth2/token.
func (p *Provider) Token(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache") // RFC 6749 §5.1, for caches older than Cache-Control
	if err := readForm(w, r, tokenParameters()); err != nil {
		return err
	}
	if err := p.checkGrantType(r.PostForm.Get(grantTypeParameter)); err != nil {
		return err
	}
	if !r.PostForm.Has(redirectParameter) {
		r.PostForm.Set(redirectParameter, noRedirect)
	}
	if err := checkCredentials(r); err != nil {
		return err
	}
	return p.handleWithLibrary(w, r)
}

// grantTypes lists the grants of the token endpoint.
func (p *Provider) grantTypes() []string {
	if !p.hasAuthorizationEndpoint() {
		return []string{schemas.GrantClientCredentials}
	}
	return []string{schemas.GrantAuthorizationCode, schemas.GrantRefreshToken, schemas.GrantClientCredentials}
}

// checkGrantType rejects grants that op knows and Postern does not support.
func (p *Provider) checkGrantType(name string) error {
	known := p.grantTypes()
	switch {
	case slices.Contains(known, name):
		return nil
	case name == "":
		return errorf(codeInvalidRequest, "the parameter grant_type is missing: expected %s", strings.Join(known, ", "))
	}
	return errorf(codeUnsupportedGrantType, "expected the grant_type %s, got %.100s", strings.Join(known, ", "), name)
}

// errRefused is passed to op in place of Postern's errors: see rejectWith.
var errRefused = oidc.ErrInvalidRequest()

// VerifyClient authenticates the client. An unknown one gets the same error as one with a wrong
// secret, after the same work.
func (g *grants) VerifyClient(ctx context.Context, r *op.Request[op.ClientCredentials]) (op.Client, error) {
	c, err := g.provider.authenticate(ctx, r.Data, triedBasic(r.Header))
	if err != nil {
		return nil, rejectWith(ctx, err)
	}
	return c, nil
}

func (p *Provider) authenticate(ctx context.Context, sent *op.ClientCredentials, basic bool) (*client, error) {
	if sent.ClientAssertion != "" {
		return p.authenticateByKey(ctx, sent)
	}
	if err := p.refreshInBackground(ctx, sent.ClientID); err != nil {
		return nil, err
	}
	app, err := p.Clients.Client(ctx, sent.ClientID)
	unknown := err != nil && schemas.AsError(err).Class == schemas.NotFound
	if err != nil && !unknown {
		return nil, err
	}
	if unknown || app.OAuth() == nil {
		app = p.isUntrustedClient
	}
	c := &client{app, app.OAuth()}
	if c.oauth.TokenEndpointAuthMethod == schemas.AuthMethodNone && sent.ClientSecret == "" {
		return c, nil
	}
	if !p.Clients.CheckSecret(app, sent.ClientSecret) {
		return nil, errClient(basic, "there is no such client, or this is not its secret")
	}
	used := schemas.AuthMethodPost
	if basic {
		used = schemas.AuthMethodBasic
	}
	if registered := c.oauth.TokenEndpointAuthMethod; registered != schemas.AuthMethodEither && used != registered {
		return nil, errMethod(basic, used, registered)
	}
	return c, nil
}
