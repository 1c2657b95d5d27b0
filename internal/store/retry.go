package store

import (
	"context"
	"math/rand/v2"
	"time"
)

// writeAttempts is the most attempts of a write that loses conflicts.
const writeAttempts = 16

// retry is the function retry, and counts the further attempts.
func (w *postgresWriter) retry(ctx context.Context, do func() error) error {
	first := true
	return retry(ctx, func() error {
		if !first {
			w.retries.Add(1)
		}
		first = false
		return do()
	})
}

// retry calls do until it loses no conflict. The delay between attempts is random, so that the
// same writers do not collide again.
func retry(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if isReadOnly(err) && try == 1 {
			continue // the pool has dropped such connections, so the next one is new
		}
		if err == nil || !isConflict(err) || try == writeAttempts {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rand.N(time.Millisecond << min(try, 8))):
		}
	}
}
