package store

import (
	"context"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Pending counts the rows of unfinished sign-ins.
type Pending struct{ Runs, AuthRequests, PasskeySessions int }

const (
	countPendingRuns = `SELECT COUNT(*) FROM (SELECT 1 FROM runs WHERE expires_at > ? LIMIT ?) AS r`

	// Answered requests stay stored for longer than a request can be open.
	countPendingRequests = `SELECT COUNT(*) FROM (SELECT 1 FROM auth_requests WHERE expires_at > ? AND expires_at <= ? AND code_hash IS NULL LIMIT ?) AS r`

	countPendingSessions = `SELECT COUNT(*) FROM (SELECT 1 FROM passkey_sessions WHERE expires_at > ? LIMIT ?) AS r`

	// PostgreSQL evaluates the outer condition again on the row it deletes.
	deleteUnansweredRuns = `DELETE FROM runs WHERE revision = 1 AND created_at <= ? AND id IN
		(SELECT id FROM runs WHERE revision = 1 AND status = '` + string(schemas.Incomplete) + `' AND user_id = ''
		AND created_at <= ? AND expires_at <= ? ORDER BY expires_at LIMIT ?)`
)

// The longest time an authorization request is open and a run waits for an answer.
const (
	longestRequest = time.Hour
	longestRun     = 24 * time.Hour
)

// CountPending counts the runs, authorization requests and passkey sessions that have not
// expired at now, each up to a limit. It visits every row it counts, so it is for occasional
// use.
func (s *Store) CountPending(ctx context.Context, now time.Time, limit Pending) (n Pending, err error) {
	for _, one := range []struct {
		into *int
		q    string
		args []any
	}{
		{&n.Runs, countPendingRuns, []any{toMicros(now), limit.Runs}},
		{&n.AuthRequests, countPendingRequests, []any{toMicros(now), toMicros(now.Add(longestRequest)), limit.AuthRequests}},
		{&n.PasskeySessions, countPendingSessions, []any{toMicros(now), limit.PasskeySessions}},
	} {
		if err := s.row(ctx, one.q, one.args...).Scan(one.into); err != nil {
			return n, err
		}
	}
	return n, nil
}

// TrimRuns removes the unanswered runs without a user that began before the given time, in
// small batches, and returns their number. Any number of instances may call it concurrently.
func (s *Store) TrimRuns(ctx context.Context, before time.Time) (removed int, err error) {
	for n := int64(sweepBatch); n == sweepBatch; removed += int(n) {
		err := s.writer.single(ctx, func(t *Tx) (err error) {
			n, err = t.exec(deleteUnansweredRuns, toMicros(before), toMicros(before), toMicros(before.Add(longestRun)), sweepBatch)
			return err
		})
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}
