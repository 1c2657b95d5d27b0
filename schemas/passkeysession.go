package schemas

import (
	"encoding/json"
	"time"
)

// Ceremony is one of the two WebAuthn ceremonies.
type Ceremony string

// The ceremonies.
const (
	RegistrationCeremony   Ceremony = "registration"
	AuthenticationCeremony Ceremony = "authentication"
)

// PasskeySession is what the atomic endpoints keep between start and finish.
// TokenHash is the SHA-256 of the session token; State is internal/passkey's.
// Owner says whose newest session this is: a user id, or an anonymous client.
type PasskeySession struct {
	TokenHash []byte
	Ceremony  Ceremony
	Owner     string
	State     json.RawMessage
	ExpiresAt time.Time
}
