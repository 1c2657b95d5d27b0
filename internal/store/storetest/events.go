package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// newEvents returns events that share members with each other, newest first.
func newEvents(t *testing.T, s *store.Store) (events []schemas.Event) {
	t.Helper()
	for i := range 24 {
		e := schemas.Event{ID: schemas.NewID(), At: noon().Add(time.Duration(i/2) * time.Minute), Action: []string{"user.signed_in", "role.replaced"}[i%2]}
		if i%2 == 1 {
			e.Actor = schemas.Actor{Type: schemas.UserActor, ID: fmt.Sprint("actor", i%3), Client: "CONSOLE"}
			e.Resource = schemas.ResourceRef{Type: []string{"role", "group"}[i%4/2], ID: fmt.Sprint("resource", i%5)}
			e.Before, e.After = fmt.Sprint("before", i), fmt.Sprint("after", i)
		}
		if i%3 > 0 {
			e.UserID, e.ApplicationID, e.ExecutionDigest, e.TraceID = fmt.Sprint("user", i%4), fmt.Sprint("app", i%3), fmt.Sprint("run", i), fmt.Sprint("trace", i%6)
			e.Detail = map[string]string{"aaguid": fmt.Sprint(i)}
			switch i % 8 { // some do it to themselves, and to others
			case 0, 1, 5:
				e.Actor = schemas.Actor{Type: schemas.UserActor, ID: e.UserID}
			case 3, 7:
				e.Actor = schemas.Actor{Type: schemas.UserActor, ID: "user1"}
			}
		}
		apply(t, s, schemas.RecordEvent{Event: e})
		events = append([]schemas.Event{e}, events...)
	}
	return events
}

// testEventQueries queries events by each member alone, and by pairs of members.
func testEventQueries(t *testing.T, s *store.Store) {
	events := newEvents(t, s)
	filters := []func(q *schemas.EventQuery, e *schemas.Event) (value string){
		func(q *schemas.EventQuery, e *schemas.Event) string { q.Action = e.Action; return e.Action },
		func(q *schemas.EventQuery, e *schemas.Event) string { q.ActorID = e.Actor.ID; return e.Actor.ID },
		func(q *schemas.EventQuery, e *schemas.Event) string { q.UserID = e.UserID; return e.UserID },
		func(q *schemas.EventQuery, e *schemas.Event) string {
			q.ResourceType = e.Resource.Type
			return e.Resource.Type
		},
		func(q *schemas.EventQuery, e *schemas.Event) string {
			q.ResourceID = e.Resource.ID
			return e.Resource.ID
		},
		func(q *schemas.EventQuery, e *schemas.Event) string {
			q.ApplicationID = e.ApplicationID
			return e.ApplicationID
		},
		func(q *schemas.EventQuery, e *schemas.Event) string { q.TraceID = e.TraceID; return e.TraceID },
		func(q *schemas.EventQuery, e *schemas.Event) string {
			q.ExecutionDigest = e.ExecutionDigest
			return e.ExecutionDigest
		},
	}
	for i, first := range filters {
		for _, second := range filters[i:] {
			for _, e := range events {
				q := schemas.EventQuery{Limit: 100}
				a, b := first(&q, &e), second(&q, &e)
				want := slices.DeleteFunc(slices.Clone(events), func(o schemas.Event) bool {
					var ignored schemas.EventQuery
					return a != "" && first(&ignored, &o) != a || b != "" && second(&ignored, &o) != b
				})
				wantEvents(t, s, q, want)
			}
		}
	}
	wantEvents(t, s, schemas.EventQuery{Limit: 5, UserID: "nobody"}, nil)
	wantEvents(t, s, schemas.EventQuery{Limit: 5, UserID: "a\x00"}, nil)
	wantEvents(t, s, schemas.EventQuery{Limit: 5, Before: schemas.EventKey{At: noon().Add(time.Hour), ID: "\xff"}}, nil)
}

