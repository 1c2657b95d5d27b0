// Package token issues and checks Postern's tokens, which are JWTs (RFC 7519)
// signed with ES256 or RS256 (RFC 7518 §3.3 and §3.4), and keeps the keys they are
// signed with.
//
// There are four kinds of tokens. An assertion is what a completed sign-in ends
// with; it tells of the user, and has typ JWT. An access token (RFC 9068) is what
// the token endpoint gives to a client; it names that, and has typ at+jwt.
// Whoever holds either may call the API with it, as far as its scope and audience
// go. Where only one of them will do, Claims.Type tells them apart. An ID token
// (OpenID Connect Core §2) tells a client who has signed in, and is good for
// nothing else; it has no typ. A logout token (OpenID Connect Back-Channel Logout
// §2.4) tells a client that a session has ended.
//
// Private keys are kept sealed with AES-256-GCM under the key-encryption key. That key
// is no part of the store: it is in a file or in the environment (see [ReadKeyFile]).
// Where the file is, and that no backup holds both, is up to the operator; by default
// the two are in different folders.
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
)

// Keys keeps signing keys. AddSigningKey fails with code key_exists when
// another key of the algorithm signs already.
type Keys interface {
	SigningKeys(ctx context.Context) ([]schemas.SigningKey, error)
	AddSigningKey(ctx context.Context, k schemas.SigningKey) error
}

// Options say how tokens are issued.
type Options struct {
	// Issuer is the iss of every token: the server's public URL.
	Issuer string
	// AssertionTTL is how long an assertion is good for that does not say so
	// itself. Zero means an hour.
	AssertionTTL time.Duration
	// AccessTTL is how long an access token is good for that does not say so
	// itself. Zero means an hour.
	AccessTTL time.Duration
	// IDTokenTTL is how long an ID token is good for that does not say so itself.
	// Zero means an hour.
	IDTokenTTL time.Duration
	// KeyPublish is how long a key is published before it signs, longer than anybody
	// keeps the published keys. Zero means an hour.
	KeyPublish time.Duration
	// KeyAge is how long a key signs, longer than KeyPublish. Zero means 90 days.
	KeyAge time.Duration
	// Live reports whether a token that is valid by itself still counts: that it
	// was not revoked, and that its session and client are still there. Nil: all
	// count.
	Live func(ctx context.Context, t schemas.TokenRef) (bool, error)
	// Granted returns what the subject of a token still has of its scope: a role may
	// have been taken away since it was issued. A client that is its own subject acts
	// on its own behalf. Nil: all of the scope counts.
	Granted func(ctx context.Context, subject, clientID string, scope []string) ([]string, error)
	// FormerKeys are older key-encryption keys, which open kept keys and seal none.
	FormerKeys [][]byte
	// Now is the clock. Nil means time.Now.
	Now func() time.Time
}

// Issuer issues and checks tokens. It may be used by many goroutines at once.
type Issuer struct {
	issuer                              string
	assertionTTL, accessTTL, idTokenTTL time.Duration
	now                                 func() time.Time
	live                                func(ctx context.Context, t schemas.TokenRef) (bool, error)
	granted                             func(ctx context.Context, subject, clientID string, scope []string) ([]string, error)
	keys                                Keys
	cipher                              *keyCipher
	keyPublish, keyAge                  time.Duration

	current atomic.Pointer[keySet]
	loading sync.Mutex // held while the keys are read, or one is made
	lookups allowance  // of the lock
}

// New returns an issuer with the keys that are kept. Where none signs with ES256
// yet it makes one; of several instances that do so at once all use the same. A
// key for RS256 is made when it is first needed, because that takes longer. Kek
// is the key-encryption key, 32 bytes, that new keys are sealed with.
func New(ctx context.Context, keys Keys, kek []byte, o Options) (*Issuer, error) {
	if o.Issuer == "" {
		return nil, errors.New("token: no issuer given")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	seal, err := newKeyCipher(append([][]byte{kek}, o.FormerKeys...))
	if err != nil {
		return nil, err
	}
	i := &Issuer{
		issuer: o.Issuer, now: o.Now, live: o.Live, granted: o.Granted, keys: keys, cipher: seal,
		assertionTTL: cmp.Or(o.AssertionTTL, time.Hour), accessTTL: cmp.Or(o.AccessTTL, time.Hour), idTokenTTL: cmp.Or(o.IDTokenTTL, time.Hour),
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

// Prepare makes the keys that are missing. A server calls it before anybody can
// ask for the published keys: who has them without one that is made later would
// not know what it signs.
func (i *Issuer) Prepare(ctx context.Context) error {
	for _, algorithm := range algorithms() {
		if _, err := i.signer(ctx, algorithm); err != nil {
			return err
		}
	}
	return nil
}

// set is the keys as they were last read.
func (i *Issuer) set() *keySet {
	if i != nil {
		if set := i.current.Load(); set != nil {
			return set
		}
	}
	return &keySet{}
}

// Ready reports whether there is a key to sign with.
func (i *Issuer) Ready() error {
	if i.set().es == nil {
		return errors.New("token: no signing key is loaded")
	}
	return nil
}

// Issuer is the iss of every token.
func (i *Issuer) Issuer() string { return i.issuer }

// AssertionTTL is how long an assertion is good for that does not say so itself.
func (i *Issuer) AssertionTTL() time.Duration { return i.assertionTTL }

// AccessTTL is how long an access token is good for that does not say so itself.
func (i *Issuer) AccessTTL() time.Duration { return i.accessTTL }

// IDTokenTTL is how long an ID token is good for that does not say so itself.
func (i *Issuer) IDTokenTTL() time.Duration { return i.idTokenTTL }

// Reload reads the keys. If it fails, those that were read before are used on.
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
	set, err := newKeySet(kept, i.cipher, i.set())
	if err != nil {
		return err
	}
	i.current.Store(set)
	return nil
}

// signer returns the key that signs with an algorithm, and makes one if there is
// none.
func (i *Issuer) signer(ctx context.Context, algorithm string) (*signer, error) {
	if s := i.set().signer(algorithm); s != nil {
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
	if s := i.set().signer(algorithm); s != nil {
		return s, nil
	}
	k, err := i.newKey(algorithm, schemas.KeySigning)
	if err != nil {
		return nil, err
	}
	if err := i.keys.AddSigningKey(ctx, k); err != nil && !schemas.HasCode(err, "key_exists") {
		return nil, fmt.Errorf("token: keeping a new signing key: %w", err)
	}
	if err := i.reload(ctx); err != nil {
		return nil, err
	}
	if s := i.set().signer(algorithm); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("token: no key signs with %s", algorithm)
}

// newKey makes a key and seals it.
func (i *Issuer) newKey(algorithm string, status schemas.KeyStatus) (schemas.SigningKey, error) {
	k := schemas.SigningKey{ID: schemas.NewID(), Algorithm: algorithm, Status: status, CreatedAt: i.now().UTC()}
	private, err := generate(algorithm)
	if err == nil {
		k.Private, err = i.cipher.close(k.ID, private)
	}
	if status == schemas.KeySigning {
		k.SignsSince = k.CreatedAt
	}
	return k, err
}
