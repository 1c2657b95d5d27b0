package storetest

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// testTrimEvents has more old events than go into one transaction, and two instances
// that trim at once.
func testTrimEvents(t *testing.T, s *store.Store) {
	const old = 1200
	ctx, before := t.Context(), noon()
	for range old / 100 {
		var changes []schemas.Change
		for i := range 100 {
			at := before.Add(-time.Duration(1+i%7) * time.Microsecond)
			changes = append(changes, schemas.RecordEvent{Event: schemas.Event{At: at, Action: "user.signed_in", UserID: annID}})
		}
		must(t, s.Apply(ctx, changes))
	}
	kept := schemas.Event{ID: schemas.NewID(), At: before, Action: "user.signed_in", UserID: annID}
	must(t, s.Apply(ctx, []schemas.Change{schemas.RecordEvent{Event: kept}}))
	page := reply(s.Events(ctx, schemas.EventQuery{Limit: 2})).get(t)

	var removed atomic.Int32
	together(2, func(int) {
		n, err := s.TrimEvents(ctx, before, before.Add(time.Hour))
		if err != nil {
			t.Error(err)
		}
		removed.Add(int32(n))
	})
	// What one of the two left because the other was at it, is gone as well.
	n := reply(s.TrimEvents(ctx, before, before.Add(time.Hour))).get(t)
	wantEqual(t, "the number of events removed", int(removed.Load())+n, old)

	left := reply(s.Events(ctx, schemas.EventQuery{Limit: 10})).get(t)
	reported := schemas.Event{ID: left[0].ID, At: before.Add(time.Hour), Action: "audit.trimmed", Actor: schemas.Actor{Type: schemas.SystemActor},
		Detail: map[string]string{"before": before.Format(time.RFC3339), "events": fmt.Sprint(old)}}
	wantEqual(t, "what is left", left, []schemas.Event{reported, kept})
	wantEvents(t, s, schemas.EventQuery{Limit: 2, UserID: annID}, []schemas.Event{kept})

	// A reader of pages finds the new end.
	last := page[len(page)-1]
	wantEvents(t, s, schemas.EventQuery{Limit: 2, Before: schemas.EventKey{At: last.At, ID: last.ID}}, nil)
}

// testTrimNothing trims a log without old events, which records no event.
func testTrimNothing(t *testing.T, s *store.Store) {
	events := newEvents(t, s)
	reply(s.TrimEvents(t.Context(), noon(), noon().Add(time.Hour))).equals(t, "the number of events removed", 0)
	wantEvents(t, s, schemas.EventQuery{Limit: 100}, events)
}
