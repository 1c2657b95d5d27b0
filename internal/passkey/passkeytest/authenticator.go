// Package passkeytest is a software authenticator with a simulated browser, for tests and for
// `postern flow test`.
//
// It answers creation and request options as a correct browser and authenticator would, and
// misbehaves on request: each Fault breaks one thing, and everything else, signatures included, is
// correct, so that a test exercises exactly one check. It also does what a browser would refuse (an
// origin outside the domain of the relying party id), because the server's own check is under test.
//
// It is not built on descope/virtualwebauthn because that library supports neither EdDSA, nor
// attestation "none", nor seeds, and builds its answers in one piece, which leaves no place for
// faults. Keys come from crypto/*, CBOR from go-webauthn.
//
// With a seed it is deterministic: the same calls give the same bytes. It never reads the clock.
package passkeytest

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"io"
	mathrand "math/rand/v2"
	"slices"
	"sync"
)

// Authenticator holds passkeys. It is safe for concurrent use.
type Authenticator struct {
	mu          sync.Mutex
	random      io.Reader
	aaguid      [16]byte
	algorithms  []int64
	attachment  string
	transports  []string
	synced      bool
	noUV        bool
	counting    bool
	maker       *CA // of its attestation key; nil: it has none
	credentials []*Credential
}

// Credential is a passkey that an authenticator holds.
type Credential struct {
	ID         []byte
	RPID       string
	UserHandle []byte
	UserName   string
	SignCount  uint32 // of the last answer
	key        key
}

// Option configures an Authenticator.
type Option func(*Authenticator)

// Seed makes the authenticator deterministic.
func Seed(seed string) Option {
	return func(a *Authenticator) { a.random = mathrand.NewChaCha8(sha256.Sum256([]byte(seed))) }
}

// Algorithms sets the COSE algorithms of the authenticator (-7, -8, -257); it uses the first
// offered one that it supports. The default is all three.
func Algorithms(cose ...int64) Option { return func(a *Authenticator) { a.algorithms = cose } }

// AAGUID is the authenticator's model; the default is all zeros.
func AAGUID(id [16]byte) Option { return func(a *Authenticator) { a.aaguid = id } }

// Synced makes its passkeys backup eligible and backed up, without a signature
// counter, as passkey managers do.
func Synced() Option {
	return func(a *Authenticator) { a.synced, a.counting = true, false }
}

// NoCounter leaves the signature counter at 0.
func NoCounter() Option { return func(a *Authenticator) { a.counting = false } }

// CannotVerify returns the option of an authenticator without PIN or biometrics.
func CannotVerify() Option { return func(a *Authenticator) { a.noUV = true } }

// Attachment sets how the authenticator is attached, platform or cross-platform, and its
// transports.
func Attachment(attachment string, transports ...string) Option {
	return func(a *Authenticator) { a.attachment, a.transports = attachment, transports }
}

// New returns an authenticator without passkeys: a platform authenticator whose passkeys
// stay on the device, and that counts signatures and verifies its user.
func New(options ...Option) *Authenticator {
	a := &Authenticator{
		random:     rand.Reader,
		algorithms: []int64{algES256, algEdDSA, algRS256},
		attachment: "platform",
		transports: []string{"internal"},
		counting:   true,
	}
	for _, option := range options {
		option(a)
	}
	return a
}

// Credentials returns copies of the authenticator's passkeys, oldest first.
func (a *Authenticator) Credentials() []Credential {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]Credential, len(a.credentials))
	for i, c := range a.credentials {
		list[i] = *c
	}
	return list
}

// Forget removes a passkey, as a user can.
func (a *Authenticator) Forget(id []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.credentials = slices.DeleteFunc(a.credentials, func(c *Credential) bool { return bytes.Equal(c.ID, id) })
}

// bytes returns n bytes of the authenticator's randomness.
func (a *Authenticator) bytes(n int) []byte { return readBytes(a.random, n) }
