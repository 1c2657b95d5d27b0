package store

import (
	"context"
	"fmt"
	"time"
)

const (
	// PostgreSQL evaluates the outer condition again on a row that was changed concurrently,
	// but not the inner one.
	deleteExpiredRuns query = `DELETE FROM runs WHERE expires_at <= ? AND id IN
		(SELECT id FROM runs WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`

	deleteExpiredPasskeySessions query = `DELETE FROM passkey_sessions WHERE expires_at <= ? AND token_hash IN
		(SELECT token_hash FROM passkey_sessions WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`

	deleteExpiredSessions query = `DELETE FROM sessions WHERE expires_at <= ? AND id IN
		(SELECT id FROM sessions WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`

	deleteExpiredRevocations query = `DELETE FROM revoked_tokens WHERE expires_at <= ? AND id IN
		(SELECT id FROM revoked_tokens WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`

	deleteExpiredAuthRequests query = `DELETE FROM auth_requests WHERE expires_at <= ? AND id IN
		(SELECT id FROM auth_requests WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`

	deleteExpiredFamilies query = `DELETE FROM refresh_families WHERE expires_at <= ? AND id IN
		(SELECT id FROM refresh_families WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`

	deleteExpiredClientAssertions query = `DELETE FROM client_assertions WHERE expires_at <= ? AND hash IN
		(SELECT hash FROM client_assertions WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`
)

// sweepBatch is how many rows one transaction of a sweep removes: few enough that sign-ins do
// not wait.
const sweepBatch = 500

// Sweep removes the runs, authorization requests, sessions, passkey sessions, refresh tokens,
// revocations, client assertions and clients that have expired at now, in small batches, and
// returns their number. Any number of instances may call it concurrently.
func (s *Store) Sweep(ctx context.Context, now time.Time) (removed int, err error) {
	for _, q := range []query{deleteExpiredRuns, deleteExpiredAuthRequests, deleteExpiredPasskeySessions, deleteExpiredFamilies,
		deleteExpiredSessions, deleteExpiredRevocations, deleteExpiredClientAssertions} {
		n, err := s.sweep(ctx, q, now, sweepBatch)
		removed += n
		if err != nil {
			return removed, fmt.Errorf("store: sweeping: %w", err)
		}
	}
	if _, err := s.sweep(ctx, deleteOldInstances, now.Add(-InstanceTTL), sweepBatch); err != nil {
		return removed, fmt.Errorf("store: sweeping: %w", err)
	}
	guesses, err := s.sweepFailedGuesses(ctx, now)
	if removed += guesses; err != nil {
		return removed, fmt.Errorf("store: sweeping: %w", err)
	}
	n, err := s.sweepClients(ctx, now)
	if err == nil {
		err = s.compact(ctx)
	}
	if err != nil {
		err = fmt.Errorf("store: sweeping: %w", err)
	}
	return removed + n, err
}

func (s *Store) sweep(ctx context.Context, q query, now time.Time, batch int) (removed int, err error) {
	for {
		var n int64
		err := s.writer.single(ctx, func(t *tx) (err error) {
			n, err = t.exec(q, toMicros(now), toMicros(now), batch)
			return err
		})
		if err != nil {
			return removed, err
		}
		removed += int(n)
		if int(n) < batch {
			return removed, nil
		}
	}
}
