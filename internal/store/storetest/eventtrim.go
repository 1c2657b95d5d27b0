package storetest

import (
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// trimAll removes the events before a time without waiting for a sink, and returns their number.
func trimAll(t testing.TB, s *store.Store, before, now time.Time) int {
	t.Helper()
	return trimAllWith(t, s, chainKey, before, now)
}

func trimAllWith(t testing.TB, s *store.Store, key []byte, before, now time.Time) int {
	t.Helper()
	return reply(s.EventChain(key).Trim(t.Context(), store.Trim{Now: now, Before: before, UndeliveredBefore: before})).get(t).Events
}

// trimDay is the first day of the events of recordDays.
func trimDay() time.Time { return noon().Truncate(24 * time.Hour) }

// recordDays records and seals two events on each of the first days.
func recordDays(t *testing.T, s *store.Store, days int) {
	t.Helper()
	for i := range days {
		for _, hour := range []int{1, 23} {
			at := trimDay().AddDate(0, 0, i).Add(time.Duration(hour) * time.Hour)
			apply(t, s, schemas.RecordEvent{Event: schemas.Event{At: at, Action: "test.done"}})
			sealAll(t, s, s.EventChain(chainKey), 1)
		}
	}
}

// deliver records that a sink has received the events up to a seal.
func deliver(t *testing.T, s *store.Store, sink string, seq int64, now time.Time) {
	t.Helper()
	if _, ok, err := s.ClaimSink(t.Context(), sink, now, now.Add(time.Minute)); err != nil || !ok {
		t.Fatalf("claiming the sink %s: %t, %v", sink, ok, err)
	}
	must(t, s.AdvanceSink(t.Context(), sink, seq))
	must(t, s.ReleaseSink(t.Context(), sink, now))
}

// testTrimWaitsForSinks trims events of the days 0 to 4, two each, with the seals 1 to 10. Events
// of the days 0 to 3 are old, and those of day 0 are removed in any case.
func testTrimWaitsForSinks(t *testing.T, s *store.Store) {
	recordDays(t, s, 5)
	day := func(n int) time.Time { return trimDay().AddDate(0, 0, n) }
	trim := store.Trim{Now: day(10), Before: day(4), Sinks: []string{"file", "target"}}
	run := func(what string, events int, lost map[string]int) {
		t.Helper()
		got := reply(s.EventChain(chainKey).Trim(t.Context(), trim)).get(t)
		wantEqual(t, what+": the removed events", got.Events, events)
		if len(got.Undelivered)+len(lost) > 0 {
			wantEqual(t, what+": the events that sinks missed", got.Undelivered, lost)
		}
	}
	deliver(t, s, "file", 10, trim.Now)
	run("a sink that has received nothing", 0, nil)
	deliver(t, s, "target", 3, trim.Now)
	run("a sink that has received a day and a half", 2, nil)
	run("the same again", 0, nil)
	trim.UndeliveredBefore = day(2)
	run("events that are too old to wait", 2, map[string]int{"target": 1})
	run("the same again", 0, nil)
	trim.Sinks = nil
	run("another instance has the sink", 0, nil)
	trim.Now = trim.Now.Add(25 * time.Hour)
	run("no instance has the sink any more", 4, nil)
	wantEvents(t, s, schemas.EventQuery{Limit: 10, Action: "audit.undelivered"}, []schemas.Event{{
		ID: reply(s.Events(t.Context(), schemas.EventQuery{Limit: 1, Action: "audit.undelivered"})).get(t)[0].ID, At: day(10), Action: "audit.undelivered",
		Actor: schemas.Actor{Type: schemas.SystemActor}, Detail: map[string]string{"sink": "target", "before": day(2).Format(time.RFC3339), "events": "1"},
	}})
	reply(s.EventChain(chainKey).Seal(t.Context())).get(t)
	wantFault(t, verifyChain(t, s, chainKey, nil), 0, "")
}

// testTrimUnsealed keeps an old event that has no seal, so that no sink can have received it.
func testTrimUnsealed(t *testing.T, s *store.Store) {
	recordDays(t, s, 1)
	deliver(t, s, "file", 2, noon())
	apply(t, s, schemas.RecordEvent{Event: schemas.Event{At: trimDay().Add(2 * time.Hour), Action: "test.done"}})
	trim := store.Trim{Now: noon().AddDate(0, 0, 9), Before: noon().AddDate(0, 0, 3), Sinks: []string{"file"}}
	wantEqual(t, "the removed events", reply(s.EventChain(chainKey).Trim(t.Context(), trim)).get(t).Events, 0)
	sealAll(t, s, s.EventChain(chainKey), 1)
	deliver(t, s, "file", 3, noon())
	wantEqual(t, "the removed events", reply(s.EventChain(chainKey).Trim(t.Context(), trim)).get(t).Events, 3)
}
