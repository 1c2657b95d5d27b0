package signed

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/postern-id/postern/schemas"
)

const (
	// keysTTL is how long published keys are good: so long after a signer has taken one
	// away, that one may still be used.
	keysTTL = 10 * time.Minute
	// An address is asked fetchBurst times at once, for a signer that has just changed
	// its keys, and then every refetchAfter; where it did not answer, not again before
	// that. Any stranger can name a key that is unknown: each such request would else
	// be one to the signer's server.
	fetchBurst   = 3
	refetchAfter = time.Minute
	// maxKeySets is how many addresses are remembered.
	maxKeySets = 1000
	// maxKeys is how many keys of a signer are looked at.
	maxKeys = 100
)

// Keys remembers what signers publish. It may be used by many goroutines at once.
type Keys struct {
	// Fetch reads what is at an address. Its size and the time it takes are bounded.
	Fetch func(ctx context.Context, uri string) ([]byte, error)

	mu   sync.Mutex
	sets map[string]*keySet // by address
}

// keySet is what was at one address. Those who need it at the same time wait for one
// fetch.
type keySet struct {
	mu   sync.Mutex
	keys []verificationKey
	read time.Time // when the keys were read; zero: never
	paid time.Time // until when what was fetched has used up what may be
}

// verificationKey is a key that signatures are verified with.
type verificationKey struct {
	kid        string
	algorithms []string
	public     any
}

// Pick returns the key of a set that a token says it is signed with, if there is
// exactly one such key. The algorithm must be one of the key's: a header does not
// choose what a key is used for.
func Pick(set *schemas.JSONWebKeys, t *Token) (public any, ok bool) {
	return pick(parseKeys(set), t)
}

// pick returns the one key that fits. A signature that names no key is by the only
// one that could have made it, and a key without a name is the only one there is.
func pick(keys []verificationKey, t *Token) (public any, ok bool) {
	only := len(keys) == 1
	var fitting []verificationKey
	for _, key := range keys {
		named := key.kid == t.KeyID || t.KeyID == "" || only && key.kid == ""
		if named && slices.Contains(key.algorithms, t.Algorithm) {
			fitting = append(fitting, key)
		}
	}
	if len(fitting) != 1 {
		return nil, false
	}
	return fitting[0].public, true
}

// parseKeys returns the keys of a set that can be used, and passes over the others,
// as RFC 7517 §5 has it.
func parseKeys(set *schemas.JSONWebKeys) []verificationKey {
	var keys []verificationKey
	for _, raw := range set.Keys[:min(len(set.Keys), maxKeys)] {
		algorithms := keyAlgorithms(raw)
		if slices.Contains(algorithms, string(ed25519Name)) || slices.Contains(algorithms, string(jose.EdDSA)) {
			algorithms = []string{string(jose.EdDSA), string(ed25519Name)} // two names of one algorithm
		}
		text, err := json.Marshal(raw)
		var key jose.JSONWebKey
		if len(algorithms) == 0 || err != nil || key.UnmarshalJSON(text) != nil || !key.Valid() {
			continue
		}
		if public, is := key.Key.(ed25519.PublicKey); is {
			key.Key = edwardsVerifier(public)
		}
		keys = append(keys, verificationKey{key.KeyID, algorithms, key.Key})
	}
	return keys
}

// edwardsVerifier verifies signatures by Ed25519 under both names of the algorithm; the
// library knows one.
type edwardsVerifier ed25519.PublicKey

// VerifyPayload implements jose.OpaqueVerifier.
func (v edwardsVerifier) VerifyPayload(payload, signature []byte, alg jose.SignatureAlgorithm) error {
	if alg != jose.EdDSA && alg != ed25519Name {
		return jose.ErrUnsupportedAlgorithm
	}
	if !ed25519.Verify(ed25519.PublicKey(v), payload, signature) {
		return jose.ErrCryptoFailure
	}
	return nil
}

// Key returns the key that a token says it is signed with, of those that are
// published at an address. One that is not among those known is looked for once more:
// the signer may have a new one. ok is false if there is none; an error says that the
// keys could not be read.
func (k *Keys) Key(ctx context.Context, uri string, t *Token, now time.Time) (public any, ok bool, err error) {
	set := k.set(uri)
	set.mu.Lock()
	defer set.mu.Unlock()
	if fresh := now.Sub(set.read) < keysTTL; fresh {
		if public, ok = pick(set.keys, t); ok {
			return public, true, nil
		}
	}
	if !set.mayFetch(now) {
		return nil, false, nil
	}
	keys, err := k.fetch(ctx, uri)
	if err != nil {
		set.paid = now.Add(fetchBurst * refetchAfter)
		return nil, false, err
	}
	set.keys, set.read = keys, now
	public, ok = pick(keys, t)
	return public, ok, nil
}

// mayFetch reports whether the address may be asked now, and counts it.
func (s *keySet) mayFetch(now time.Time) bool {
	if s.paid.Before(now) {
		s.paid = now
	}
	if s.paid.Sub(now) > (fetchBurst-1)*refetchAfter {
		return false
	}
	s.paid = s.paid.Add(refetchAfter)
	return true
}

// fetch reads what a signer publishes. Whoever asked first and goes away does not
// end it: they would keep everybody else from the keys for a while.
func (k *Keys) fetch(ctx context.Context, uri string) ([]verificationKey, error) {
	text, err := k.Fetch(context.WithoutCancel(ctx), uri)
	if err != nil {
		return nil, err
	}
	var set schemas.JSONWebKeys
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("reading a set of keys: %w", err)
	}
	return parseKeys(&set), nil
}

// set returns what is known of an address. Of too many one is forgotten, whichever.
func (k *Keys) set(uri string) *keySet {
	k.mu.Lock()
	defer k.mu.Unlock()
	if known := k.sets[uri]; known != nil {
		return known
	}
	if k.sets == nil {
		k.sets = map[string]*keySet{}
	}
	if len(k.sets) >= maxKeySets {
		for any := range k.sets {
			delete(k.sets, any)
			break
		}
	}
	known := &keySet{}
	k.sets[uri] = known
	return known
}
