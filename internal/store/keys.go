package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	keyColumns = `id, algorithm, private, status, created_at, signs_since, retired_at, needed_until`

	selectKeys query = `SELECT ` + keyColumns + ` FROM signing_keys ORDER BY created_at, id`

	insertKey query = `INSERT INTO signing_keys (` + keyColumns + `)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
)

// Rare statements on keys, which are not prepared.
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
func (s *Store) SigningKeys(ctx context.Context) (keys []SigningKey, err error) {
	err = s.each(ctx, selectKeys, func(row scanner) error {
		var k SigningKey
		var created int64
		var signs, retired, needed sql.NullInt64
		err := row.Scan(&k.ID, &k.Algorithm, &k.Private, (*string)(&k.Status), &created, &signs, &retired, &needed)
		k.CreatedAt = fromMicros(created)
		k.SignsSince, k.RetiredAt, k.NeededUntil = optionalFromMicros(signs), optionalFromMicros(retired), optionalFromMicros(needed)
		keys = append(keys, k)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("store: reading signing keys: %w", err)
	}
	return keys, nil
}

// optionalMicros stores the zero time as NULL.
func optionalMicros(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: toMicros(t), Valid: !t.IsZero()}
}

func optionalFromMicros(us sql.NullInt64) time.Time {
	if !us.Valid {
		return time.Time{}
	}
	return fromMicros(us.Int64)
}

// AddSigningKey adds a key. For each algorithm one key signs and at most one is published as
// its successor. If another instance added one first, the error is key_exists, Class Conflict.
func (s *Store) AddSigningKey(ctx context.Context, k SigningKey) error {
	return s.writer.single(ctx, func(t *tx) error { return t.addKey(k) })
}

func (t *tx) addKey(k SigningKey) error {
	n, err := t.exec(insertKey, k.ID, k.Algorithm, nonNilBytes(k.Private), string(k.Status), toMicros(k.CreatedAt),
		optionalMicros(k.SignsSince), optionalMicros(k.RetiredAt), optionalMicros(k.NeededUntil))
	if err != nil {
		return fmt.Errorf("store: adding a signing key: %w", err)
	}
	if n == 0 {
		return schemas.Errorf(schemas.Conflict, "key_exists",
			"There is a key that is %s for %s already (or one with the same id). Use that one.", k.Status, k.Algorithm)
	}
	return nil
}

// PublishSigningKey adds a successor for a signing key and records the event. If the other key
// no longer signs, the error is key_moved, Class Conflict; if there is a successor already, it
// is key_exists.
func (s *Store) PublishSigningKey(ctx context.Context, k SigningKey, after string, e schemas.Event) error {
	return s.moveKeys(ctx, func(t *Tx) error {
		if err := t.moveKey(after, holdSigning, after); err != nil {
			return err
		}
		if err := t.tx.addKey(k); err != nil {
			return err
		}
		return t.Apply([]schemas.Change{schemas.RecordEvent{Event: e}})
	})
}

// PromoteSigningKey makes a published key sign from the given time, retires the key it
// replaces ("" for none), and records the event. If another instance has changed either key,
// the error is key_moved, Class Conflict, and nothing is changed.
func (s *Store) PromoteSigningKey(ctx context.Context, id, after string, at time.Time, e schemas.Event) error {
	return s.moveKeys(ctx, func(t *Tx) error {
		if after != "" {
			if err := t.moveKey(after, retireKey, toMicros(at), after); err != nil {
				return err
			}
		}
		if err := t.moveKey(id, promoteKey, toMicros(at), id); err != nil {
			return err
		}
		return t.Apply([]schemas.Change{schemas.RecordEvent{Event: e}})
	})
}

// NeedSigningKey stores a key at least until the given time, when what it signs expires. If
// the key is gone, the error is key_moved, Class Conflict.
func (s *Store) NeedSigningKey(ctx context.Context, id string, until time.Time) error {
	return s.moveKeys(ctx, func(t *Tx) error { return t.moveKey(id, needKey, toMicros(until), toMicros(until), id) })
}

// RemoveSigningKey removes a retired key that is no longer needed at the given time, and
// records the event. If the key is needed or gone, the error is key_moved, Class Conflict.
func (s *Store) RemoveSigningKey(ctx context.Context, id string, at time.Time, e schemas.Event) error {
	return s.moveKeys(ctx, func(t *Tx) error {
		if err := t.moveKey(id, removeKey, id, toMicros(at)); err != nil {
			return err
		}
		return t.Apply([]schemas.Change{schemas.RecordEvent{Event: e}})
	})
}

// moveKeys is Update for statements whose conditions decide the outcome and lock the row they
// change. It does not wait for serial transactions, so tokens are issued during a long one.
func (s *Store) moveKeys(ctx context.Context, do func(*Tx) error) error {
	return s.writer.write(ctx, func(t *tx) error { return do(&Tx{tx: t, bind: s.bind()}) })
}

// moveKey runs a statement that changes one key if the key has the expected status.
func (t *Tx) moveKey(id, statement string, args ...any) error {
	n, err := t.exec(statement, args...)
	if err != nil {
		return fmt.Errorf("store: changing a signing key: %w", err)
	}
	if n == 0 {
		return schemas.Errorf(schemas.Conflict, "key_moved", "The signing key %s is not as it was any more. Look at the keys again.", id)
	}
	return nil
}
