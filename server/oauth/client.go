package oauth

import (
	"cmp"
	"slices"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/postern-id/postern/schemas"
)

// client adapts an application with an OAuth configuration to op.Client.
type client struct {
	*schemas.Application
	oauth *schemas.OAuthProfile
}

// GetID returns the client id.
func (c *client) GetID() string { return c.ClientID }

// RedirectURIs returns the registered ones, which must match exactly.
func (c *client) RedirectURIs() []string { return c.oauth.RedirectURIs }

// PostLogoutRedirectURIs returns the registered ones.
func (c *client) PostLogoutRedirectURIs() []string { return c.oauth.PostLogoutRedirectURIs }

// ApplicationType decides which redirect URIs op accepts.
func (c *client) ApplicationType() op.ApplicationType {
	switch c.Type {
	case schemas.SinglePageApp:
		return op.ApplicationTypeUserAgent
	case schemas.MobileApp:
		return op.ApplicationTypeNative
	}
	return op.ApplicationTypeWeb
}

// AuthMethod returns the client's authentication method.
func (c *client) AuthMethod() oidc.AuthMethod {
	return oidc.AuthMethod(cmp.Or(c.oauth.TokenEndpointAuthMethod, schemas.AuthMethodBasic))
}

// ResponseTypes returns the registered ones.
func (c *client) ResponseTypes() []oidc.ResponseType {
	return convert[oidc.ResponseType](c.oauth.ResponseTypes)
}

// GrantTypes returns the registered ones.
func (c *client) GrantTypes() []oidc.GrantType { return convert[oidc.GrantType](c.oauth.GrantTypes) }

// LoginURL is unused: Postern starts the sign-in itself.
func (c *client) LoginURL(string) string { return "" }

// AccessTokenType states that access tokens are JWTs.
func (c *client) AccessTokenType() op.AccessTokenType { return op.AccessTokenTypeJWT }

// IDTokenLifetime returns the configured one; zero for the server's.
func (c *client) IDTokenLifetime() time.Duration {
	return seconds(c.oauth.Token.IDToken.ValidityPeriod)
}

// DevMode would relax the rules for redirect URIs: never.
func (c *client) DevMode() bool { return false }

// RestrictAdditionalIdTokenScopes restricts nothing: scopes are decided earlier.
func (c *client) RestrictAdditionalIdTokenScopes() func([]string) []string { return unrestrictedScopes }

// RestrictAdditionalAccessTokenScopes restricts nothing: see RestrictAdditionalIdTokenScopes.
func (c *client) RestrictAdditionalAccessTokenScopes() func([]string) []string {
	return unrestrictedScopes
}

// IsScopeAllowed reports whether a non-standard scope is registered.
func (c *client) IsScopeAllowed(scope string) bool { return slices.Contains(c.oauth.Scopes, scope) }

// IDTokenUserinfoClaimsAssertion puts the profile into ID tokens, where browser clients read it.
func (c *client) IDTokenUserinfoClaimsAssertion() bool { return true }

// mayGrant reports whether the client is registered for a grant type.
func (c *client) mayGrant(grant string) bool { return slices.Contains(c.oauth.GrantTypes, grant) }

// ClockSkew is the tolerated clock difference.
func (c *client) ClockSkew() time.Duration { return 0 }

func unrestrictedScopes(scopes []string) []string { return scopes }

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

func convert[T ~string](texts []string) []T {
	converted := make([]T, len(texts))
	for i, text := range texts {
		converted[i] = T(text)
	}
	return converted
}

// accessTTL returns the lifetime of a client's access tokens.
func (p *Provider) accessTTL(c *client) time.Duration {
	if own := seconds(c.oauth.Token.AccessToken.ValidityPeriod); own > 0 {
		return own
	}
	return p.Tokens.AccessTTL()
}
