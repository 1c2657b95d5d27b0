// Package token issues and checks Postern's tokens, which are JWTs (RFC 7519)
// signed with ES256 (RFC 7518 §3.4), and keeps the keys they are signed with.
//
// There are two kinds of tokens. An assertion is what a completed sign-in ends
// with; it tells of the user, and has typ JWT. An access token (RFC 9068) is what
// the token endpoint gives to a client; it names that, and has typ at+jwt.
// Whoever holds either may call the API with it, as far as its scope and audience
// go. Where only one of them will do, Claims.Type tells them apart.
//
// Private keys are kept sealed with AES-256-GCM under the key-encryption key,
// which never lies in the same place as the store; see [KeyEncryptionKey].
package token

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
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
	// Live reports whether a token that is valid by itself still counts: that it
	// was not revoked, and that its session and client are still there. Nil: all
	// count.
	Live func(ctx context.Context, t schemas.TokenRef) (bool, error)
	// Now is the clock. Nil means time.Now.
	Now func() time.Time
}

// Issuer issues and checks tokens. It never changes and may be used by many
// goroutines at once.
type Issuer struct {
	issuer                  string
	assertionTTL, accessTTL time.Duration
	now                     func() time.Time
	live                    func(ctx context.Context, t schemas.TokenRef) (bool, error)
	signer                  *signer
	trusted                 map[string]trustedKey // by the header of a token, as it is in the token
	jwks                    []byte
}

// trustedKey is a key whose tokens are accepted, and the type of those that have
// the header it is found by.
type trustedKey struct {
	id, typ string
	public  *ecdsa.PublicKey
}

// New returns an issuer with the keys that are kept. Where none signs yet it
// makes one; of several instances that do so at once all use the same. Kek is
// the key-encryption key, 32 bytes, that opens the kept keys.
func New(ctx context.Context, keys Keys, kek []byte, o Options) (*Issuer, error) {
	if o.Issuer == "" {
		return nil, errors.New("token: no issuer given")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	seal, err := newSeal(kek)
	if err != nil {
		return nil, err
	}
	i := &Issuer{
		issuer: o.Issuer, now: o.Now, live: o.Live,
		assertionTTL: cmp.Or(o.AssertionTTL, time.Hour), accessTTL: cmp.Or(o.AccessTTL, time.Hour),
	}
	if err := i.load(ctx, keys, seal); err != nil {
		return nil, err
	}
	if i.signer != nil {
		return i, nil
	}
	if err := addKey(ctx, keys, seal, i.now()); err != nil && !schemas.HasCode(err, "key_exists") {
		return nil, fmt.Errorf("token: keeping a new signing key: %w", err)
	}
	if err := i.load(ctx, keys, seal); err != nil {
		return nil, err
	}
	if err := i.Ready(); err != nil {
		return nil, err
	}
	return i, nil
}

// Ready reports whether there is a key to sign with.
func (i *Issuer) Ready() error {
	if i == nil || i.signer == nil {
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

// load opens the kept keys. Tokens of every one of them are accepted: a
// published key may be signing on another instance already, and what a retired
// one has signed lasts until it expires.
func (i *Issuer) load(ctx context.Context, keys Keys, seal *seal) error {
	kept, err := keys.SigningKeys(ctx)
	if err != nil {
		return fmt.Errorf("token: reading the signing keys: %w", err)
	}
	i.trusted = make(map[string]trustedKey, 2*len(kept))
	var public []trustedKey
	for _, k := range kept {
		if k.Algorithm != algorithm {
			continue
		}
		private, err := seal.open(k)
		if err != nil {
			return err
		}
		own, err := newSigner(k.ID, private)
		if err != nil {
			return err
		}
		for typ, header := range own.headers {
			i.trusted[header] = trustedKey{k.ID, typ, &private.PublicKey}
		}
		public = append(public, trustedKey{id: k.ID, public: &private.PublicKey})
		if k.Status == schemas.KeySigning {
			i.signer = own
		}
	}
	i.jwks, err = writeJWKS(public)
	return err
}

// addKey makes a key that signs.
func addKey(ctx context.Context, keys Keys, seal *seal, now time.Time) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	k := schemas.SigningKey{ID: schemas.NewID(), Algorithm: algorithm, Status: schemas.KeySigning, CreatedAt: now.UTC()}
	if k.Private, err = seal.close(k.ID, private); err != nil {
		return err
	}
	return keys.AddSigningKey(ctx, k)
}
