package directory

import (
	"crypto/sha256"
	"sync"

	"github.com/postern-id/postern/schemas"
)

// typeCache caches compiled user types. The key is the definition, so entries need no
// invalidation.
type typeCache struct {
	mu       sync.Mutex
	compiled map[[sha256.Size]byte]*schemas.CompiledUserType
}

// maxUserTypes limits the cache.
const maxUserTypes = 100

// compile returns the compiled type.
func (c *typeCache) compile(t *schemas.UserType) (*schemas.CompiledUserType, error) {
	key := sha256.Sum256([]byte(t.Name + "\x00" + string(t.Schema)))
	c.mu.Lock()
	known := c.compiled[key]
	c.mu.Unlock()
	if known != nil {
		return known, nil
	}
	made, err := schemas.CompileUserType(t)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.compiled == nil || len(c.compiled) >= maxUserTypes {
		c.compiled = map[[sha256.Size]byte]*schemas.CompiledUserType{}
	}
	c.compiled[key] = made
	return made, nil
}
