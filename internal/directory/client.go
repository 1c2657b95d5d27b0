package directory

import (
	"context"
	"sync"

	"github.com/postern-id/postern/schemas"
)

// Client returns the application that is the OAuth client with the id. It is not
// to be changed. An unknown one is application_not_found, Class NotFound.
//
// What a client says of itself at the token endpoint is looked up anew each time,
// and so is whether it is as it was. Only the reading of all its columns, which
// takes longer than either, is saved if it is.
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

// clientCache keeps clients as they were read, by client id. Whoever takes one
// from it must know that it is not out of date.
type clientCache struct {
	mu   sync.RWMutex
	kept map[string]*schemas.Application
}

// maxClients is how many clients are kept.
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
