package directory

import (
	"context"
	"crypto/sha256"
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
	d.clients.put(clientID, a, maxClients)
	return a, nil
}

// The limits of the caches.
const (
	maxClients   = 1000
	maxUserTypes = 100
)

// cache is a bounded map for concurrent use. It starts over when it is full.
type cache[K comparable, V any] struct {
	mu      sync.RWMutex
	entries map[K]*V
}

// get returns the value of the key, nil if there is none.
func (c *cache[K, V]) get(key K) *V {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.entries[key]
}

func (c *cache[K, V]) put(key K, v *V, limit int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil || len(c.entries) >= limit {
		c.entries = map[K]*V{}
	}
	c.entries[key] = v
}

// compileType returns the compiled user type. The key of the cache is the definition, so
// entries need no invalidation.
func (d *Directory) compileType(t *schemas.UserType) (*schemas.CompiledUserType, error) {
	key := sha256.Sum256([]byte(t.Name + "\x00" + string(t.Schema)))
	if known := d.types.get(key); known != nil {
		return known, nil
	}
	compiled, err := schemas.CompileUserType(t)
	if err == nil {
		d.types.put(key, compiled, maxUserTypes)
	}
	return compiled, err
}
