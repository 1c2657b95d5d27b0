package store

import (
	"context"
	"time"
)

const insertClientAssertion = `INSERT INTO client_assertions (hash, expires_at) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING`

// UseClientAssertion records until it expires that the assertion of a hash was used. Only the
// first of several calls returns true.
func (s *Store) UseClientAssertion(ctx context.Context, hash []byte, expires time.Time) (first bool, err error) {
	err = s.writer.single(ctx, func(t *Tx) error {
		n, err := t.exec(insertClientAssertion, nonNilBytes(hash), toMicros(expires))
		first = n == 1
		return err
	})
	return first, err
}
