package storetest

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// testSweep has more expired rows than go into one transaction, and two
// instances sweeping at once.
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

	var removed atomic.Int32
	together(2, func(int) {
		n, err := s.Sweep(ctx, deadline)
		if err != nil {
			t.Error(err)
		}
		removed.Add(int32(n))
	})
	// What one of the two left because the other was at it, is gone as well.
	n := reply(s.Sweep(ctx, deadline)).get(t)
	wantEqual(t, "the number of rows swept", int(removed.Load())+n, expired+2)
	reply(s.Run(ctx, live.ID)).get(t)
	reply(s.Run(ctx, last.ID)).fails(t, schemas.Invalid, schemas.CodeExecutionNotFound)
	reply(s.TakePasskeySession(ctx, alive.TokenHash, noon())).get(t)
}
