package token

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// How often the keys are read again because of tokens of unknown keys: a few
// times at once, and then once in a while. Whoever sends tokens with random key
// ids makes the store read its few keys no more often than that.
const (
	lookupBurst = 10
	lookupEvery = time.Second
)

// keyForHeader is the key that a token's header names. Another instance may have
// begun to use one that is not known here: that is looked up.
func (i *Issuer) keyForHeader(ctx context.Context, header string) (trustedKey, error) {
	set := i.set()
	key, ok := set.trusted[header]
	if !ok && mayBeOurs(header) {
		if err := i.refreshKeys(ctx, set); err != nil {
			return trustedKey{}, fmt.Errorf("token: looking for the key of a token: %w", err)
		}
		key, ok = i.set().trusted[header]
	}
	if !ok {
		return trustedKey{}, errInvalid("The token was not issued here, or its signing key is no longer in use. Sign in again.")
	}
	return key, nil
}

// refreshKeys reads the keys, unless they are others already than those that were
// looked at, or have been read often lately.
func (i *Issuer) refreshKeys(ctx context.Context, looked *keySet) error {
	i.loading.Lock()
	defer i.loading.Unlock()
	if i.keys == nil || i.set() != looked || !i.lookups.take(i.now()) {
		return nil
	}
	return i.reload(ctx)
}

// mayBeOurs reports whether a header is one that this issuer could write, with
// some key.
func mayBeOurs(text string) bool {
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	var h joseHeader
	if err != nil || json.Unmarshal(decoded, &h) != nil || h.KeyID == "" || !slices.Contains(typesOf(h.Algorithm), h.Type) {
		return false
	}
	again, err := json.Marshal(h)
	return err == nil && string(again) == string(decoded)
}

// allowance lets something happen lookupBurst times at once, and then every
// lookupEvery.
type allowance struct{ next time.Time }

func (a *allowance) take(now time.Time) bool {
	if a.next.Before(now) {
		a.next = now
	}
	if a.next.Sub(now) >= lookupBurst*lookupEvery {
		return false
	}
	a.next = a.next.Add(lookupEvery)
	return true
}
