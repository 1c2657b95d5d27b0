package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

const (
	// keysTTL is how long the keys that a client publishes are good: so long after it
	// has taken one away, that one may still be used.
	keysTTL = 10 * time.Minute
	// An address is asked fetchBurst times at once, for a client that has just changed
	// its keys, and then every refetchAfter; where it did not answer, not again before
	// that. Any stranger can name a key that is unknown: each such request would else
	// be one to the client's server.
	fetchBurst   = 3
	refetchAfter = time.Minute
	// mostKeySets is how many addresses are remembered.
	mostKeySets = 1000
	// mostKeys is how many keys of a client are looked at.
	mostKeys = 100
)

// clientKeys remembers what clients publish at their jwksUri.
type clientKeys struct {
	mu   sync.Mutex
	sets map[string]*clientKeySet // by address
}

// clientKeySet is what was at one address. Those who need it at the same time wait
// for one fetch.
type clientKeySet struct {
	mu   sync.Mutex
	keys []verificationKey
	read time.Time // when the keys were read; zero: never
	paid time.Time // until when what was fetched has used up what may be
}

// verificationKey is a key that a client's signatures are verified with.
type verificationKey struct {
	kid        string
	algorithms []string
	public     any
}

// assertionKey returns the key of a client that an assertion says it is signed with.
// The algorithm must be one of the key's: a header does not choose what a key is used
// for.
func (p *Provider) assertionKey(ctx context.Context, c *client, alg, kid string) (any, error) {
	if c.oauth.JWKS != nil {
		if key, ok := pick(parseKeys(c.oauth.JWKS), alg, kid); ok {
			return key, nil
		}
	} else if c.oauth.JWKSURI != "" && p.KeyAuthentication.Fetch != nil {
		key, ok, err := p.publishedKey(ctx, c.oauth.JWKSURI, alg, kid)
		if err != nil {
			// Why not is not told: it would tell what answers within our network.
			return nil, errClient(false, "the client's keys cannot be read from its jwksUri: expected a JWK Set (RFC 7517 section 5) there")
		}
		if ok {
			return key, nil
		}
	}
	return nil, errClient(false, "the client has no key that is named %.100s and signs with %.20s", kid, alg)
}

// pick returns the one key that fits. A signature that names no key is by the only
// one that could have made it, and a key without a name is the only one there is.
func pick(keys []verificationKey, alg, kid string) (public any, ok bool) {
	only := len(keys) == 1
	var fitting []verificationKey
	for _, key := range keys {
		named := key.kid == kid || kid == "" || only && key.kid == ""
		if named && slices.Contains(key.algorithms, alg) {
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
	for _, raw := range set.Keys[:min(len(set.Keys), mostKeys)] {
		algorithms := directory.VerificationKey(raw)
		if slices.Contains(algorithms, "Ed25519") {
			algorithms = []string{string(jose.EdDSA)} // RFC 9864 has both names for it
		}
		text, err := json.Marshal(raw)
		var key jose.JSONWebKey
		if len(algorithms) == 0 || err != nil || key.UnmarshalJSON(text) != nil || !key.Valid() {
			continue
		}
		keys = append(keys, verificationKey{key.KeyID, algorithms, key.Key})
	}
	return keys
}

// publishedKey returns a key that a client publishes. One that is not among those
// known is looked for once more: the client may have a new one.
func (p *Provider) publishedKey(ctx context.Context, uri, alg, kid string) (public any, ok bool, err error) {
	set := p.keys.set(uri)
	set.mu.Lock()
	defer set.mu.Unlock()
	now := p.Now()
	if fresh := now.Sub(set.read) < keysTTL; fresh {
		if public, ok = pick(set.keys, alg, kid); ok {
			return public, true, nil
		}
	}
	if !set.mayFetch(now) {
		return nil, false, nil
	}
	keys, err := p.fetchKeys(ctx, uri)
	if err != nil {
		set.paid = now.Add(fetchBurst * refetchAfter)
		return nil, false, err
	}
	set.keys, set.read = keys, now
	public, ok = pick(keys, alg, kid)
	return public, ok, nil
}

// mayFetch reports whether the address may be asked now, and counts it.
func (s *clientKeySet) mayFetch(now time.Time) bool {
	if s.paid.Before(now) {
		s.paid = now
	}
	if s.paid.Sub(now) > (fetchBurst-1)*refetchAfter {
		return false
	}
	s.paid = s.paid.Add(refetchAfter)
	return true
}

// fetchKeys reads what a client publishes. Whoever asked first and goes away does not
// end it: they would keep everybody else from the keys for a while.
func (p *Provider) fetchKeys(ctx context.Context, uri string) ([]verificationKey, error) {
	text, err := p.KeyAuthentication.Fetch(context.WithoutCancel(ctx), uri)
	if err != nil {
		return nil, err
	}
	var set schemas.JSONWebKeys
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("reading the keys of a client: %w", err)
	}
	return parseKeys(&set), nil
}

// set returns what is known of an address. Of too many one is forgotten, whichever.
func (k *clientKeys) set(uri string) *clientKeySet {
	k.mu.Lock()
	defer k.mu.Unlock()
	if known := k.sets[uri]; known != nil {
		return known
	}
	if k.sets == nil {
		k.sets = map[string]*clientKeySet{}
	}
	if len(k.sets) >= mostKeySets {
		for any := range k.sets {
			delete(k.sets, any)
			break
		}
	}
	known := &clientKeySet{}
	k.sets[uri] = known
	return known
}
