package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// testPending counts unfinished runs, requests and ceremonies, and removes runs without an answer.
func testPending(t *testing.T, s *store.Store) {
	ctx, now := t.Context(), noon().Add(10*time.Minute)
	answered, named, expired, late := newRun(), newRun(), newRun(), newRun()
	named.UserID, expired.ExpiresAt, late.CreatedAt = schemas.NewID(), now, now
	for range 1200 { // more than one transaction removes
		must(t, s.Commit(ctx, newRun(), nil))
	}
	for _, run := range []*schemas.Run{answered, named, expired, late} {
		must(t, s.Commit(ctx, run, nil))
	}
	must(t, s.Commit(ctx, next(answered, "key"), nil))
	for i := range 3 {
		must(t, s.PutPasskeySession(ctx, newSession(fmt.Sprint(i), fmt.Sprint(i))))
	}
	all := store.Pending{Runs: 5000, AuthRequests: 5000, PasskeySessions: 5000}
	n, err := s.CountPending(ctx, now.Add(-9*time.Minute), all)
	must(t, err)
	wantEqual(t, "what there is", n, store.Pending{Runs: 1204, PasskeySessions: 3})
	n, err = s.CountPending(ctx, now, store.Pending{Runs: 7, AuthRequests: 7, PasskeySessions: 7})
	must(t, err)
	wantEqual(t, "what there is, up to a limit", n.Runs, 7)

	removed, err := s.TrimRuns(ctx, now.Add(-5*time.Minute))
	must(t, err)
	wantEqual(t, "how many runs were removed", removed, 1201)
	for _, run := range []*schemas.Run{answered, named, late} {
		_, err := s.Run(ctx, run.ID)
		must(t, err)
	}
	n, err = s.CountPending(ctx, now, all)
	must(t, err)
	wantEqual(t, "the runs that are left", n.Runs, 3)
}
