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

// PasskeySession is the state of the passkey endpoints between start and finish. TokenHash is the
// SHA-256 of the session token; State belongs to internal/passkey. The session is the newest one of
// its Owner: a user or an anonymous client, at a relying party.
type PasskeySession struct {
	TokenHash []byte
	Ceremony  Ceremony
	Owner     string
	State     json.RawMessage
	ExpiresAt time.Time
}
