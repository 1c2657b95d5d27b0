package oauth

import (
	"context"
	"fmt"
	"net/url"

	"github.com/zitadel/oidc/v3/pkg/oidc"

	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// issueToClient is the grant of RFC 6749 §4.4: the client acts on its own behalf, so the token's
// subject is the client id (RFC 9068 §2.2). There is no refresh token (§4.4.3).
func (p *Provider) issueToClient(ctx context.Context, c *client, form url.Values) (*oidc.AccessTokenResponse, error) {
	granted, err := p.clientScope(ctx, c, form.Get("scope"))
	if err != nil {
		return nil, err
	}
	audience, err := p.audience(ctx, granted, form["resource"])
	if err != nil {
		return nil, err
	}
	validity := min(p.accessTTL(c), schemas.MaxClientTokenTTL)
	raw, err := p.Tokens.Access(ctx, token.Claims{
		Subject: c.ClientID, ClientID: c.ClientID, Generation: c.TokenGeneration, Audience: audience, Scope: granted, Validity: validity,
	})
	if err != nil {
		return nil, fmt.Errorf("issuing an access token: %w", err)
	}
	if err := p.audit(ctx, c, granted, audience); err != nil {
		return nil, err
	}
	return &oidc.AccessTokenResponse{
		AccessToken: raw, TokenType: oidc.BearerToken, ExpiresIn: uint64(validity.Seconds()), Scope: granted,
	}, nil
}
