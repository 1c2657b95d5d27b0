package oauth

import (
	"context"
	"fmt"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// ClientCredentialsExchange is the grant of RFC 6749 §4.4: the client acts on its own behalf, so
// the token's subject is the client id (RFC 9068 §2.2). There is no refresh token (§4.4.3).
func (g *grants) ClientCredentialsExchange(ctx context.Context, r *op.ClientRequest[oidc.ClientCredentialsRequest]) (*op.Response, error) {
	c, ok := r.Client.(*client)
	if !ok {
		return nil, rejectWith(ctx, fmt.Errorf("the client is a %T", r.Client))
	}
	reply, err := g.provider.issueToClient(ctx, c, r.Form.Get(scopeParameter), r.Form[resourceParameter])
	if err != nil {
		return nil, rejectWith(ctx, err)
	}
	return op.NewResponse(reply), nil
}

func (p *Provider) issueToClient(ctx context.Context, c *client, scope string, resources []string) (*oidc.AccessTokenResponse, error) {
	granted, err := p.clientScope(ctx, c, scope)
	if err != nil {
		return nil, err
	}
	audience, err := p.audience(ctx, granted, resources)
	if err != nil {
		return nil, err
	}
	validity := min(p.accessTTL(c), schemas.MaxClientTokenTTL)
	raw, err := p.Tokens.Access(ctx, token.Access{
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
