package store

import (
	"context"
	"fmt"
	"time"
)

const insertClientAssertion query = `INSERT INTO client_assertions (hash, expires_at) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING`

// UseClientAssertion notes that the assertion of a hash has been used, until it
// expires. Of several who use one it reports true to the first, and false to the
// others.
func (s *Store) UseClientAssertion(ctx context.Context, hash []byte, expires time.Time) (first bool, err error) {
	err = s.writer.single(ctx, func(t *tx) error {
		n, err := t.exec(insertClientAssertion, nonNilBytes(hash), toMicros(expires))
		if err != nil {
			return fmt.Errorf("store: noting a client's assertion: %w", err)
		}
		first = n == 1
		return nil
	})
	return first, err
}
