package token

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// The rate at which tokens of unknown keys cause the keys to be read again: a few times at
// once, then once per period. Tokens with random key ids cannot make the store read more
// often.
const (
	lookupBurst = 10
	lookupEvery = time.Second
)

// keyForHeader returns the key of a token's header. If the key is unknown it reads the keys
// again, because another instance may have introduced it.
func (i *Issuer) keyForHeader(ctx context.Context, header string) (trustedKey, error) {
	set := i.set()
	key, ok := set.trusted[header]
	if !ok && isOwnHeader(header) {
		if err := i.refreshKeys(ctx, set); err != nil {
			return trustedKey{}, fmt.Errorf("token: looking up the key of a token: %w", err)
		}
		key, ok = i.set().trusted[header]
	}
	if !ok {
		return trustedKey{}, errInvalid("The token was not issued here, or its signing key is no longer in use. Sign in again.")
	}
	return key, nil
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
