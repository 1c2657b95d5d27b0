package store_test

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

func TestSQLiteEventChain(t *testing.T) {
	storetest.EventChain(t, func(t *testing.T) (store.Config, func() (*sql.DB, error)) {
		c := file(t)
		return c, func() (*sql.DB, error) { return sql.Open("sqlite", c.DSN) }
	})
}

func TestPostgresEventChain(t *testing.T) {
	storetest.EventChain(t, func(t *testing.T) (store.Config, func() (*sql.DB, error)) {
		c := postgres(t)
		return c, func() (*sql.DB, error) { return sql.Open("postgres", c.DSN) }
	})
}

// BenchmarkRecordEvent records events from many callers at once, each in a transaction, while
// another goroutine seals them.
func BenchmarkRecordEvent(b *testing.B) {
	for driver, open := range map[string]func(testing.TB) store.Config{"sqlite": file, "postgres": postgres} {
		for name, seal := range map[string]bool{"sealed": true, "unsealed": false} {
			b.Run(driver+"/"+name, func(b *testing.B) {
				s := storetest.Open(b, open(b))
				stop, done := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(done)
					sealUntil(b, s, seal, stop)
				}()
				b.SetParallelism(16)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						e := schemas.Event{At: time.Now(), Action: "user.signed_in", UserID: "u"}
						if err := s.Apply(b.Context(), []schemas.Change{schemas.RecordEvent{Event: e}}); err != nil {
							b.Error(err)
						}
					}
				})
				close(stop)
				<-done
			})
		}
	}
}

// sealUntil seals every 100 ms, if at all, until stop is closed.
func sealUntil(b *testing.B, s *store.Store, seal bool, stop <-chan struct{}) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		if seal {
			if _, err := s.EventChain(make([]byte, 32)).Seal(b.Context()); err != nil {
				b.Error(err)
			}
		}
	}
}

// BenchmarkEventCounts counts the events of a year by the day: 20 kinds of them in each hour.
func BenchmarkEventCounts(b *testing.B) {
	s := benchStore(b, file(b))
	from := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	const hours = 365 * 24
	for at := range hours {
		var changes []schemas.Change
		for kind := range 20 {
			changes = append(changes, schemas.RecordEvent{Event: schemas.Event{At: from.Add(time.Duration(at) * time.Hour), Action: fmt.Sprint("kind", kind)}})
		}
		if err := s.Apply(b.Context(), changes); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := s.EventChain(make([]byte, 32)).Seal(b.Context()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		counts, err := s.EventCounts(b.Context(), from, from.Add(hours*time.Hour), 24*time.Hour)
		if err != nil || len(counts) != 365*20 {
			b.Fatal(len(counts), err)
		}
	}
}
