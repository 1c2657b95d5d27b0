package token

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/postern-id/postern/schemas"
)

// keySet is the signing keys as they were read. It is immutable, except for what
// it has opened; a change of the keys replaces it.
type keySet struct {
	stored  []schemas.SigningKey // of the known algorithms, oldest first; without their private halves
	signers map[string]*signer   // all of them, by id
	signing map[string]*signer   // the signing keys, by algorithm
	trusted map[string]trustedKey
	jwks    []byte
	opened  openedTokens
}

// trustedKey is a key whose tokens are accepted, and the type of the tokens with the header
// that it is found by.
type trustedKey struct {
	*signer
	typ string
}

// newKeySet opens the stored keys, except those that the previous set has opened already.
// Tokens of all of them are accepted: a published key may already sign on another instance,
// and tokens of a retired one are valid until they expire.
func newKeySet(kept []schemas.SigningKey, cipher *Cipher, before *keySet) (*keySet, error) {
	set := &keySet{signers: map[string]*signer{}, signing: map[string]*signer{}, trusted: map[string]trustedKey{}}
	set.opened.Limit = maxOpened
	public := jose.JSONWebKeySet{Keys: make([]jose.JSONWebKey, 0, len(kept))}
	for _, k := range kept {
		if k.Algorithm != ES256 && k.Algorithm != RS256 {
			continue
		}
		s, err := before.openSigner(k, cipher)
		if err != nil {
			return nil, err
		}
		set.add(k, s)
		public.Keys = append(public.Keys, jose.JSONWebKey{Key: s.private.Public(), KeyID: s.id, Algorithm: s.algorithm, Use: "sig"})
	}
	var err error
	if set.jwks, err = json.Marshal(public); err != nil {
		return nil, fmt.Errorf("token: writing the public keys: %w", err)
	}
	return set, nil
}

// holds reports whether the stored keys are those of the set.
func (set *keySet) holds(stored []schemas.SigningKey) bool {
	known := slices.DeleteFunc(slices.Clone(stored), func(k schemas.SigningKey) bool { return k.Algorithm != ES256 && k.Algorithm != RS256 })
	return slices.EqualFunc(known, set.stored, func(a, b schemas.SigningKey) bool {
		return a.ID == b.ID && a.Algorithm == b.Algorithm && a.Status == b.Status && a.CreatedAt.Equal(b.CreatedAt) &&
			a.SignsSince.Equal(b.SignsSince) && a.RetiredAt.Equal(b.RetiredAt) && a.NeededUntil.Equal(b.NeededUntil)
	})
}

// openSigner returns the signer of a stored key.
func (set *keySet) openSigner(k schemas.SigningKey, cipher *Cipher) (*signer, error) {
	if s := set.signers[k.ID]; s != nil && s.algorithm == k.Algorithm {
		return s, nil
	}
	private, err := openKey(cipher, k)
	if err != nil {
		return nil, err
	}
	return newSigner(k.ID, k.Algorithm, private), nil
}

func (set *keySet) add(k schemas.SigningKey, s *signer) {
	for typ, header := range s.headers {
		if typ == LogoutType {
			continue // tokens with this header are never submitted here
		}
		set.trusted[header] = trustedKey{s, typ}
	}
	if k.Status == schemas.KeySigning {
		set.signing[s.algorithm] = s
	}
	if until := k.NeededUntil.Unix(); !k.NeededUntil.IsZero() && until > s.lifetimeEnd.Load() {
		s.lifetimeEnd.Store(until)
	}
	k.Private = nil
	set.stored = append(set.stored, k)
	set.signers[k.ID] = s
}

// JWKS returns the JWK Set (RFC 7517 §5) of the public keys that verify tokens of this
// issuer, as JSON: the signing keys, the published keys, and the retired keys that have
// signed what may still be valid. The caller must not modify it.
func (i *Issuer) JWKS() []byte { return i.set().jwks }

// The rate at which tokens of unknown keys cause the keys to be read again: a few times at
// once, then once per period. Tokens with random key ids cannot make the store read more
// often.
const (
	lookupBurst = 10
	lookupEvery = time.Second
)

// keyForHeader returns the key of a token's header, and the keys that it is one of. If the key is
// unknown it reads the keys again, because another instance may have introduced it.
func (i *Issuer) keyForHeader(ctx context.Context, header string) (*keySet, trustedKey, error) {
	set := i.set()
	key, ok := set.trusted[header]
	if !ok && isOwnHeader(header) {
		if err := i.refreshKeys(ctx, set); err != nil {
			return nil, trustedKey{}, fmt.Errorf("token: looking up the key of a token: %w", err)
		}
		set = i.set()
		key, ok = set.trusted[header]
	}
	if !ok {
		return nil, trustedKey{}, errInvalid("The token was not issued here, or its signing key is no longer in use. Sign in again.")
	}
	return set, key, nil
}

// refreshKeys reads the keys, unless they have changed since looked was loaded, or have
// been read too often recently.
func (i *Issuer) refreshKeys(ctx context.Context, looked *keySet) error {
	i.loading.Lock()
	defer i.loading.Unlock()
	if i.keys == nil || i.set() != looked || !i.lookups.AllowN(i.now(), 1) {
		return nil
	}
	return i.reload(ctx)
}

// isOwnHeader reports whether this issuer could have written the header, with some key.
func isOwnHeader(text string) bool {
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	var h joseHeader
	return err == nil && json.Unmarshal(decoded, &h) == nil && h.KeyID != "" && slices.Contains(typesOf(h.Algorithm), h.Type) && h.encode() == text
}
