package schemas

import "time"

// KeyStatus is the state of a signing key: published before it signs, so that relying parties have
// it in time; then signing; then retired, until everything that it signed has expired.
type KeyStatus string

// The statuses of a signing key.
const (
	KeyPublished KeyStatus = "published"
	KeySigning   KeyStatus = "signing"
	KeyRetired   KeyStatus = "retired"
)

// SigningKey is a key pair that tokens are signed with. ID is the `kid` of RFC 7517 §4.5, Algorithm
// a JWS algorithm name (RFC 7518 §3.1). internal/token seals Private: the store never contains the
// key itself.
type SigningKey struct {
	ID        string
	Algorithm string
	Private   []byte
	Status    KeyStatus
	CreatedAt time.Time // since when it is published

	SignsSince  time.Time // zero for one that has not signed yet
	RetiredAt   time.Time // zero for one that has not been retired
	NeededUntil time.Time // when the last of the tokens it has signed expires, or later; zero for none
}
