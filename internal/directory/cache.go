package directory

import (
	"crypto/sha256"
	"sync"

	"github.com/postern-id/postern/schemas"
)

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
