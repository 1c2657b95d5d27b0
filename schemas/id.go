package schemas

import "github.com/google/uuid"

// NewID returns a fresh identifier: UUIDv7 text (RFC 9562 §5.7). It panics only
// when the system's source of randomness fails, as crypto/rand itself does.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }
