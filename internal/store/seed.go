package store

import (
	"context"
	"fmt"
	"time"
)

const insertSeeding query = `INSERT INTO seeding (one, done_at) VALUES (1, ?) ON CONFLICT (one) DO NOTHING`

// MarkSeeded records that the store has its initial content. It returns true for the first
// call.
func (t *Tx) MarkSeeded(now time.Time) (first bool, err error) {
	n, err := t.tx.exec(insertSeeding, toMicros(now))
	if err != nil {
		return false, fmt.Errorf("store: claiming the seeding: %w", err)
	}
	return n > 0, nil
}

// Seeded reports whether the store has its initial content.
func Seeded(ctx context.Context, r Reader) (seeded bool, err error) {
	err = rows(ctx, r, func(row scanner) error { return row.Scan(&seeded) }, "SELECT EXISTS (SELECT 1 FROM seeding)")
	return seeded, err
}
