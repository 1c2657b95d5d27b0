package schemas

import (
	"crypto/sha256"
	"sync"
)

// maxAccepted limits how many values a schema remembers.
const maxAccepted = 2000

// acceptedValues remembers texts that a schema has accepted. A flow is checked at each keystroke, and
// the configurations of nearly all of its nodes are the same as before. It is safe for concurrent use.
type acceptedValues struct {
	mu     sync.Mutex
	hashes map[[sha256.Size]byte]struct{}
}

func (a *acceptedValues) has(text []byte) bool {
	hash := sha256.Sum256(text)
	a.mu.Lock()
	defer a.mu.Unlock()
	_, found := a.hashes[hash]
	return found
}

func (a *acceptedValues) add(text []byte) {
	hash := sha256.Sum256(text)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hashes == nil || len(a.hashes) >= maxAccepted {
		a.hashes = map[[sha256.Size]byte]struct{}{}
	}
	a.hashes[hash] = struct{}{}
}
