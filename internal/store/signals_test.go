package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// A commit signals what it did; a write that fails or does something else does not.
func TestSignals(t *testing.T) {
	s, err := store.Open(t.Context(), store.Config{Driver: "sqlite", DSN: ":memory:"})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	now := time.Now()
	event := schemas.RecordEvent{Event: schemas.Event{At: now, Action: "test"}}
	delivery := schemas.QueueDelivery{Delivery: schemas.Delivery{ID: schemas.NewID(), Kind: "test", CreatedAt: now, ExpiresAt: now.Add(time.Hour)}}
	failure := errors.New("rejected")
	for name, test := range map[string]struct {
		write            func(tx *store.Tx) error
		queued, recorded bool
	}{
		"nothing":    {func(*store.Tx) error { return nil }, false, false},
		"an event":   {func(tx *store.Tx) error { return tx.Apply([]schemas.Change{event, event}) }, false, true},
		"a delivery": {func(tx *store.Tx) error { return tx.Apply([]schemas.Change{delivery}) }, true, false},
		"a failure":  {func(tx *store.Tx) error { return errors.Join(tx.Apply([]schemas.Change{event}), failure) }, false, false},
	} {
		err := s.Update(t.Context(), test.write)
		if err != nil && !errors.Is(err, failure) {
			t.Fatalf("%s: %v", name, err)
		}
		if queued, recorded := received(s.Queued()), received(s.Recorded()); queued != test.queued || recorded != test.recorded {
			t.Errorf("%s: queued %v, recorded %v", name, queued, recorded)
		}
	}
}

func received(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
