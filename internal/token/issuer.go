// Package token issues and verifies Postern's tokens, which are JWTs (RFC 7519) signed with
// ES256 or RS256 (RFC 7518 §3.3 and §3.4), and manages the signing keys.
//
// There are four kinds of tokens. An assertion is the result of a completed sign-in; it
// describes the user and has the typ JWT. An access token (RFC 9068) is issued to a client
// by the token endpoint; it names the client and has the typ at+jwt. Both give access to
// the API, within their scope and audience. Claims.Type distinguishes them where only one
// is accepted. An ID token (OpenID Connect Core §2) identifies the signed-in user to a
// client and gives access to nothing; it has no typ. A logout token (OpenID Connect
// Back-Channel Logout §2.4) notifies a client that a session has ended.
//
// Private keys are stored sealed with AES-256-GCM under the key-encryption key. That key is
// not in the store: it is in a file or in the environment (see [ReadKeyFile]). The operator
// decides where the file is and has to make sure that no backup contains both; by default
// they are in different folders.
package token

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postern-id/postern/schemas"
	"golang.org/x/time/rate"
)

// Keys stores signing keys. AddSigningKey fails with code key_exists if another key of the
// algorithm signs already. The other methods that write make one transition in the life of a
// key and record the event with it. If the keys have changed since the transition was
// decided, because another instance made it, nothing happens and the error has Class Conflict.
type Keys interface {
	SigningKeys(ctx context.Context) ([]schemas.SigningKey, error)
	AddSigningKey(ctx context.Context, k schemas.SigningKey) error

	// PublishSigningKey adds a key that will sign after another.
	PublishSigningKey(ctx context.Context, k schemas.SigningKey, after string, e schemas.Event) error
	// PromoteSigningKey lets a published key sign from a time on, and retires its
	// predecessor ("" for none).
	PromoteSigningKey(ctx context.Context, id, after string, at time.Time, e schemas.Event) error
	// RemoveSigningKey removes a retired key that is not needed at the time.
	RemoveSigningKey(ctx context.Context, id string, at time.Time, e schemas.Event) error
	// NeedSigningKey keeps a key at least until a time.
	NeedSigningKey(ctx context.Context, id string, until time.Time) error
}

// Live looks up a token: see Options.
type Live func(ctx context.Context, t schemas.TokenRef, subject string, scope []string) (live bool, granted []string, err error)

// Options configure an Issuer.
type Options struct {
	// Issuer is the iss of every token: the server's public URL.
	Issuer string
	// AssertionTTL is the default validity of assertions. Zero means an hour.
	AssertionTTL time.Duration
	// AccessTTL is the default validity of access tokens. Zero means an hour.
	AccessTTL time.Duration
	// IDTokenTTL is the default validity of ID tokens. Zero means an hour.
	IDTokenTTL time.Duration
	// KeyPublish is how long a key is published before it signs, which must be longer than
	// relying parties cache the published keys. Zero means an hour.
	KeyPublish time.Duration
	// KeyAge is how long a key signs, longer than KeyPublish. Zero means 90 days.
	KeyAge time.Duration
	// Live reports whether a valid token is still live: it was not revoked, and its session
	// and client still exist. It returns the part of the token's scope that the subject still
	// has: a role may have been removed meanwhile. Nil: all tokens are live.
	Live Live
	// FormerKeys are older key-encryption keys, which open stored keys and seal none.
	FormerKeys [][]byte
	// Now is the clock. Nil means time.Now.
	Now func() time.Time
}

// Issuer issues and verifies tokens. It is safe for concurrent use.
type Issuer struct {
	issuer             string
	validity           map[string]time.Duration // default, by type of token
	now                func() time.Time
	live               Live
	keys               Keys
	cipher             *Cipher // of the stored keys
	keyPublish, keyAge time.Duration

	current atomic.Pointer[keySet]
	loading sync.Mutex // held while keys are read or generated
	lookups *rate.Limiter
}

