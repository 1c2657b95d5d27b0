package store

import (
	"context"
	"fmt"
	"time"
)

const (
	upsertInstance = `INSERT INTO instances (id, seen_at) VALUES (?, ?)
		ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at
		RETURNING (SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied),
			(SELECT value FROM store_state WHERE name = '` + compatibleFrom + `')`

	selectInstances = `SELECT COUNT(*) FROM instances WHERE seen_at > ?`

	deleteInstance = `DELETE FROM instances WHERE id = ?`

	deleteOldInstances = `DELETE FROM instances WHERE seen_at <= ? AND id IN
		(SELECT id FROM instances WHERE seen_at <= ? ORDER BY seen_at LIMIT ?)`
)

// InstanceTTL is how long an instance counts as running after its last Ping.
const InstanceTTL = 2 * time.Minute

// Ping reports whether the database can be read and written and has a schema that this
// program works with. It writes, because reads still succeed with a full disk or a read-only
// server; the row records that this instance is alive.
func (s *Store) Ping(ctx context.Context) error {
	now := time.Now()
	v := Versions{Program: s.schema}
	err := s.writer.single(ctx, func(t *Tx) error {
		return t.row(upsertInstance, s.instance, toMicros(now)).Scan(&v.Applied, &v.CompatibleFrom)
	})
	if err != nil {
		return fmt.Errorf("store: the database cannot be read or written: %w", err)
	}
	if v.Applied < v.Program {
		return fmt.Errorf("store: the database has schema version %d, expected %d", v.Applied, v.Program)
	}
	if err := v.check(); err != nil {
		return err
	}
	s.counted.Store(true)
	return nil
}

// Instances returns the number of instances that use the store: those with a successful Ping
// in the last two minutes.
func (s *Store) Instances(ctx context.Context) (int, error) {
	return readValue[int](ctx, s, selectInstances, toMicros(time.Now().Add(-InstanceTTL)))
}

// removeInstance removes this instance from the table if it can.
func (s *Store) removeInstance() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.writer.single(ctx, func(t *Tx) error {
		_, err := t.exec(deleteInstance, s.instance)
		return err
	})
}
