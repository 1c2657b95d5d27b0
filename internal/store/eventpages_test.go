package store_test

import (
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// TestEventPagesAreBounded looks for the oldest event of a long log by members that no index has. A page
// examines a part of the log, and the next one continues there.
func TestEventPagesAreBounded(t *testing.T) {
	sequential(t)
	for driver, open := range map[string]func(testing.TB) store.Config{"sqlite": file, "postgres": postgres} {
		t.Run(driver, func(t *testing.T) {
			c := open(t)
			s := storetest.Open(t, c)
			rare := schemas.Event{ID: "rare", At: time.Now().Add(-time.Hour).UTC(), Action: "user.signed_in", ApplicationID: "rare", TraceID: "rare", ExecutionDigest: "rare", Resource: schemas.ResourceRef{Type: "user"}}
			noError(t, s.Apply(t.Context(), []schemas.Change{schemas.RecordEvent{Event: rare}}))
			recordBacklog(t, c, 21_000)
			for name, q := range map[string]schemas.EventQuery{
				"trace": {TraceID: "rare"}, "application": {ApplicationID: "rare"}, "run": {ExecutionDigest: "rare"},
				"action of sign-ins": {Action: "user.signed_in", TraceID: "rare"},
			} {
				q.Limit = 5
				list, more, err := s.EventPage(t.Context(), q)
				noError(t, err)
				if len(list) != 0 || more == (schemas.EventKey{}) {
					t.Errorf("%s: the first page has %d events and ends at %v, expected none and a further page", name, len(list), more)
				}
				q.Before = more
				list, more, err = s.EventPage(t.Context(), q)
				noError(t, err)
				if len(list) != 1 || list[0].ID != "rare" || more != (schemas.EventKey{}) {
					t.Errorf("%s: the second page has %+v and ends at %v, expected the event", name, list, more)
				}
			}
			// An index leads to the event at once.
			list, more, err := s.EventPage(t.Context(), schemas.EventQuery{ResourceType: "user", TraceID: "rare", Limit: 5})
			noError(t, err)
			if len(list) != 1 || more != (schemas.EventKey{}) {
				t.Errorf("by the type of a resource: %+v, %v", list, more)
			}
		})
	}
}