// testEventPages reads the log in pages, and by time. Some events have the same
// time.
func testEventPages(t *testing.T, s *store.Store) {
	events := newEvents(t, s)
	wantEvents(t, s, schemas.EventQuery{Limit: 100}, events)
	q := schemas.EventQuery{Limit: 5}
	for n := 0; n < len(events); n += q.Limit {
		page := events[n:min(n+q.Limit, len(events))]
		wantEvents(t, s, q, page)
		last := page[len(page)-1]
		q.Before = schemas.EventKey{At: last.At, ID: last.ID}
	}
	wantEvents(t, s, q, nil)
	from, to := events[10].At, events[3].At
	within := slices.DeleteFunc(slices.Clone(events), func(e schemas.Event) bool { return e.At.Before(from) || !e.At.Before(to) })
	wantEvents(t, s, schemas.EventQuery{Limit: 100, From: from, To: to}, within)
	key := schemas.EventKey{At: within[1].At, ID: within[1].ID}
	wantEvents(t, s, schemas.EventQuery{Limit: 2, From: from, To: to, Before: key}, within[2:4])
}

func wantEvents(t *testing.T, s *store.Store, q schemas.EventQuery, want []schemas.Event) {
	t.Helper()
	got := reply(s.Events(t.Context(), q)).get(t)
	if len(got) == len(want) && len(want) == 0 {
		return
	}
	wantEqual(t, fmt.Sprintf("the events of %+v", q), got, want)
}

// testEvents records events without an id, which do not conflict.
func testEvents(t *testing.T, s *store.Store) {
	nameless := schemas.RecordEvent{Event: schemas.Event{At: noon(), Action: "user.created"}}
	apply(t, s, nameless, nameless)
}

// testTrimEvents trims more old events than fit into one transaction, on two instances
// concurrently.
func testTrimEvents(t *testing.T, s *store.Store) {
	const old = 1200
	ctx, before := t.Context(), noon()
	for range old / 100 {
		var changes []schemas.Change
		for i := range 100 {
			at := before.Add(-time.Duration(1+i%7) * time.Microsecond)
			changes = append(changes, schemas.RecordEvent{Event: schemas.Event{At: at, Action: "user.signed_in", UserID: annID}})
		}
		apply(t, s, changes...)
	}
	kept := schemas.Event{ID: schemas.NewID(), At: before, Action: "user.signed_in", UserID: annID}
	apply(t, s, schemas.RecordEvent{Event: kept})
	page := reply(s.Events(ctx, schemas.EventQuery{Limit: 2})).get(t)

	removed := sumOf(t, 2, func(int) (int, error) {
		done, err := s.EventChain(chainKey).Trim(ctx, store.Trim{Now: before.Add(time.Hour), Before: before, UndeliveredBefore: before})
		return done.Events, err
	})
	// The events that one instance skipped because the other was removing them are removed too.
	n := trimAll(t, s, before, before.Add(time.Hour))
	wantEqual(t, "the number of events removed", removed+n, old)

	left := reply(s.Events(ctx, schemas.EventQuery{Limit: 10})).get(t)
	reported := schemas.Event{ID: left[0].ID, At: before.Add(time.Hour), Action: "audit.trimmed", Actor: schemas.Actor{Type: schemas.SystemActor},
		Detail: map[string]string{"before": before.Format(time.RFC3339Nano), "events": fmt.Sprint(old), "previousSeal": "0:", "retention": "0s", "seal": "1", "code": left[0].Detail["code"]}}
	wantEqual(t, "what is left", left, []schemas.Event{reported, kept})
	wantEvents(t, s, schemas.EventQuery{Limit: 2, UserID: annID}, []schemas.Event{kept})

	// A reader of pages finds the new end.
	last := page[len(page)-1]
	wantEvents(t, s, schemas.EventQuery{Limit: 2, Before: schemas.EventKey{At: last.At, ID: last.ID}}, nil)
}

// testTrimNothing trims a log without old events, which records no event.
func testTrimNothing(t *testing.T, s *store.Store) {
	events := newEvents(t, s)
	wantEqual(t, "the number of events removed", trimAll(t, s, noon(), noon().Add(time.Hour)), 0)
	wantEvents(t, s, schemas.EventQuery{Limit: 100}, events)
}
