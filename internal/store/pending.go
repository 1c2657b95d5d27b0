package store

import (
	"context"
	"fmt"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Pending is how many rows there are for sign-ins that nobody may ever finish.
type Pending struct{ Runs, AuthRequests, PasskeySessions int }

const (
	countPendingRuns query = `SELECT COUNT(*) FROM (SELECT 1 FROM runs WHERE expires_at > ? LIMIT ?) AS r`

	// Those that were answered with a code are kept for longer than they could be open.
	countPendingRequests query = `SELECT COUNT(*) FROM (SELECT 1 FROM auth_requests WHERE expires_at > ? AND expires_at <= ? AND code_hash IS NULL LIMIT ?) AS r`

	countPendingSessions query = `SELECT COUNT(*) FROM (SELECT 1 FROM passkey_sessions WHERE expires_at > ? LIMIT ?) AS r`

	// The outer condition is judged again for the row as it is when it is deleted.
	deleteUnansweredRuns query = `DELETE FROM runs WHERE revision = 1 AND created_at <= ? AND id IN
		(SELECT id FROM runs WHERE revision = 1 AND status = '` + query(schemas.Incomplete) + `' AND user_id = ''
		AND created_at <= ? AND expires_at <= ? ORDER BY expires_at LIMIT ?)`
)

// Longer than an authorization request is open, and than a run waits for an answer.
const (
	longestRequest = time.Hour
	longestRun     = 24 * time.Hour
)

// CountPending counts the rows of runs, authorization requests and passkey sessions that
// have not expired at now, each up to a limit, beyond which it does not look. It is for
// once in a while: an index leads to the rows, and each is looked at.
func (s *Store) CountPending(ctx context.Context, now time.Time, limit Pending) (n Pending, err error) {
	for _, one := range []struct {
		into *int
		q    query
		args []any
	}{
		{&n.Runs, countPendingRuns, []any{toMicros(now), limit.Runs}},
		{&n.AuthRequests, countPendingRequests, []any{toMicros(now), toMicros(now.Add(longestRequest)), limit.AuthRequests}},
		{&n.PasskeySessions, countPendingSessions, []any{toMicros(now), limit.PasskeySessions}},
	} {
		if err := s.row(ctx, one.q, one.args...).Scan(one.into); err != nil {
			return n, fmt.Errorf("store: counting unfinished sign-ins: %w", err)
		}
	}
	return n, nil
}

// TrimRuns removes the runs that began before a time, name nobody, and whose first
// question nobody has answered, a few at a time, and returns how many there were. It may
// be called on any number of instances at once.
func (s *Store) TrimRuns(ctx context.Context, before time.Time) (removed int, err error) {
	for n := int64(sweepBatch); n == sweepBatch; removed += int(n) {
		err := s.writer.single(ctx, func(t *tx) (err error) {
			n, err = t.exec(deleteUnansweredRuns, toMicros(before), toMicros(before), toMicros(before.Add(longestRun)), sweepBatch)
			return err
		})
		if err != nil {
			return removed, fmt.Errorf("store: removing runs that nobody has answered: %w", err)
		}
	}
	return removed, nil
}
