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
		return nil, errorf(codeInvalidClient, "the client_id is not that of a registered client; check it, and which server it is for")
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

// How long untrusted clients are stored.
const (
	unusedTTL       = 3 * 24 * time.Hour  // without a sign-in
	usedTTL         = 90 * 24 * time.Hour // after the last token
	requestTTLAsked = 2 * time.Hour       // after the start of a sign-in, at least
)

// extendExpiry extends the expiry of an untrusted client. It writes only if that makes a
// difference.
func (p *Provider) extendExpiry(ctx context.Context, a *schemas.Application, ttl time.Duration) error {
	if a.IsTrusted() {
		return nil
	}
	expiry, err := p.Clients.ClientExpiry(ctx, a.ClientID)
	if until := p.now().Add(ttl); err == nil && expiry != nil && expiry.ExpiresAt.Before(until.Add(-ttl/10)) {
		err = p.Clients.ExtendClientExpiry(ctx, a.ID, until)
	}
	return err
}
