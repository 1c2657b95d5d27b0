package oauth

import (
	"context"
	"time"

	"github.com/postern-id/postern/schemas"
)

// For how long a client is kept that anybody could register.
const (
	unusedTTL       = 3 * 24 * time.Hour  // by nobody
	usedTTL         = 90 * 24 * time.Hour // since the last token
	requestTTLAsked = 2 * time.Hour       // since somebody was sent to sign in, at least
)

// extendExpiry has a client of nobody's be kept for a while from now on. It is written
// down only when that makes a difference.
func (p *Provider) extendExpiry(ctx context.Context, a *schemas.Application, ttl time.Duration) error {
	if a.IsTrusted() || p.Registration == nil {
		return nil
	}
	expiry, err := p.Registration.Clients.ClientExpiry(ctx, a.ClientID)
	if until := p.now().Add(ttl); err == nil && expiry != nil && expiry.ExpiresAt.Before(until.Add(-ttl/10)) {
		err = p.Registration.Clients.ExtendClientExpiry(ctx, a.ID, until)
	}
	return err
}
