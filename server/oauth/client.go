package oauth

import (
	"context"
	"time"

	"github.com/postern-id/postern/schemas"
)

// client is an application with an OAuth configuration.
type client struct {
	*schemas.Application
	oauth *schemas.OAuthProfile
}

// findClient returns the client with the id.
func (p *Provider) findClient(ctx context.Context, id string) (*client, error) {
	if err := p.Documents.check(id); err != nil {
		return nil, err
	}
	app, err := p.Clients.Client(ctx, id)
	if err == nil && app.OAuth() != nil {
		return &client{app, app.OAuth()}, nil
	}
	if err == nil || schemas.HasClass(err, schemas.NotFound) {
		return nil, errorf(codeInvalidClient, "there is no registered client with this client_id; check the client_id and the server").refusing("client_id", id)
	}
	return nil, err
}

// isPublic reports whether the client has no means to authenticate.
func (c *client) isPublic() bool {
	return c.oauth.TokenEndpointAuthMethod == schemas.AuthMethodNone
}

// accessTTL returns the lifetime of a client's access tokens.
func (p *Provider) accessTTL(c *client) time.Duration {
	if own := seconds(c.oauth.Token.AccessToken.ValidityPeriod); own > 0 {
		return own
	}
	return p.Tokens.AccessTTL()
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }
