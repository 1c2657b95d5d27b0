package store

import (
	"context"
	"time"
)

// sweepQueries returns the statements that delete expired rows.
func sweepQueries() []string {
	return []string{
		deleteExpired("runs", "id"), deleteExpired("auth_requests", "id"), deleteExpired("passkey_sessions", "token_hash"),
		deleteExpired("refresh_families", "id"), deleteExpired("sessions", "id"), deleteExpired("links", "hash"),
	}
}

// sweepRefusals returns the statements that delete expired rows whose only effect is a rejection:
// revoked tokens and used client assertions.
func sweepRefusals() []string {
	return []string{deleteExpired("revoked_tokens", "id"), deleteExpired("client_assertions", "hash")}
}

// keptRefusals is how long rows of sweepRefusals are kept after they expire. The clock of an
// instance may be fast, or jump ahead and back. Without the row, a token that is valid again by the
// right clock would be accepted although it was revoked.
const keptRefusals = 24 * time.Hour

// deleteExpired deletes the rows that expired first. PostgreSQL evaluates the outer condition
// again on a row that was changed concurrently, but not the inner one.
func deleteExpired(table, key string) string {
	return "DELETE FROM " + table + " WHERE expires_at <= ? AND " + key +
		" IN (SELECT " + key + " FROM " + table + " WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)"
}

// sweepBatch is how many rows one transaction of a sweep removes: few enough that sign-ins do
// not wait.
const sweepBatch = 500

// Sweep removes the runs, authorization requests, sessions, passkey sessions, refresh tokens,
// revocations, client assertions and clients that have expired at now, in small batches, and
// returns their number. Any number of instances may call it concurrently.
func (s *Store) Sweep(ctx context.Context, now time.Time) (removed int, err error) {
	for _, group := range []struct {
		expired time.Time
		queries []string
	}{{now, sweepQueries()}, {now.Add(-keptRefusals), sweepRefusals()}} {
		for _, q := range group.queries {
			n, err := s.sweep(ctx, q, group.expired, sweepBatch)
			removed += n
			if err != nil {
				return removed, err
			}
		}
	}
	if _, err := s.sweep(ctx, deleteOldInstances, now.Add(-InstanceTTL), sweepBatch); err != nil {
		return removed, err
	}
	guesses, err := s.sweepFailedGuesses(ctx, now)
	if removed += guesses; err != nil {
		return removed, err
	}
	clients, err := s.sweepClients(ctx, now)
	if err == nil {
		err = s.compact(ctx)
	}
	return removed + clients, err
}

func (s *Store) sweep(ctx context.Context, q string, now time.Time, batch int) (removed int, err error) {
	return s.sweepRows(ctx, batch, q, toMicros(now), toMicros(now), batch)
}

// sweepRows runs a statement until it removes less than a batch.
func (s *Store) sweepRows(ctx context.Context, batch int, q string, args ...any) (removed int, err error) {
	for {
		var n int64
		err := s.writer.single(ctx, func(t *Tx) (err error) {
			n, err = t.exec(q, args...)
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
