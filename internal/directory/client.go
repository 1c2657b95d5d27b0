package directory

import (
	"context"
	"sync"

	"github.com/postern-id/postern/schemas"
)

// Client returns the application that is the OAuth client with the id. Callers must not
// change it. For an unknown client the error is application_not_found, Class NotFound.
//
// The cache saves reading the columns of an unchanged application. Each call still checks
// that the application has not changed, so a change on another instance takes effect at
// once.
func (d *Directory) Client(ctx context.Context, clientID string) (*schemas.Application, error) {
	id, updated, err := d.store.ClientRevision(ctx, clientID)
	if err != nil {
		return nil, err
	}
	if known := d.clients.get(clientID); known != nil && known.ID == id && known.UpdatedAt.Equal(updated) {
		return known, nil
	}
	a, err := d.store.ApplicationByClientID(ctx, clientID)
	if err != nil {
		return nil, err
	}
	d.clients.put(a)
	return a, nil
}

// clientCache stores clients by client id. Callers must check that an entry is current.
type clientCache struct {
	mu   sync.RWMutex
	kept map[string]*schemas.Application
}

const maxClients = 1000

func (c *clientCache) get(clientID string) *schemas.Application {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.kept[clientID]
}

func (c *clientCache) put(a *schemas.Application) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= maxClients {
		c.kept = map[string]*schemas.Application{}
	}
	c.kept[a.ClientID] = a
}