// New returns an issuer with the stored keys. It generates a key for ES256 if there is
// none; instances that do so concurrently all use the same key. A key for RS256 is
// generated when it is first needed, because that takes longer. Kek is the key-encryption
// key, 32 bytes, that seals new keys.
func New(ctx context.Context, keys Keys, kek []byte, o Options) (*Issuer, error) {
	if o.Issuer == "" {
		return nil, errors.New("token: no issuer given")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	seal, err := NewCipher(append([][]byte{kek}, o.FormerKeys...)...)
	if err != nil {
		return nil, err
	}
	i := &Issuer{
		issuer: o.Issuer, now: o.Now, live: o.Live, keys: keys, cipher: seal,
		lookups: rate.NewLimiter(rate.Every(lookupEvery), lookupBurst),
		validity: map[string]time.Duration{
			AssertionType: cmp.Or(o.AssertionTTL, time.Hour), AccessType: cmp.Or(o.AccessTTL, time.Hour),
			idType: cmp.Or(o.IDTokenTTL, time.Hour), LogoutType: logoutTTL,
		},
		keyPublish: cmp.Or(o.KeyPublish, defaultKeyPublish), keyAge: cmp.Or(o.KeyAge, defaultKeyAge),
	}
	if err := i.Reload(ctx); err != nil {
		return nil, err
	}
	if _, err := i.signer(ctx, ES256); err != nil {
		return nil, err
	}
	return i, nil
}

// Prepare generates the missing keys. A server calls it before it serves the published
// keys: a client that caches them could otherwise not verify tokens of a key that is
// generated later.
func (i *Issuer) Prepare(ctx context.Context) error {
	for _, algorithm := range algorithms() {
		if _, err := i.signer(ctx, algorithm); err != nil {
			return err
		}
	}
	return nil
}

// set returns the keys as last read.
func (i *Issuer) set() *keySet {
	if i != nil {
		if set := i.current.Load(); set != nil {
			return set
		}
	}
	return &keySet{}
}

// Ready reports whether there is a signing key.
func (i *Issuer) Ready() error {
	if i.set().signing[ES256] == nil {
		return errors.New("token: no signing key is loaded")
	}
	return nil
}

// AssertionTTL is the default validity of assertions.
func (i *Issuer) AssertionTTL() time.Duration { return i.validity[AssertionType] }

// AccessTTL is the default validity of access tokens.
func (i *Issuer) AccessTTL() time.Duration { return i.validity[AccessType] }

// Reload reads the keys. If it fails, the previous ones stay in use.
func (i *Issuer) Reload(ctx context.Context) error {
	i.loading.Lock()
	defer i.loading.Unlock()
	return i.reload(ctx)
}

// reload reads the keys. The caller holds the lock.
func (i *Issuer) reload(ctx context.Context) error {
	kept, err := i.keys.SigningKeys(ctx)
	if err != nil {
		return fmt.Errorf("token: reading the signing keys: %w", err)
	}
	if before := i.current.Load(); before != nil && before.holds(kept) {
		return nil // a new set would have to verify tokens again
	}
	set, err := newKeySet(kept, i.cipher, i.set())
	if err != nil {
		return err
	}
	i.current.Store(set)
	return nil
}

// signer returns the key that signs with an algorithm. It generates one if there is none.
func (i *Issuer) signer(ctx context.Context, algorithm string) (*signer, error) {
	if s := i.set().signing[algorithm]; s != nil {
		return s, nil
	}
	if i == nil || i.keys == nil {
		return nil, i.Ready()
	}
	i.loading.Lock()
	defer i.loading.Unlock()
	if err := i.reload(ctx); err != nil {
		return nil, err
	}
	if s := i.set().signing[algorithm]; s != nil {
		return s, nil
	}
	k, err := i.newKey(algorithm, schemas.KeySigning)
	if err != nil {
		return nil, err
	}
	if err := i.keys.AddSigningKey(ctx, k); err != nil && !schemas.HasCode(err, "key_exists") {
		return nil, fmt.Errorf("token: storing a new signing key: %w", err)
	}
	if err := i.reload(ctx); err != nil {
		return nil, err
	}
	if s := i.set().signing[algorithm]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("token: no key signs with %s", algorithm)
}

// newKey generates and seals a key.
func (i *Issuer) newKey(algorithm string, status schemas.KeyStatus) (schemas.SigningKey, error) {
	k := schemas.SigningKey{ID: schemas.NewID(), Algorithm: algorithm, Status: status, CreatedAt: i.now().UTC()}
	private, err := generateKey(algorithm)
	if err == nil {
		k.Private, err = sealKey(i.cipher, k.ID, private)
	}
	if status == schemas.KeySigning {
		k.SignsSince = k.CreatedAt
	}
	return k, err
}
