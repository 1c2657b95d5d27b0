package storetest

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// testClientAssertions has one used by many at once, and again, and swept when it
// has expired.
func testClientAssertions(t *testing.T, s *store.Store) {
	ctx := t.Context()
	for range 20 {
		hash := schemas.HashSecret(schemas.NewID())
		var first atomic.Int32
		together(8, func(int) {
			ok, err := s.UseClientAssertion(ctx, hash, noon())
			if err != nil {
				t.Error(err)
			}
			if ok {
				first.Add(1)
			}
		})
		again := reply(s.UseClientAssertion(ctx, hash, noon().Add(time.Hour))).get(t)
		if first.Load() != 1 || again {
			t.Fatalf("%d of those at once were the first, and afterwards %v", first.Load(), again)
		}
	}
	live := schemas.HashSecret("live")
	reply(s.UseClientAssertion(ctx, live, noon().Add(time.Microsecond))).get(t)
	reply(s.Sweep(ctx, noon())).equals(t, "the number of rows swept", 20)
	reply(s.UseClientAssertion(ctx, live, noon())).equals(t, "whether one that is live can be used again", false)
}
