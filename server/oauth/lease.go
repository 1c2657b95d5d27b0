package oauth

import (
	"context"
	"time"

	"github.com/postern-id/postern/schemas"
)

// For how long a client is kept that anybody could register.
const (
	unusedTTL = 3 * 24 * time.Hour  // by nobody
	usedTTL   = 90 * 24 * time.Hour // since the last token
	askedTTL  = 2 * time.Hour       // since somebody was sent to sign in, at least
)

// keepFor has a client of nobody's be kept for a while from now on. It is written
// down only when that makes a difference.
func (p *Provider) keepFor(ctx context.Context, a *schemas.Application, ttl time.Duration) error {
	if a.Vouched() || p.Registration == nil {
		return nil
	}
	lease, err := p.Registration.Clients.ClientLease(ctx, a.ClientID)
	if until := p.now().Add(ttl); err == nil && lease != nil && lease.ExpiresAt.Before(until.Add(-ttl/10)) {
		err = p.Registration.Clients.ProlongLease(ctx, a.ID, until)
	}
	return err
}
