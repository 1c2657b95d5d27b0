package token

import (
	"crypto"

	"github.com/postern-id/postern/schemas"
)

// keySet is the signing keys as they were read. It is immutable; a change of the keys
// replaces it.
type keySet struct {
	stored  []schemas.SigningKey // of the known algorithms, oldest first; without their private halves
	signers map[string]*signer   // all of them, by id
	es, rs  *signer              // the signing keys, nil for none
	trusted map[string]trustedKey
	jwks    []byte
}

// trustedKey is a key whose tokens are accepted, and the type of the tokens with the header
// that it is found by.
type trustedKey struct {
	algorithm, typ string
	public         crypto.PublicKey
}

// newKeySet opens the stored keys, except those that the previous set has opened already.
// Tokens of all of them are accepted: a published key may already sign on another instance,
// and tokens of a retired one are valid until they expire.
func newKeySet(kept []schemas.SigningKey, seal *keyCipher, before *keySet) (*keySet, error) {
	set := &keySet{signers: make(map[string]*signer, len(kept)), trusted: make(map[string]trustedKey, 2*len(kept))}
	public := make([]*signer, 0, len(kept))
	for _, k := range kept {
		if k.Algorithm != ES256 && k.Algorithm != RS256 {
			continue
		}
		s, err := before.openSigner(k, seal)
		if err != nil {
			return nil, err
		}
		set.add(k, s)
		public = append(public, s)
	}
	var err error
	set.jwks, err = encodeJWKS(public)
	return set, err
}

// openSigner returns the signer of a stored key.
func (set *keySet) openSigner(k schemas.SigningKey, seal *keyCipher) (*signer, error) {
	if s := set.signers[k.ID]; s != nil && s.algorithm == k.Algorithm {
		return s, nil
	}
	private, err := seal.open(k)
	if err != nil {
		return nil, err
	}
	return newSigner(k.ID, k.Algorithm, private)
}

func (set *keySet) add(k schemas.SigningKey, s *signer) {
	for typ, header := range s.headers {
		if typ == LogoutType {
			continue // tokens with this header are never submitted here
		}
		set.trusted[header] = trustedKey{s.algorithm, typ, s.private.Public()}
	}
	if k.Status == schemas.KeySigning {
		switch s.algorithm {
		case ES256:
			set.es = s
		case RS256:
			set.rs = s
		}
	}
	if until := k.NeededUntil.Unix(); !k.NeededUntil.IsZero() && until > s.lifetimeEnd.Load() {
		s.lifetimeEnd.Store(until)
	}
	k.Private = nil
	set.stored = append(set.stored, k)
	set.signers[k.ID] = s
}

// signer returns the signing key of the algorithm, nil for none.
func (set *keySet) signer(algorithm string) *signer {
	if algorithm == RS256 {
		return set.rs
	}
	return set.es
}
