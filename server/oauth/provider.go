package oauth

import (
	"context"
	"crypto/rand"
	"net/http"
	"time"

	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/postern-id/postern/internal/jwtverify"
	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/schemas"
)

// Paths of the endpoints below the issuer.
const (
	AuthorizePath  = "/oauth2/authorize"
	CallbackPath   = "/oauth2/auth/callback"
	TokenPath      = "/oauth2/token"
	UserInfoPath   = "/oauth2/userinfo"
	ClaimsPath     = "/oauth2/claims"
	IntrospectPath = "/oauth2/introspect"
	RevokePath     = "/oauth2/revoke"
	RegisterPath   = "/oauth2/dcr/register"
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
	protocol       http.Handler         // zitadel/oidc, with libraryServer as its server
	unknownClient  *schemas.Application // its secret is compared if the client is unknown
	metadata       metadata
	auditedClients auditedClients
	origins        origins
	keys           jwtverify.Keys
	publicKeys     jwtverify.Keys // at addresses that must be public: see ClientAddresses
	fetches        fetchGroup
}

// New returns the authorization server.
func New(o Options) *Provider {
	if o.Now == nil {
		o.Now = time.Now
	}
	p := &Provider{Options: o, unknownClient: &schemas.Application{}}
	hash := make([]byte, 32)
	rand.Read(hash) // never fails
	p.unknownClient.InboundAuthConfig = []schemas.InboundAuth{{Config: schemas.OAuthProfile{TokenEndpointAuthMethod: schemas.AuthMethodBasic, SecretHash: hash}}}
	p.keys.Fetch = o.FetchKeys
	p.publicKeys.Fetch = func(ctx context.Context, uri string) ([]byte, error) {
		return o.FetchKeys(outbound.OnlyPublic(ctx), uri)
	}
	p.metadata = p.newMetadata()
	p.protocol = op.RegisterServer(&libraryServer{provider: p}, op.Endpoints{Token: op.NewEndpoint(TokenPath)},
		op.WithServerCORSOptions(nil)) // the HTTP server handles origins
	return p
}

// addresses decides which addresses of clients may be private.
func (p *Provider) addresses() ClientAddresses {
	return ClientAddresses{p.Documents, p.Clients.ClientExpiry}
}

// now returns the current time with the precision of the stores.
func (p *Provider) now() time.Time { return p.Now().UTC().Truncate(time.Millisecond) }
