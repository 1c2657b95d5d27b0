package token

import (
	"context"
	"fmt"
	"time"

	"github.com/postern-id/postern/schemas"
)

// lifetimeMargin is how much longer than a token its key is kept. So the store is updated
// about once in that time, not for every token.
const lifetimeMargin = 24 * time.Hour

// sign signs a payload that is valid until the given time, in seconds since 1970, with the
// signing key of the algorithm. The key is kept until then at least, even when it is
// retired.
func (i *Issuer) sign(ctx context.Context, algorithm, typ string, payload []byte, until int64) (string, error) {
	s, err := i.signer(ctx, algorithm)
	if err == nil && until > s.lifetimeEnd.Load() {
		s, err = i.extendKeyLifetime(ctx, s, until)
	}
	if err != nil {
		return "", err
	}
	return s.sign(typ, payload)
}

// extendKeyLifetime makes the store keep a key until the given time, and returns the key.
// If the key was removed, because this instance has outdated keys, it returns the current
// key.
func (i *Issuer) extendKeyLifetime(ctx context.Context, s *signer, last int64) (*signer, error) {
	i.loading.Lock()
	defer i.loading.Unlock()
	if last <= s.lifetimeEnd.Load() {
		return s, nil // another caller was faster
	}
	until := time.Unix(last, 0).Add(lifetimeMargin).UTC()
	err := i.keys.NeedSigningKey(ctx, s.id, until)
	if schemas.HasClass(err, schemas.Conflict) {
		if err := i.reload(ctx); err != nil {
			return nil, err
		}
		if s = i.set().signing[s.algorithm]; s == nil {
			return nil, i.Ready()
		}
		err = i.keys.NeedSigningKey(ctx, s.id, until)
	}
	if err != nil {
		return nil, fmt.Errorf("token: extending the lifetime of a signing key: %w", err)
	}
	s.lifetimeEnd.Store(until.Unix())
	return s, nil
}
