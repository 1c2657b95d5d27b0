package jwtverify

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/time/rate"

	"github.com/postern-id/postern/schemas"
)

const (
	// keysTTL is how long published keys are cached. A key that the signer has removed may
	// be used for that long.
	keysTTL = 10 * time.Minute
	// An address is fetched fetchBurst times at once, for a signer that has just changed
	// its keys, and then once per refetchAfter; after a failure not before that. Any caller
	// can name an unknown key, and each such request would otherwise be one to the signer's
	// server.
	fetchBurst   = 3
	refetchAfter = time.Minute
	// maxKeySets is the maximum number of cached addresses.
	maxKeySets = 1000
	// maxKeys is how many keys of a signer are considered.
	maxKeys = 100
)

// Keys caches the keys that signers publish. It is safe for concurrent use.
type Keys struct {
	// Fetch reads the document at an address. It must bound the size and the time.
	Fetch func(ctx context.Context, uri string) ([]byte, error)

	mu   sync.Mutex
	sets map[string]*keySet // by address
}

// keySet is the set at one address. Concurrent callers wait for one fetch.
type keySet struct {
	mu   sync.Mutex
	keys []verificationKey
	read time.Time // when the keys were read; zero: never
	// allowance limits the fetches.
	allowance *rate.Limiter
}

// verificationKey is a public key and its algorithms.
type verificationKey struct {
	kid        string
	algorithms []string
	public     any
}

// Pick returns the key of a set that signed a token, if exactly one key fits. The algorithm
// must be one of the key's: a header does not choose what a key is used for.
func Pick(set *schemas.JSONWebKeys, t *Token) (public any, ok bool) {
	return pick(parseKeys(set), t)
}

// pick returns the one key that fits. A token without a key id matches if only one key
// could have signed it; a key without an id matches if it is the only key.
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

// parseKeys returns the usable keys of a set and ignores the others (RFC 7517 §5).
func parseKeys(set *schemas.JSONWebKeys) []verificationKey {
	var keys []verificationKey
	for _, raw := range set.Keys[:min(len(set.Keys), maxKeys)] {
		algorithms, _, wrong := keyAlgorithms(raw)
		if slices.Contains(algorithms, string(ed25519Name)) || slices.Contains(algorithms, string(jose.EdDSA)) {
			algorithms = []string{string(jose.EdDSA), string(ed25519Name)} // two names of one algorithm
		}
		text, err := json.Marshal(raw)
		var key jose.JSONWebKey
		if wrong != "" || err != nil || key.UnmarshalJSON(text) != nil || !key.Valid() {
			continue
		}
		if public, is := key.Key.(ed25519.PublicKey); is {
			key.Key = edwardsVerifier(public)
		}
		keys = append(keys, verificationKey{key.KeyID, algorithms, key.Key})
	}
	return keys
}

// edwardsVerifier verifies Ed25519 signatures under both names of the algorithm; the
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

// Key returns the key that signed a token, from those published at an address. An unknown
// key causes another fetch, because the signer may have a new one. ok is false if there is
// none; an error means that the keys could not be read.
func (k *Keys) Key(ctx context.Context, uri string, t *Token, now time.Time) (public any, ok bool, err error) {
	set := k.set(uri)
	set.mu.Lock()
	defer set.mu.Unlock()
	if fresh := now.Sub(set.read) < keysTTL; fresh {
		if public, ok = pick(set.keys, t); ok {
			return public, true, nil
		}
	}
	if !set.allowance.AllowN(now, 1) {
		return nil, false, nil
	}
	keys, err := k.fetch(ctx, uri)
	if err != nil {
		set.allowance.AllowN(now, int(set.allowance.TokensAt(now)))
		return nil, false, err
	}
	set.keys, set.read = keys, now
	public, ok = pick(keys, t)
	return public, ok, nil
}

// fetch reads a published set. It does not end with the request that caused it: a caller
// who disconnects would otherwise delay all others.
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

// set returns the entry of an address. Beyond the maximum it evicts an arbitrary entry.
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
	known := &keySet{allowance: rate.NewLimiter(rate.Every(refetchAfter), fetchBurst)}
	k.sets[uri] = known
	return known
}
