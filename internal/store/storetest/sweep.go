package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// testSweep sweeps more expired rows than fit into one transaction, on two instances concurrently.
func testSweep(t *testing.T, s *store.Store) {
	const expired = 1200
	ctx, deadline := t.Context(), noon().Add(time.Hour)
	live, last := newRun(), newRun()
	live.ExpiresAt = deadline.Add(time.Microsecond)
	last.ExpiresAt = deadline
	must(t, s.Commit(ctx, live, nil))
	must(t, s.Commit(ctx, last, nil))
	together(16, func(i int) {
		for range expired / 16 {
			check(t, s.Commit(ctx, newRun(), nil))
		}
	})
	dead, alive := newSession("dead", "dead"), newSession("alive", "alive")
	alive.ExpiresAt = deadline.Add(time.Hour)
	must(t, s.PutPasskeySession(ctx, dead))
	must(t, s.PutPasskeySession(ctx, alive))

	removed := sumOf(t, 2, func(int) (int, error) { return s.Sweep(ctx, deadline) })
	// The rows that one instance skipped because the other was removing them are removed too.
	n := reply(s.Sweep(ctx, deadline)).get(t)
	wantEqual(t, "the number of rows swept", removed+n, expired+2)
	reply(s.Run(ctx, live.ID)).get(t)
	reply(s.Run(ctx, last.ID)).fails(t, schemas.Invalid, schemas.CodeExecutionNotFound)
	reply(s.TakePasskeySession(ctx, alive.TokenHash, noon())).get(t)
}

// testPending counts unfinished runs, requests and ceremonies, and removes runs without an answer.
func testPending(t *testing.T, s *store.Store) {
	ctx, now := t.Context(), noon().Add(10*time.Minute)
	answered, named, expired, late := newRun(), newRun(), newRun(), newRun()
	named.UserID, expired.ExpiresAt, late.CreatedAt = schemas.NewID(), now, now
	for range 1200 { // more rows than one transaction removes
		must(t, s.Commit(ctx, newRun(), nil))
	}
	commit(t, s, answered, named, expired, late)
	must(t, s.Commit(ctx, next(answered, "key"), nil))
	for i := range 3 {
		must(t, s.PutPasskeySession(ctx, newSession(fmt.Sprint(i), fmt.Sprint(i))))
	}
	all := store.Pending{Runs: 5000, AuthRequests: 5000, PasskeySessions: 5000}
	reply(s.CountPending(ctx, now.Add(-9*time.Minute), all)).equals(t, "what there is", store.Pending{Runs: 1204, PasskeySessions: 3})
	wantEqual(t, "what there is, up to a limit", reply(s.CountPending(ctx, now, store.Pending{Runs: 7, AuthRequests: 7, PasskeySessions: 7})).get(t).Runs, 7)

	reply(s.TrimRuns(ctx, now.Add(-5*time.Minute))).equals(t, "how many runs were removed", 1201)
	wantRuns(t, s, answered, named, late)
	wantEqual(t, "the runs that are left", reply(s.CountPending(ctx, now, all)).get(t).Runs, 3)
}
