package oauth

import (
	"context"
	"time"

	"github.com/postern-id/postern/schemas"
)

// How long untrusted clients are stored. internal/directory/unusedclients.go limits their number,
// and internal/store/unusedclients.go deletes them.
const (
	unusedClientTTL = 3 * 24 * time.Hour  // without a sign-in
	usedClientTTL   = 90 * 24 * time.Hour // after the last token
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
