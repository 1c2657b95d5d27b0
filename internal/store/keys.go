package store

import (
	"context"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	keyColumns = `id, algorithm, private, status, created_at, signs_since, retired_at, needed_until`

	selectKeys = `SELECT ` + keyColumns + ` FROM signing_keys ORDER BY created_at, id`

	insertKey = `INSERT INTO signing_keys (` + keyColumns + `)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
)

// Rare statements on keys.
const (
	retireKey = `UPDATE signing_keys SET status = 'retired', retired_at = ? WHERE id = ? AND status = 'signing'`

	promoteKey = `UPDATE signing_keys SET status = 'signing', signs_since = ? WHERE id = ? AND status = 'published'
		AND NOT EXISTS (SELECT 1 FROM signing_keys other WHERE other.algorithm = signing_keys.algorithm AND other.status = 'signing')`

	holdSigning = `UPDATE signing_keys SET status = 'signing' WHERE id = ? AND status = 'signing'`

	needKey = `UPDATE signing_keys SET needed_until = CASE WHEN needed_until > ? THEN needed_until ELSE ? END WHERE id = ?`

	removeKey = `DELETE FROM signing_keys WHERE id = ? AND status = 'retired' AND (needed_until IS NULL OR needed_until <= ?)`
)

// SigningKey is a key pair that signs tokens. Its private half is sealed, and opaque to the
// store.
type SigningKey = schemas.SigningKey

// SigningKeys returns all keys, oldest first.
func (s *Store) SigningKeys(ctx context.Context) ([]SigningKey, error) {
	return readAll(ctx, s, func(row scanner, k *SigningKey) error {
		return row.Scan(&k.ID, &k.Algorithm, &k.Private, (*string)(&k.Status), (*microTime)(&k.CreatedAt),
			(*nullTime)(&k.SignsSince), (*nullTime)(&k.RetiredAt), (*nullTime)(&k.NeededUntil))
	}, selectKeys)
}

// AddSigningKey adds a key. For each algorithm one key signs and at most one is published as
// its successor. If another instance added one first, the error is key_exists, Class Conflict.
func (s *Store) AddSigningKey(ctx context.Context, k SigningKey) error {
	return s.writer.single(ctx, func(t *Tx) error { return t.addKey(k) })
}

func (t *Tx) addKey(k SigningKey) error {
	return t.change(func() error {
		return schemas.Errorf(schemas.Conflict, "key_exists",
			"there is a key that is %s for %s already (or one with the same id); use that one", k.Status, k.Algorithm)
	}, insertKey, k.ID, k.Algorithm, nonNilBytes(k.Private), string(k.Status), toMicros(k.CreatedAt),
		(*nullTime)(&k.SignsSince), (*nullTime)(&k.RetiredAt), (*nullTime)(&k.NeededUntil))
}

// PublishSigningKey adds a successor for a signing key and records the event. If the other key
// no longer signs, the error is key_moved, Class Conflict; if there is a successor already, it
// is key_exists.
func (s *Store) PublishSigningKey(ctx context.Context, k SigningKey, after string, e schemas.Event) error {
	return s.writer.write(ctx, func(t *Tx) error {
		if err := t.moveKey(after, holdSigning, after); err != nil {
			return err
		}
		if err := t.addKey(k); err != nil {
			return err
		}
		return t.recordEvent(e)
	})
}

// PromoteSigningKey makes a published key sign from the given time, retires the key it
// replaces ("" for none), and records the event. If another instance has changed either key,
// the error is key_moved, Class Conflict, and nothing is changed.
func (s *Store) PromoteSigningKey(ctx context.Context, id, after string, at time.Time, e schemas.Event) error {
	return s.writer.write(ctx, func(t *Tx) error {
		if after != "" {
			if err := t.moveKey(after, retireKey, toMicros(at), after); err != nil {
				return err
			}
		}
		if err := t.moveKey(id, promoteKey, toMicros(at), id); err != nil {
			return err
		}
		return t.recordEvent(e)
	})
}

// NeedSigningKey stores a key at least until the given time, when what it signs expires. If
// the key is gone, the error is key_moved, Class Conflict.
func (s *Store) NeedSigningKey(ctx context.Context, id string, until time.Time) error {
	return s.writer.write(ctx, func(t *Tx) error { return t.moveKey(id, needKey, toMicros(until), toMicros(until), id) })
}

// RemoveSigningKey removes a retired key that is no longer needed at the given time, and
// records the event. If the key is needed or gone, the error is key_moved, Class Conflict.
func (s *Store) RemoveSigningKey(ctx context.Context, id string, at time.Time, e schemas.Event) error {
	return s.writer.write(ctx, func(t *Tx) error {
		if err := t.moveKey(id, removeKey, id, toMicros(at)); err != nil {
			return err
		}
		return t.recordEvent(e)
	})
}

// moveKey runs a statement that changes one key if the key has the expected status.
func (t *Tx) moveKey(id, statement string, args ...any) error {
	return t.change(func() error {
		return schemas.Errorf(schemas.Conflict, "key_moved", "the signing key %s was changed by another request; list the keys and try again", id)
	}, statement, args...)
}
