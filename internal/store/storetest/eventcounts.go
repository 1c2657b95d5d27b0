package storetest

import (
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// testEventCounts counts events before and after they are sealed, in several batches, and removes
// old counts.
func testEventCounts(t *testing.T, s *store.Store) {
	ctx, chain := t.Context(), s.EventChain(chainKey)
	hour := noon().Truncate(time.Hour)
	record := func(after time.Duration, action string, detail map[string]string) {
		t.Helper()
		apply(t, s, schemas.RecordEvent{Event: schemas.Event{ID: schemas.NewID(), At: hour.Add(after), Action: action, Detail: detail}})
	}
	record(0, "user.signed_in", map[string]string{"acr": "phr"})
	record(time.Hour-time.Microsecond, "user.signed_in", nil)
	record(time.Minute, "user.signed_in", map[string]string{"bySession": "true"})
	count := func(after time.Duration, action, reason string, n int) schemas.EventCount {
		return schemas.EventCount{At: hour.Add(after), Action: action, Reason: reason, Count: n}
	}
	first := []schemas.EventCount{count(0, "user.signed_in", "", 2), count(0, "user.signed_in", schemas.SessionReason, 1)}
	reply(s.EventCounts(ctx, hour, hour.Add(time.Hour), time.Hour)).equals(t, "the counts before the seal", first)
	reply(s.EventCounts(ctx, hour.Add(time.Hour), hour.Add(2*time.Hour), time.Hour)).equals(t, "the counts of the next hour", nil)
	reply(chain.Seal(ctx)).equals(t, "the number of sealed events", 3)
	reply(s.EventCounts(ctx, hour, hour.Add(time.Hour), time.Hour)).equals(t, "the counts after the seal", first)
	record(2*time.Minute, "user.signed_in", nil)
	record(time.Hour, "attempt.failed", map[string]string{"error": "wrong_password"})
	record(2*time.Hour, "attempt.failed", map[string]string{"error": "wrong_password", "repeated": "8"})
	record(25*time.Hour, "delivery.given_up", map[string]string{"reason": "expired"})
	byHour := []schemas.EventCount{
		count(0, "user.signed_in", "", 3), count(0, "user.signed_in", schemas.SessionReason, 1),
		count(time.Hour, "attempt.failed", "wrong_password", 1), count(2*time.Hour, "attempt.failed", "wrong_password", 4),
	}
	reply(s.EventCounts(ctx, hour, hour.Add(25*time.Hour), time.Hour)).equals(t, "the counts of sealed and unsealed events", byHour)
	reply(chain.Seal(ctx)).equals(t, "the number of sealed events", 4)
	reply(s.EventCounts(ctx, hour, hour.Add(25*time.Hour), time.Hour)).equals(t, "the counts by the hour", byHour)
	reply(s.EventCounts(ctx, hour, hour.Add(48*time.Hour), 24*time.Hour)).equals(t, "the counts by the day", []schemas.EventCount{
		count(0, "attempt.failed", "wrong_password", 5), count(0, "user.signed_in", "", 3), count(0, "user.signed_in", schemas.SessionReason, 1),
		count(24*time.Hour, "delivery.given_up", "expired", 1),
	})
	reply(s.EventCounts(ctx, hour.Add(-48*time.Hour), hour, time.Hour)).equals(t, "the counts of other days", nil)
	failed := reply(s.Events(ctx, schemas.EventQuery{Failures: true, Limit: 2})).get(t)
	wantEqual(t, "the newest failures", []string{failed[0].Action, failed[1].Action}, []string{"delivery.given_up", "attempt.failed"})
	trimAll(t, s, hour.Add(2*time.Hour), hour.Add(30*time.Hour))
	reply(s.EventCounts(ctx, hour, hour.Add(3*time.Hour), time.Hour)).equals(t, "the counts that are kept", []schemas.EventCount{
		count(2*time.Hour, "attempt.failed", "wrong_password", 4),
	})
}

// testEventCountsDuringSeals counts each recorded event once while a sealer runs.
func testEventCountsDuringSeals(t *testing.T, s *store.Store) {
	hour, done, stopped := noon().Truncate(time.Hour), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for sealing := true; sealing; {
			select {
			case <-done:
				sealing = false
			default:
			}
			if _, err := s.EventChain(chainKey).Seal(t.Context()); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for n := 1; n <= 40; n++ {
		apply(t, s, schemas.RecordEvent{Event: schemas.Event{ID: schemas.NewID(), At: hour, Action: "user.signed_in"}})
		reply(s.EventCounts(t.Context(), hour, hour.Add(time.Hour), time.Hour)).equals(t, "the counts while events are sealed",
			[]schemas.EventCount{{At: hour, Action: "user.signed_in", Count: n}})
	}
	close(done)
	<-stopped
}

// testQueuedDeliveries describes the queue.
func testQueuedDeliveries(t *testing.T, s *store.Store) {
	reply(s.QueuedDeliveries(t.Context())).equals(t, "an empty queue", nil)
	for i, kind := range []string{"mail", "logout", "mail"} {
		at := noon().Add(time.Duration(i) * time.Minute)
		apply(t, s, schemas.QueueDelivery{Delivery: schemas.Delivery{ID: schemas.NewID(), Kind: kind, Attempts: i / 2, CreatedAt: at, ExpiresAt: at.Add(time.Hour)}})
	}
	reply(s.QueuedDeliveries(t.Context())).equals(t, "the queue", []schemas.QueuedDeliveries{
		{Kind: "logout", Count: 1, Oldest: noon().Add(time.Minute)}, {Kind: "mail", Count: 2, Tried: 1, Oldest: noon()},
	})
}
