package store

import (
	"context"
	"time"
)

// DerivedKey is a key derived from the key-encryption key for one purpose. It is sealed, and
// opaque to the store.
type DerivedKey struct {
	Purpose   string
	Sealed    []byte
	CreatedAt time.Time
}

// DerivedKeys returns the stored derived keys.
func DerivedKeys(ctx context.Context, r Reader) ([]DerivedKey, error) {
	return readAll(ctx, r, func(row scanner, k *DerivedKey) error {
		return row.Scan(&k.Purpose, &k.Sealed, (*microTime)(&k.CreatedAt))
	}, "SELECT purpose, sealed, created_at FROM derived_keys ORDER BY purpose")
}

// PutDerivedKey stores a derived key and replaces the one with the same purpose.
func PutDerivedKey(t *Tx, k DerivedKey) error {
	_, err := t.exec(`INSERT INTO derived_keys (purpose, sealed, created_at) VALUES (?, ?, ?)
		ON CONFLICT (purpose) DO UPDATE SET sealed = excluded.sealed, created_at = excluded.created_at`,
		k.Purpose, nonNilBytes(k.Sealed), toMicros(k.CreatedAt))
	return err
}

// InstanceKeys are the key-encryption keys of a server that uses the store.
type InstanceKeys struct {
	Host      string
	Keys      []string // their ids; the first seals
	StartedAt time.Time
}

// PutInstanceKeys stores the keys of this server and counts it among the instances that use
// the store.
func (s *Store) PutInstanceKeys(t *Tx, k InstanceKeys, now time.Time) error {
	s.counted.Store(true)
	_, err := t.exec(upsertInstance, s.instance, toMicros(now))
	if err == nil {
		_, err = t.exec("DELETE FROM instance_keys WHERE instance NOT IN (SELECT id FROM instances)")
	}
	if err == nil {
		_, err = t.exec(`INSERT INTO instance_keys (instance, host, keys, started_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (instance) DO UPDATE SET keys = excluded.keys`, s.instance, k.Host, (*lines)(&k.Keys), toMicros(k.StartedAt))
	}
	return err
}

// OtherInstances returns the keys of the other instances that use the store. An instance with
// unknown keys has an empty list.
func (s *Store) OtherInstances(ctx context.Context, r Reader, now time.Time) ([]InstanceKeys, error) {
	return readAll(ctx, r, func(row scanner, k *InstanceKeys) error {
		return row.Scan(&k.Host, (*lines)(&k.Keys), (*microTime)(&k.StartedAt))
	}, `SELECT COALESCE(k.host, 'an unknown host'), k.keys, COALESCE(k.started_at, i.seen_at) FROM instances i
		LEFT JOIN instance_keys k ON k.instance = i.id WHERE i.seen_at > ? AND i.id <> ? ORDER BY 3, i.id`,
		toMicros(now.Add(-InstanceTTL)), s.instance)
}
