package directory

import (
	"context"
	"time"

	"github.com/postern-id/postern/schemas"
)

// maxUnusedClients limits the self-registered clients without a sign-in. Beyond it, the oldest are
// deleted. The leases of these clients end within unusedClientLease: server/oauth/clientlifetime.go
// sets them to less than that before the first sign-in, and to more afterwards.
const (
	maxUnusedClients  = 2000
	unusedClientLease = 7 * 24 * time.Hour
)

// ClientExpiry returns the expiry of the client; nil if it has none.
func (d *Directory) ClientExpiry(ctx context.Context, clientID string) (*schemas.ClientExpiry, error) {
	return d.store.ClientExpiry(ctx, clientID)
}

// ExtendClientExpiry sets the expiry of a client to the given time, unless it is later already.
func (d *Directory) ExtendClientExpiry(ctx context.Context, applicationID string, until time.Time) error {
	return d.store.ExtendClientExpiry(ctx, applicationID, until)
}
