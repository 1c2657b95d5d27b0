package store

import (
	"context"
	"time"
)

const insertSeeding = `INSERT INTO seeding (one, done_at) VALUES (1, ?) ON CONFLICT (one) DO NOTHING`

// MarkSeeded records that the store has its initial content. It returns true for the first
// call.
func (t *Tx) MarkSeeded(now time.Time) (first bool, err error) {
	n, err := t.exec(insertSeeding, toMicros(now))
	return n > 0, err
}

// Seeded reports whether the store has its initial content.
func Seeded(ctx context.Context, r Reader) (seeded bool, err error) {
	return readValue[bool](ctx, r, "SELECT EXISTS (SELECT 1 FROM seeding)")
}
