package store

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/schemas"
)

const (
	selectKeys query = `SELECT id, algorithm, private, status, created_at FROM signing_keys ORDER BY created_at, id`

	insertKey query = `INSERT INTO signing_keys (id, algorithm, private, status, created_at)
		VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
)

// SigningKey is a key pair that tokens are signed with; its private half is
// sealed and opaque here.
type SigningKey = schemas.SigningKey

// SigningKeys returns all keys, oldest first.
func (s *Store) SigningKeys(ctx context.Context) (keys []SigningKey, err error) {
	err = s.each(ctx, selectKeys, func(row scanner) error {
		var k SigningKey
		var created int64
		err := row.Scan(&k.ID, &k.Algorithm, &k.Private, (*string)(&k.Status), &created)
		k.CreatedAt = moment(created)
		keys = append(keys, k)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("store: reading signing keys: %w", err)
	}
	return keys, nil
}

// AddSigningKey adds a key. Only one key of an algorithm signs at a time: where
// another instance was quicker this is key_exists, Class Conflict.
func (s *Store) AddSigningKey(ctx context.Context, k SigningKey) error {
	return s.writer.single(ctx, func(t *tx) error {
		n, err := t.exec(insertKey, k.ID, k.Algorithm, blob(k.Private), string(k.Status), micros(k.CreatedAt))
		if err != nil {
			return fmt.Errorf("store: adding a signing key: %w", err)
		}
		if n == 0 {
			return schemas.Errorf(schemas.Conflict, "key_exists",
				"There is a key that signs with %s already (or one with the same id). Use that one.", k.Algorithm)
		}
		return nil
	})
}
